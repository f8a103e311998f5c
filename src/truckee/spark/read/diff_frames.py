"""The rows that differ between two versions, as a DataFrame.

    files of either version only, rows that vectors tell apart -> one scan -> one aggregation

Rows of which no copy can be on the other side are not aggregated at all.
"""

from __future__ import annotations

from functools import reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.changes.columns import CHANGE_TYPE, CHANGE_TYPE_FIELD, DELETE, INSERT
from truckee.changes.diff_columns import BASE_ROW_ID
from truckee.changes.missing_diff_files import missing_diff_files
from truckee.changes.snapshot_diff import DiffRead, SnapshotDiff
from truckee.protocol.schema import StructType
from truckee.spark.columns import column
from truckee.spark.read.feed_layers import layer_digits
from truckee.spark.read.relations import ROW, is_change_file
from truckee.spark.read.row_pairing import is_after, paired_rows, uncancelled_rows
from truckee.spark.read.scan import Scan, scan_frame
from truckee.spark.types import shown_schema

_ROW_ID = "__truckee_row_id"


def diff_frame(spark: SparkSession, plan: SnapshotDiff) -> DataFrame:
    """Return the rows that differ: the columns of the diff, and `_change_type`."""
    names = [*plan.schema.names, CHANGE_TYPE]
    frames = [_read(spark, plan, read).select(*map(column, names)) for read in plan.alone]
    if plan.compared:
        frames.append(_compared(spark, plan).select(*map(column, names)))
    if not frames:
        shown = shown_schema(StructType((*plan.schema.fields, CHANGE_TYPE_FIELD)))
        return spark.createDataFrame([], shown)
    return reduce(DataFrame.unionAll, frames)


def _compared(spark: SparkSession, plan: SnapshotDiff) -> DataFrame:
    frames = [_read(spark, plan, read) for read in plan.compared]
    rows = reduce(DataFrame.unionByName, frames)
    columns = plan.schema.names
    if plan.has_row_ids:
        return _compared_by_ids(rows, plan)
    if not plan.keys:
        return uncancelled_rows(rows, columns)
    if plan.is_recorded:
        # A feed may show a row many times, of which the first and the last image count.
        rows = uncancelled_rows(rows, columns)
    return paired_rows(rows, columns, identity=plan.keys, where=plan.sides)


def _compared_by_ids(rows: DataFrame, plan: SnapshotDiff) -> DataFrame:
    """Return rows paired by id; what has no partner is compared as a whole.

    A row that was deleted and inserted again has another id.
    """
    columns = plan.schema.names
    paired = paired_rows(rows, columns, identity=[_ROW_ID], where=plan.sides)
    kind = column(CHANGE_TYPE)
    single = kind.isin(INSERT, DELETE)
    # One pass over the pairs: images of updates are told from each other and from all others.
    group = "__truckee_image"
    marked = paired.withColumn(group, F.when(single, F.lit("")).otherwise(kind))
    summed = uncancelled_rows(marked, columns, within=[group])
    shown = F.when(column(group) == "", kind).otherwise(column(group))
    return summed.withColumn(CHANGE_TYPE, shown)


def _read(spark: SparkSession, plan: SnapshotDiff, read: DiffRead) -> DataFrame:
    """Return the rows of a read, with their change type and what tells their ids."""
    frame = scan_frame(spark, _scan(plan, read), row_ids=plan.has_row_ids)
    if plan.is_reversed:
        opposite = F.when(is_after(), DELETE).otherwise(INSERT)
        frame = frame.withColumn(CHANGE_TYPE, opposite)
    names = [*map(column, plan.schema.names), column(CHANGE_TYPE)]
    if plan.has_row_ids:
        assert read.columns.row_id is not None
        counted = column(BASE_ROW_ID) + column(ROW)
        names.append(F.coalesce(column(read.columns.row_id), counted).alias(_ROW_ID))
    return frame.select(*names)


def _scan(plan: SnapshotDiff, read: DiffRead) -> Scan:
    files = read.files
    first = min(file.version for file in files)
    return Scan(
        storage=read.storage,
        version=read.version,
        table=read.columns.of(plan.after.configuration),
        files=lambda _, __: files,
        num_files=len(files),
        size_in_bytes=sum({file.path: file.size for file in files}.values()),
        vector_rows=0 if all(file.rows.is_all for file in files) else None,
        first_version=first,
        layer_digits=layer_digits(files, first_version=first, may_grow=False),
        has_change_files=any(is_change_file(file) for file in files),
        label=f"diff of versions {plan.before.version} and {plan.after.version}",
        missing_file_error=lambda: missing_diff_files(plan),
    )
