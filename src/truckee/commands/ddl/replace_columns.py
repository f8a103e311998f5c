"""ALTER TABLE ... REPLACE COLUMNS: a new list of columns; no data file changes."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from pyspark.sql import SparkSession

from truckee.commands.ddl.alter_columns import (
    NewColumn,
    check_independent,
    check_not_in_layout,
    commit_info_field,
    commit_schema,
    new_field,
)
from truckee.commands.schema.edits import with_type
from truckee.errors.commands.alter import ColumnsNotReplaceableError, TypeChangeError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.column_metadata import IDENTITY_STEP_KEY
from truckee.protocol.schema import StructField, StructType
from truckee.protocol.stats_columns import with_dropped_stats
from truckee.storage.base import Storage


def replace_columns(spark: SparkSession, storage: Storage, columns: Sequence[NewColumn]) -> int:
    """Give a table these columns in this order; return the version that has them.

    Existing columns keep their metadata and may become wider. Other columns are added, and are null
    in existing rows. Columns that are left out are dropped, which needs column mapping.
    """
    snapshot = load_snapshot(storage)
    if any(IDENTITY_STEP_KEY in field.metadata for field in snapshot.schema.fields):
        raise ColumnsNotReplaceableError(reason="the table has an identity column")
    fields = tuple(_replaced(spark, snapshot, column) for column in columns)
    _check_dropped(spark, snapshot, fields)
    shown = [commit_info_field(field) for field in fields]
    names = {field.name.casefold() for field in fields}
    dropped = [(name,) for name in snapshot.schema.names if name.casefold() not in names]
    kept = with_dropped_stats(snapshot.configuration, dropped)
    metadata = replace(snapshot.metadata, configuration=kept)
    return commit_schema(
        snapshot, StructType(fields), "REPLACE COLUMNS", {"columns": shown}, metadata
    )


def _replaced(spark: SparkSession, snapshot: Snapshot, column: NewColumn) -> StructField:
    new = new_field(column.name, column)
    old = snapshot.schema.field(column.name)
    if not column.nullable and (old is None or old.nullable):
        raise ColumnsNotReplaceableError(
            reason=f"{column.name} is NOT NULL, and rows that are there may have no value for it"
        )
    if old is None:
        return new
    if new.type != old.type:
        check_independent(spark, snapshot, (old.name,), "changed")
    metadata = dict(old.metadata)
    if column.comment is not None:
        metadata["comment"] = column.comment
    kept = replace(old, nullable=column.nullable, metadata=metadata)
    try:
        return with_type(kept, new.type, widening=snapshot.properties.enable_type_widening)
    except TypeChangeError as error:
        raise ColumnsNotReplaceableError(reason=f"{error.column}: {error.reason}") from None


def _check_dropped(spark: SparkSession, snapshot: Snapshot, fields: Sequence[StructField]) -> None:
    kept = {field.name.casefold() for field in fields}
    dropped = [f.name for f in snapshot.schema.fields if f.name.casefold() not in kept]
    if dropped and snapshot.properties.column_mapping_mode == "none":
        raise ColumnsNotReplaceableError(
            reason=f"[{', '.join(dropped)}] would be dropped, which needs column mapping"
        )
    for name in dropped:
        check_not_in_layout(snapshot, (name,))
        check_independent(spark, snapshot, (name,), "dropped")
