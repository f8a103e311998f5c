"""The statement that makes a table again, without its rows: the answer to SHOW CREATE TABLE."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import SparkSession

from truckee.commands.ddl.create_like import copied_properties
from truckee.commands.schema.clustering import clustering_paths
from truckee.log.snapshot import Snapshot
from truckee.protocol.column_metadata import (
    CHAR_VARCHAR_KEY,
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_ALLOWS_EXPLICIT_KEY,
    IDENTITY_START_KEY,
    IDENTITY_STEP_KEY,
)
from truckee.protocol.schema import StructField
from truckee.spark.jvm.projection import quoted
from truckee.spark.schema_conversion import public_schema, to_java


def create_statement(
    spark: SparkSession, snapshot: Snapshot, name: str, location: str | None
) -> str:
    """Return a CREATE TABLE with the columns, layout, description and properties of a table.

    `location` is that of a table which the catalog does not manage, None for others.
    """
    stored = to_java(spark, public_schema(snapshot.schema))
    columns = (
        _column(field, stored.apply(place)) for place, field in enumerate(snapshot.schema.fields)
    )
    listed = ",\n  ".join(columns)
    opening = f"CREATE TABLE {name} (\n  {listed})" if listed else f"CREATE TABLE {name}"
    return "\n".join((opening, "USING delta", *_clauses(snapshot, location)))


def _clauses(snapshot: Snapshot, location: str | None) -> Iterator[str]:
    if snapshot.partition_columns:
        yield f"PARTITIONED BY ({', '.join(quoted(name) for name in snapshot.partition_columns)})"
    paths = clustering_paths(snapshot)
    if paths:
        shown = (".".join(quoted(part) for part in path) for path in paths)
        yield f"CLUSTER BY ({', '.join(shown)})"
    if location is not None:
        yield f"LOCATION {_text(location)}"
    if snapshot.metadata.description is not None:
        yield f"COMMENT {_text(snapshot.metadata.description)}"
    properties = copied_properties(snapshot)
    if properties:
        pairs = (f"{_text(key)} = {_text(properties[key])}" for key in sorted(properties))
        listed = ",\n  ".join(pairs)
        yield f"TBLPROPERTIES (\n  {listed})"


def _column(field: StructField, stored: Any) -> str:
    noted = field.metadata
    # The texts of char(n) and varchar(n) columns are strings, and their types metadata.
    parts = [quoted(field.name), str(noted.get(CHAR_VARCHAR_KEY, stored.dataType().sql()))]
    if not field.nullable:
        parts.append("NOT NULL")
    if GENERATION_EXPRESSION_KEY in noted:
        parts.append(f"GENERATED ALWAYS AS ({noted[GENERATION_EXPRESSION_KEY]})")
    if IDENTITY_STEP_KEY in noted:
        mode = "BY DEFAULT" if noted.get(IDENTITY_ALLOWS_EXPLICIT_KEY) else "ALWAYS"
        start, step = noted[IDENTITY_START_KEY], noted[IDENTITY_STEP_KEY]
        parts.append(f"GENERATED {mode} AS IDENTITY (START WITH {start} INCREMENT BY {step})")
    if CURRENT_DEFAULT_KEY in noted:
        parts.append(f"DEFAULT {noted[CURRENT_DEFAULT_KEY]}")
    if "comment" in noted:
        parts.append(f"COMMENT {_text(str(noted['comment']))}")
    return " ".join(parts)


def _text(value: str) -> str:
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
