"""ALTER TABLE ... SYNC IDENTITY: new numbers continue after the largest one in the table."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from truckee.commands.ddl.alter_columns import commit_info_field
from truckee.commands.schema.edits import changed_column
from truckee.commands.table_plan import table_plan
from truckee.errors.columns import IdentityExhaustedError, NotAnIdentityColumnError
from truckee.errors.commands.dml import MissingColumnError
from truckee.log.snapshot import load_snapshot
from truckee.protocol.column_metadata import (
    IDENTITY_HIGH_WATER_MARK_KEY,
    IDENTITY_START_KEY,
    IDENTITY_STEP_KEY,
    identity_number,
)
from truckee.protocol.schema import StructField, find_column
from truckee.spark.jvm.projection import column as column_of
from truckee.spark.read.frames import snapshot_frame
from truckee.storage.base import Storage


def sync_identity(spark: SparkSession, storage: Storage, column: Sequence[str]) -> int:
    """Set the high-water mark to the largest number in the table; return the version.

    With a negative step it is the smallest. The mark never goes back, and is always `start` plus a
    multiple of `step`: with start 1, step 10 and rows up to 15, it becomes 21.
    """
    snapshot = load_snapshot(storage)
    path = tuple(column)
    chain = find_column(snapshot.schema, path)
    if chain is None:
        raise MissingColumnError(
            what="SYNC IDENTITY",
            expression=".".join(path),
            column=".".join(path),
            columns=snapshot.schema.names,
        )
    if len(path) != 1 or IDENTITY_STEP_KEY not in chain.field.metadata:
        raise NotAnIdentityColumnError(column=".".join(path))
    farthest = (
        sf.max
        if identity_number(chain.field.name, chain.field.metadata, IDENTITY_STEP_KEY) > 0
        else sf.min
    )
    row = snapshot_frame(spark, snapshot).select(farthest(column_of(chain.field.name))).first()
    found = None if row is None else row[0]
    schema = changed_column(snapshot.schema, path, lambda field: synced_field(field, found))
    metadata = replace(snapshot.metadata, schema_string=schema.to_json())
    table = table_plan(storage, snapshot, metadata)
    table.check("CHANGE COLUMN")
    synced = find_column(schema, path)
    assert synced is not None
    transaction = table.transaction()
    transaction.read_whole_table()
    parameters = {"column": commit_info_field(synced.field)}
    return transaction.commit("CHANGE COLUMN", parameters=parameters, allow_empty=True)


def synced_field(field: StructField, farthest: int | None) -> StructField:
    """Return an identity column whose mark is not behind any number in the table."""
    start, step = (
        identity_number(field.name, field.metadata, key)
        for key in (IDENTITY_START_KEY, IDENTITY_STEP_KEY)
    )
    if farthest is None or (farthest - start) * step < 0:
        return field
    steps = -(-(farthest - start) // step)  # round up to the next valid number
    mark = start + steps * step
    if field.metadata.get(IDENTITY_HIGH_WATER_MARK_KEY) is not None:
        old = identity_number(field.name, field.metadata, IDENTITY_HIGH_WATER_MARK_KEY)
        if (old - mark) * step >= 0:
            return field
    if not -(1 << 63) <= mark < 1 << 63:
        raise IdentityExhaustedError(column=field.name, last=farthest)
    return replace(field, metadata={**field.metadata, IDENTITY_HIGH_WATER_MARK_KEY: mark})
