"""Tables and relations in the form that Spark's catalog and sources return them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from truckee.spark.jvm.bridge import Callback, compiled, java_array, java_list
from truckee.spark.schema_conversion import to_java
from truckee.spark.session.jvm_sessions import session_of

Rows = Callable[[SparkSession, Mapping[str, str]], DataFrame]


def catalog_table(
    spark: SparkSession,
    *,
    name: str,
    path: str,
    schema: StructType,
    partitions: tuple[str, ...],
    properties: Mapping[str, str],
    entry: Any,
    rows: Rows,
) -> Any:
    """Return a table for Spark's catalog; `rows` gives what a query with some options reads."""
    return compiled(spark, "TruckeeTable").table(
        name,
        path,
        to_java(spark, schema),
        java_array(spark, "java.lang.String", list(partitions)),
        dict(properties),
        entry,
        Callback(_plans(rows)),
    )


def entry_properties(entry: Any) -> dict[str, str]:
    """Return what the catalog knows of a table besides its name and location."""
    if entry is None:
        return {}
    is_managed = str(entry.tableType().name()) == "MANAGED"
    comment, owner = entry.comment(), str(entry.owner())
    return {
        **({"is_managed_location": "true"} if is_managed else {"external": "true"}),
        **({"comment": str(comment.get())} if comment.isDefined() else {}),
        **({"owner": owner} if owner else {}),
    }


def entry_location(entry: Any) -> str:
    """Return the location of a table according to the catalog, with nothing in it encoded."""
    uri = entry.location()
    place = str(uri.getPath())
    if str(uri.getScheme()) in ("None", "file"):
        return place
    return f"{uri.getScheme()}://{uri.getAuthority() or ''}{place}"


def relation_of(spark: SparkSession, context: Any, frame: DataFrame) -> Any:
    """Return rows as the relation that a source returns to Spark."""
    plan = frame._jdf.queryExecution().analyzed()
    return compiled(spark, "TruckeeRelation").relation(
        context, frame._jdf.schema(), Callback(lambda _, __: plan)
    )


def no_relation(spark: SparkSession, context: Any) -> Any:
    """Return the relation that stands for a write; it is never read."""
    return compiled(spark, "TruckeeRelation").relation(
        context, to_java(spark, StructType([])), Callback(lambda _, __: None)
    )


def plan_of(frame: DataFrame) -> Any:
    """Return the plan of a DataFrame, for Spark to put into another."""
    return frame._jdf.queryExecution().analyzed()


def java_frame(frame: DataFrame) -> Any:
    """Return the JVM's object of a DataFrame."""
    return frame._jdf


def text_list(spark: SparkSession, texts: list[str]) -> Any:
    """Return texts as a list of the JVM."""
    return java_list(spark, list(texts))


def _plans(rows: Rows) -> Callable[[str, Any], Any]:
    def plan(options: str, java_session: Any) -> Any:
        return plan_of(rows(session_of(java_session), json.loads(options)))

    return plan
