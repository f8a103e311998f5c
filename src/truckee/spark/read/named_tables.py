"""Plain SELECTs over tables by name: `SELECT * FROM t` is read as the table where it lies.

Spark's catalog tells a Python source neither the name nor the place of the table that a query is
about. So a rule is added to the session's optimizer (see `TruckeeNames.java`), which puts the scan
of the latest version in the place of the name, with filters and columns pushed into it.

The catalog has a copy of a table's columns, by which Spark checks queries. It may be older than the
table, and is then brought up to date. A query that the old columns led astray has to be run again.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql.types import StructType as SparkStruct

from truckee.errors.create import NamedTableChangedError, TableNotFoundError
from truckee.log.snapshot import load_snapshot
from truckee.protocol.schema import StructType, parse_schema
from truckee.spark.columns import bare_schema
from truckee.spark.jvm.bridge import Callback, compiled, scala_seq
from truckee.spark.read.frames import snapshot_frame
from truckee.spark.session.catalog import named_table, update_columns
from truckee.spark.session.named_source import PROVIDER, NamedSource
from truckee.spark.session.settings import session_storage
from truckee.spark.types import from_spark

_RULE = "truckee.TruckeeNames"


def enable_names(spark: SparkSession) -> None:
    """Let plain SELECTs of a session read the tables that its catalog has by name."""
    state = spark._jsparkSession.sessionState()
    if not state.dataSourceManager().dataSourceExists(PROVIDER):
        spark.dataSource.register(NamedSource)
    methods = spark._jsparkSession.experimental()
    rules = methods.extraOptimizations()
    known = [rules.apply(index) for index in range(rules.size())]
    if any(str(rule.getClass().getName()) == _RULE for rule in known):
        return
    rule = compiled(spark, "TruckeeNames").make(
        spark._jsparkSession, PROVIDER, Callback(_Plans(spark).plan)
    )
    getattr(methods, "extraOptimizations_$eq")(scala_seq(spark, [*known, rule]))


class _Plans:
    """What stands for the names of tables in the queries of one session."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark

    def plan(self, name: str, columns: str) -> Any:
        """Return the plan that reads a table, of which the catalog knows these columns."""
        found = named_table(self._spark, name)
        if found is None or found.location is None:
            raise TableNotFoundError(table=name, hint="see which tables there are: SHOW TABLES")
        snapshot = load_snapshot(session_storage(self._spark, found.location))
        frame = snapshot_frame(self._spark, snapshot)
        self._check_columns(name, parse_schema(columns), frame.schema)
        return frame._jdf.queryExecution().analyzed()

    def _check_columns(self, name: str, known: StructType, schema: SparkStruct) -> None:
        live = bare_schema(from_spark(schema))
        known = bare_schema(known)
        if live == known:
            return
        update_columns(self._spark, name, schema)
        by_name = {field.name.casefold(): field for field in live.fields}
        for field in known.fields:
            now = by_name.get(field.name.casefold())
            if now is None or now.type != field.type:
                raise NamedTableChangedError(table=name, column=field.name)
