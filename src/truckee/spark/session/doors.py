"""The doors of a session: the places where Spark asks us about Delta tables.

| part of Spark                        | what it asks                           | Java            |
|--------------------------------------|----------------------------------------|-----------------|
| the catalog `spark_catalog`          | tables by name and path: load, create  | TruckeeCatalog  |
| a rule before names are resolved     | INSERT, DELETE, UPDATE, MERGE          | TruckeeWrites   |
| a rule while names are resolved      | the plan that reads a table            | TruckeeReads    |
| the parser                           | Delta's own statements                 | TruckeeParser   |
| the format `delta`                   | reads, writes and streams by path      | TruckeeSource   |
| the table functions `table_changes*` | the plan that reads a feed             | TruckeeSessions |

All questions go to one Python function.
"""

from __future__ import annotations

import json
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession

from truckee.errors.spark import DeltaJarPresentError
from truckee.spark.jvm.bridge import Callback, compiled, gateway
from truckee.spark.jvm.classes import add_services
from truckee.spark.jvm.jvm_errors import tell_clients
from truckee.spark.session.delta_jar import delta_jar
from truckee.spark.session.jvm_sessions import session_of
from truckee.spark.session.session import CATALOG_SETTING, DELTA_CATALOG

_CATALOG = "truckee.TruckeeCatalog"
_SERVICES = {"org.apache.spark.sql.sources.DataSourceRegister": ["truckee.TruckeeSource"]}
_CONNECT_PLUGIN = "org.apache.spark.sql.connect.SparkConnectPlugin"
_REPLACEABLE = ("", "builtin", DELTA_CATALOG, _CATALOG)
_jars: dict[str | None, str | None] = {}


class Question(NamedTuple):
    """A question of Spark: its kind, its subject, the session, and objects of the JVM."""

    kind: str
    about: dict[str, Any]
    spark: SparkSession
    objects: tuple[Any, ...]

    def frame(self, index: int) -> DataFrame:
        """Return an object of the JVM that is a Dataset as a DataFrame."""
        return DataFrame(self.objects[index], self.spark)


Answer = Callable[[Question], Any]


def open_doors(spark: SparkSession, answer: Answer) -> None:
    """Let Spark ask `answer` about Delta tables, in this session and in those derived from it.

    Raises DeltaJarPresentError if Delta's own JAR already answers. If another library has replaced
    Spark's catalog, that catalog is kept, with a warning.
    """
    refuse_delta_jar(spark)
    if _CONNECT_PLUGIN in str(spark.sparkContext.getConf().get("spark.plugins", "")):
        tell_clients()
    session = spark._jsparkSession
    is_new = compiled(spark, "TruckeeSessions").isClosed(session)
    if not is_new:
        return
    add_services(spark, _SERVICES)
    asked = Callback(lambda text, objects: _ask(answer, text, objects))
    compiled(spark, "TruckeeAnswers").open(asked)
    _set_catalog(spark)
    compiled(spark, "TruckeeSessions").open(session)


def refuse_delta_jar(spark: SparkSession) -> None:
    """Raise DeltaJarPresentError if Delta's own JAR is on the class path of a session."""
    application = spark.sparkContext.applicationId
    if application not in _jars:
        _jars[application] = delta_jar(spark)
    found = _jars[application]
    if found is not None:
        raise DeltaJarPresentError(jar=found)


def _ask(answer: Answer, text: str, objects: Any) -> Any:
    about = json.loads(text)
    given = tuple(objects)
    spark = session_of(given[0])
    return answer(Question(about.pop("kind"), about, spark, given[1:]))


def _set_catalog(spark: SparkSession) -> None:
    found = str(spark.conf.get(CATALOG_SETTING, "builtin"))
    if found not in _REPLACEABLE:
        warnings.warn(
            f"the catalog {found} stays in the place of Spark's own, so statements about Delta "
            "tables by name are not truckee's to answer",
            stacklevel=4,
        )
        return
    spark.conf.set(CATALOG_SETTING, _CATALOG)
    # Sessions that are made later take their settings from here.
    gateway(spark)
    spark.sparkContext._jsc.sc().conf().set(CATALOG_SETTING, _CATALOG)
