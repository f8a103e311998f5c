"""The fast lane: in a classic session, a stream whose batches are read by Spark's own reader."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from truckee.errors.log import NotADeltaTableError, StreamedPathError
from truckee.errors.streaming import TimeTravelOfStreamError
from truckee.options.stream import STREAM_OPTIONS, stream_options
from truckee.options.text import Options, warn_of_unknown
from truckee.options.time_travel import split_path
from truckee.rows.plan import Read
from truckee.spark.read.engine import as_declared, plan_frame
from truckee.spark.read.stream_source import StreamSource, streaming_frame, worked_out
from truckee.spark.schema_conversion import public_schema
from truckee.spark.session.settings import session_settings, session_storage, session_zone
from truckee.storage.base import Storage
from truckee.streaming.offset import StreamOffset, parse_offset
from truckee.streaming.table_stream import StreamRead, TableStream, open_stream


class Lane(NamedTuple):
    """A table that can be read as a stream."""

    read: StreamRead

    @property
    def name(self) -> str:
        """The description of the stream in plans and in the progress of a query: delta-spark's."""
        root = self.read.storage.root
        return f"DeltaSource[{root if '://' in root else f'file:{root}'}]"

    @property
    def schema(self) -> StructType:
        """The columns of the stream."""
        return public_schema(self.read.schema)

    def source(self, spark: SparkSession, checkpoint: str) -> StreamSource:
        """Return one run of a query; `checkpoint` is the folder that belongs to it."""
        return _Source(spark, self.read, checkpoint)


def stream_frame(spark: SparkSession, path: str, options: Mapping[str, object]) -> DataFrame:
    """Return the table at a path as a streaming DataFrame, or its feed with `readChangeFeed`."""
    lane = open_lane(spark, path, options)
    return streaming_frame(spark, lane.name, lane.schema, lambda folder: lane.source(spark, folder))


def open_lane(spark: SparkSession, path: str, options: Mapping[str, object]) -> Lane:
    """Return the table at a path, or its feed with `readChangeFeed`, ready for a stream.

    The options are those of `truckee.options.stream`. Raises if they or the table are wrong; errors
    in single commits are raised when the query reaches them.
    """
    text = Options(options)
    warn_of_unknown(text, STREAM_OPTIONS, what="a stream")
    parsed = stream_options(text, conf=session_settings(spark), time_zone=session_zone(spark))

    def open_storage(url: str) -> Storage:
        return session_storage(spark, url, text)

    try:
        return Lane(open_stream(open_storage(path), parsed, open_storage))
    except NotADeltaTableError as error:
        if split_path(path, time_zone=session_zone(spark))[1] is not None:
            raise TimeTravelOfStreamError(option="path") from None
        raise error.told_as(StreamedPathError) from None


class _Source:
    """One run of a query, as Spark calls it."""

    def __init__(self, spark: SparkSession, opened: StreamRead, source_path: str) -> None:
        self._spark = spark
        self._stream = TableStream(opened, source_path)
        self._schema = public_schema(opened.schema)

    def latest_offset(self, start: str | None, *, is_limited: bool) -> str | None:
        previous = self._offset(start)
        found = self._stream.latest_offset(previous, is_limited=is_limited)
        # The other lane may have written the checkpoint, with different spaces in the JSON.
        return start if found is None or found == previous else found.to_json()

    def batch(self, start: str | None, end: str) -> DataFrame:
        until = self._offset(end)
        assert until is not None
        plan = self._stream.batch(self._offset(start), until)
        rows = plan_frame(self._spark, plan)
        if isinstance(plan, Read):
            return rows
        return worked_out(self._spark, as_declared(rows, self._schema))

    def prepare_for_available_now(self) -> None:
        self._stream.prepare_for_available_now()

    def commit(self, end: str) -> None:
        pass

    def _offset(self, text: str | None) -> StreamOffset | None:
        stream = self._stream
        if text is None:
            return None
        return parse_offset(text, table=stream.storage.root, table_id=stream.table_id)
