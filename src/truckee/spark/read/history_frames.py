"""The history of rows as a DataFrame: each file that may hold them is read once.

If there is little to read, the driver reads it without a job; otherwise Spark does. The result is
small, so the driver works out from it and from the vectors when each row existed.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.arrow.columns import arrow_schema
from truckee.arrow.compare.row_events import row_events
from truckee.arrow.compare.rows import history_rows
from truckee.arrow.file_columns import ROW_POSITION
from truckee.changes.diff.history_request import (
    MOST_ROWS,
    check_row_count,
    identifying_columns,
    is_little_to_read,
    requested_timelines,
)
from truckee.changes.diff.request import VersionOrTime
from truckee.changes.diff.row_timelines import FILE_NUMBER, RowTimelines
from truckee.changes.row_identity import BASE_ROW_ID, ROW_ID
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.rows.history import history_reads
from truckee.rows.plan import Read
from truckee.spark.jvm.projection import column
from truckee.spark.local_frames import local_frame
from truckee.spark.read.relations import ROW, scan_frame
from truckee.spark.read.scan import read_scan
from truckee.spark.schema_conversion import public_schema
from truckee.spark.session.settings import session_zone
from truckee.storage.base import Storage

_LONG = PrimitiveType("long")


def row_history_frame(
    spark: SparkSession,
    storage: Storage,
    condition: str,
    keys: Sequence[str] | None,
    start: VersionOrTime | None,
) -> DataFrame:
    """Return every image of the rows that a condition is true of, since a version or a time."""
    timelines = requested_timelines(storage, start, time_zone=session_zone(spark))
    return history_of_rows(spark, timelines, condition, keys)


def history_of_rows(
    spark: SparkSession,
    timelines: RowTimelines,
    condition: str,
    keys: Sequence[str] | None = None,
) -> DataFrame:
    """Return every image of the rows that a condition is true of, oldest first.

    The search runs immediately. Raises `HistoryFileNotFoundError` and `TooManyRowsError`.
    """
    if not _is_case_sensitive(spark) and is_little_to_read(timelines, condition, keys):
        return _shown(spark, timelines, history_rows(timelines, condition, keys).to_arrow())
    identity = identifying_columns(timelines, condition, keys)
    by_id = timelines.has_row_ids and keys is None
    frames = [_placed(spark, timelines, read) for read in history_reads(timelines)]
    rows = _collected(timelines, [frame.where(F.expr(condition)) for frame in frames])
    check_row_count(condition, rows.num_rows)
    if by_id and rows.num_rows:
        rows = _collected(timelines, [_followed(frame, rows[ROW_ID]) for frame in frames])
        check_row_count(condition, rows.num_rows)
    return _shown(spark, timelines, row_events(timelines, rows, [ROW_ID] if by_id else identity))


def _shown(spark: SparkSession, timelines: RowTimelines, events: pa.Table) -> DataFrame:
    schema = public_schema(timelines.history_schema)
    # PySpark cannot make a DataFrame of a table that has no batch.
    return local_frame(spark, events if events.num_rows else [], schema)


def _is_case_sensitive(spark: SparkSession) -> bool:
    return spark.conf.get("spark.sql.caseSensitive") == "true"


def _placed(spark: SparkSession, timelines: RowTimelines, read: Read) -> DataFrame:
    """Return all rows of a read with their position, and their row id if they have one."""
    frame = scan_frame(spark, read_scan(read), row_ids=True)
    places = [column(FILE_NUMBER), column(ROW).alias(ROW_POSITION)]
    if read.ids is not None:
        counted = column(BASE_ROW_ID) + column(ROW)
        places.append(F.coalesce(column(read.ids.row_id), counted).alias(ROW_ID))
    return frame.select(*map(column, timelines.schema.names), *places)


def _followed(frame: DataFrame, ids: pa.ChunkedArray) -> DataFrame:
    """Return all rows with these ids, including those for which the condition is not true.

    A first query finds the files that have them; it reads no other column.
    """
    has_id = column(ROW_ID).isin(ids.unique().to_pylist())
    files = [number for (number,) in frame.where(has_id).select(FILE_NUMBER).distinct().collect()]
    return frame.where(column(FILE_NUMBER).isin(files) & has_id)


def _collected(timelines: RowTimelines, frames: Sequence[DataFrame]) -> pa.Table:
    names = [FILE_NUMBER, ROW_POSITION, *([ROW_ID] if timelines.has_row_ids else [])]
    fields = [StructField(name, _LONG) for name in names]
    schema = arrow_schema(StructType((*timelines.schema.fields, *fields)))
    found = [frame.limit(MOST_ROWS + 1).toArrow().cast(schema) for frame in frames]
    return pa.concat_tables(found) if found else schema.empty_table()
