"""ALTER TABLE ... SET LOCATION: a name of the catalog stands for another table from then on."""

from __future__ import annotations

from pyspark.sql import SparkSession

from truckee.commands.catalog import delta_location
from truckee.commands.schema.column_mapping import without_column_mapping
from truckee.errors.commands.create import LocationSchemaError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.text import Options
from truckee.protocol.schema import StructType
from truckee.spark.session.catalog import move_entry
from truckee.spark.session.settings import session_settings, session_storage

BYPASS = "spark.databricks.delta.alterLocation.bypassSchemaCheck"


def set_location(spark: SparkSession, name: str, location: str) -> None:
    """Let a table of the catalog be the one at another location; no log is written to.

    Raises NotADeltaTableError if there is none, and LocationSchemaError if it has other columns
    or partitions, unless the session says not to compare them.
    """
    before = load_snapshot(session_storage(spark, delta_location(spark, name)))
    after = load_snapshot(session_storage(spark, location))
    checks = not Options(session_settings(spark)).boolean(BYPASS)
    if checks and _shape(before) != _shape(after):
        raise LocationSchemaError(
            table=name,
            location=location,
            expected=_told(before),
            found=_told(after),
        )
    move_entry(spark, name, location)


def _shape(snapshot: Snapshot) -> tuple[StructType, tuple[str, ...]]:
    return without_column_mapping(snapshot.schema), snapshot.partition_columns


def _told(snapshot: Snapshot) -> str:
    columns = f"columns [{', '.join(snapshot.schema.names)}]"
    return f"{columns} and partitions [{', '.join(snapshot.partition_columns)}]"
