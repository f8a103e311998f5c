"""The history of rows, found by Spark: each file that may hold them is read once.

What is found is little: the driver tells from it and from vectors when each row lived.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.arrow.columns import arrow_schema
from truckee.arrow.file_columns import ROW_INDEX
from truckee.arrow.row_events import history_schema, row_events
from truckee.arrow.row_history import ROW_ID
from truckee.changes.diff_columns import BASE_ROW_ID
from truckee.changes.history_request import (
    MOST_ROWS,
    check_row_count,
    identifying_columns,
    missing_history_files,
)
from truckee.changes.row_timelines import FILE_NUMBER, RowTimelines
from truckee.changes.snapshot_diff import DiffRead
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.spark.columns import column
from truckee.spark.read.diff_frames import pruned_files
from truckee.spark.read.relations import ROW
from truckee.spark.read.scan import Scan, scan_frame
from truckee.spark.types import shown_schema

_LONG = PrimitiveType("long")


def history_of_rows(
    spark: SparkSession,
    timelines: RowTimelines,
    condition: str,
    keys: Sequence[str] | None = None,
) -> DataFrame:
    """Return every image of the rows that a condition is true of, oldest first.

    The rows are looked for at once. Raises `HistoryFileNotFoundError` and `TooManyRowsError`.
    """
    identity = identifying_columns(timelines, condition, keys)
    by_id = timelines.has_row_ids and keys is None
    found = [_matching(spark, timelines, read, F.expr(condition)) for read in timelines.reads]
    shown = shown_schema(history_schema(timelines))
    rows = pa.concat_tables(found) if found else pa.table({})
    check_row_count(condition, rows.num_rows)
    if not rows.num_rows:
        return spark.createDataFrame([], shown)
    events = row_events(timelines, rows, [ROW_ID] if by_id else identity)
    return spark.createDataFrame(events, shown)


def _matching(
    spark: SparkSession, timelines: RowTimelines, read: DiffRead, condition: Column
) -> pa.Table:
    columns = timelines.schema.names
    frame = scan_frame(spark, _scan(timelines, read), row_ids=True)
    places = [column(FILE_NUMBER), column(ROW).alias(ROW_INDEX)]
    fields = [StructField(name, _LONG) for name in (FILE_NUMBER, ROW_INDEX)]
    if timelines.has_row_ids:
        assert read.columns.row_id is not None
        counted = column(BASE_ROW_ID) + column(ROW)
        places.append(F.coalesce(column(read.columns.row_id), counted).alias(ROW_ID))
        fields.append(StructField(ROW_ID, _LONG))
    matching = frame.where(condition).select(*map(column, columns), *places)
    schema = arrow_schema(StructType((*timelines.schema.fields, *fields)))
    return matching.limit(MOST_ROWS + 1).toArrow().cast(schema)


def _scan(timelines: RowTimelines, read: DiffRead) -> Scan:
    return Scan(
        storage=read.storage,
        version=read.version,
        schema=read.columns.schema,
        partition_columns=read.columns.partition_columns,
        mapping_mode=read.columns.mapping_mode,
        files=pruned_files(read),
        num_files=len(read.files),
        size_in_bytes=sum(file.size for file in read.files),
        vector_rows=0,
        label=f"rows of versions {timelines.first} to {timelines.newest.version}",
        missing_file_error=lambda: missing_history_files(timelines, read.files),
    )
