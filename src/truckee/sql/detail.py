"""DESCRIBE DETAIL, for Delta tables and, with fewer values, for other tables."""

from __future__ import annotations

from pyspark.sql import DataFrame, SparkSession

from truckee.commands.table_plan import existing_table
from truckee.errors.commands.create import ViewNamedError
from truckee.errors.log import NotADeltaTableError
from truckee.log.snapshot import load_snapshot
from truckee.spark.read.table_description import detail_frame, foreign_detail_frame
from truckee.spark.session.catalog import DELTA_PROVIDERS, foreign_table, named_table
from truckee.spark.session.settings import session_storage
from truckee.sql.statements import TableRef
from truckee.sql.tables import table_storage


def detail_rows(spark: SparkSession, table: TableRef) -> DataFrame:
    """Return one row that describes a table; tables of other formats have fewer values."""
    if table.path is not None:
        return _at_path(spark, table.path)
    found = named_table(spark, str(table))
    if found is None:
        return detail_frame(spark, load_snapshot(table_storage(spark, table)))
    if found.is_view:
        raise ViewNamedError(table=str(table))
    if found.provider in DELTA_PROVIDERS:
        storage = table_storage(spark, table)
        return detail_frame(spark, load_snapshot(storage), name=found.name)
    return foreign_detail_frame(spark, foreign_table(spark, str(table)))


def _at_path(spark: SparkSession, path: str) -> DataFrame:
    storage = session_storage(spark, path)
    snapshot = existing_table(storage)
    if snapshot is not None:
        return detail_frame(spark, snapshot)
    if not any(True for _ in storage.list_tree("")):
        raise NotADeltaTableError(table=path)
    return foreign_detail_frame(spark, {"location": storage.root})
