"""`format("truckee")`: PySpark's Python Data Source over tables, feeds and streams.

It works in a classic session and over Spark Connect. None of it runs in the session's process:
Spark starts Python workers that look up columns, plan reads and batches, and read files. So there
are no session settings here, only options, and timestamps without a zone are UTC unless the option
`timeZone` says otherwise.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

import pyarrow as pa
from pyspark.sql.datasource import (
    DataSource,
    DataSourceReader,
    DataSourceStreamReader,
    DataSourceStreamWriter,
    DataSourceWriter,
    Filter,
    InputPartition,
)
from pyspark.sql.streaming.datasource import (
    ReadAllAvailable,
    ReadLimit,
    ReadMaxFiles,
    SupportsTriggerAvailableNow,
)
from pyspark.sql.types import StructType

from truckee.changes.read_schema import ReadSchema
from truckee.datasource.acknowledgement import acknowledge_received
from truckee.datasource.pushed_filters import pushed_predicate
from truckee.datasource.read_request import (
    READ_OPTIONS,
    ReadRequest,
    check_no_schema_log,
    read_plan,
    read_request,
    requested_schema,
)
from truckee.datasource.tasks import partitions, rows_of_partition
from truckee.errors.stream_schema import GivenSchemaError, MetadataEvolvedError
from truckee.errors.streaming import TimeTravelOfStreamError
from truckee.log.snapshot import load_snapshot
from truckee.options.stream import stream_options
from truckee.options.text import warn_of_unknown
from truckee.protocol.predicates import ALWAYS_TRUE, Predicate
from truckee.protocol.schema import StructType as TableSchema
from truckee.protocol.schema import type_text
from truckee.rows.plan import RowPlan
from truckee.spark.schema_conversion import from_spark, public_schema
from truckee.streaming.offset import StreamOffset, parse_offset
from truckee.streaming.table_stream import StreamRead, TableStream, open_stream


class TruckeeSource(DataSource):
    """A table, its feed or a stream of either, as the options say."""

    def __init__(self, options: Mapping[str, str]) -> None:
        super().__init__(dict(options))
        # The version at which the columns were looked up. Spark keeps this object, and makes the
        # readers of all queries of one DataFrame from it.
        self._version: int | None = None

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "truckee"

    def schema(self) -> StructType:
        """Return the columns, and remember the version at which they were looked up."""
        request = read_request(self.options)
        warn_of_unknown(request.options, READ_OPTIONS, what="a read")
        self._version, schema = requested_schema(request)
        return public_schema(schema)

    def reader(self, schema: StructType) -> DataSourceReader:
        """Return the reader of a batch read."""
        request = read_request(self.options)
        check_no_schema_log(request)
        if self._version is None:
            # The user gave the columns, so Spark has not asked for them.
            _check_given(schema, requested_schema(request)[1], table=request.path)
        return SourceReader(request, self._version, from_spark(schema))

    def streamReader(self, schema: StructType) -> DataSourceStreamReader:
        """Return the reader of a stream."""
        return StreamReader(self.options, schema, self._version)

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:
        """Return the writer of a batch write."""
        made: DataSourceWriter = _writers().SourceWriter(self.options, schema, overwrite)
        return made

    def streamWriter(self, schema: StructType, overwrite: bool) -> DataSourceStreamWriter:
        """Return the writer of a stream."""
        made: DataSourceStreamWriter = _writers().StreamWriter(self.options, schema, overwrite)
        return made


def _writers() -> Any:
    # Spark starts a process for each stream that is read. A quarter of the time that it takes to
    # import our modules would go to those that only write.
    return import_module("truckee.datasource.writers")


class DeltaSource(TruckeeSource):
    """The same source under the name that existing pipelines use."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return "delta"


def _check_given(given: StructType, found: TableSchema, *, table: str) -> None:
    """Raise `GivenSchemaError` unless the columns that a user gave are the table's."""
    if given != public_schema(found):
        raise GivenSchemaError(
            table=table, given=type_text(from_spark(given)), found=type_text(found)
        )


class _TaskReader:
    """A reader that Spark sends to the workers, each time before the partition of a task."""

    def __setstate__(self, state: dict[str, Any]) -> None:
        acknowledge_received()
        vars(self).update(state)


class SourceReader(_TaskReader, DataSourceReader):
    """A batch read of a version of a table, or of a range of its feed."""

    def __init__(self, request: ReadRequest, version: int | None, schema: TableSchema) -> None:
        self._request = request
        self._version = version
        self._shown = schema
        self.predicate: Predicate = ALWAYS_TRUE
        self.pushFilters = _PushedFilters(self)  # type: ignore[method-assign]

    def partitions(self) -> Sequence[InputPartition]:
        """Return the tasks of the read."""
        request = self._request
        plan = read_plan(request, self._version, self.predicate)
        return _partitions(request, plan, self._shown)

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a task."""
        return rows_of_partition(partition)


class _PushedFilters:
    """`pushFilters` of a reader, for sessions with and without filter pushdown.

    If `spark.sql.python.filterPushdown.enabled` is off, as it is by default, Spark refuses a reader
    that overrides `pushFilters`. It compares the function behind the method, so that function is
    the one of the base class.
    """

    __func__ = staticmethod(DataSourceReader.pushFilters)

    def __init__(self, reader: SourceReader) -> None:
        self._reader = reader

    def __call__(self, filters: list[Filter]) -> Iterable[Filter]:
        """Record the filters that can skip files; Spark still applies them to rows."""
        self._reader.predicate = pushed_predicate(filters)
        return filters


class StreamReader(_TaskReader, DataSourceStreamReader, SupportsTriggerAvailableNow):
    """A stream of a table, or of its feed."""

    def __init__(self, options: Mapping[str, str], schema: StructType, version: int | None) -> None:
        self._options = dict(options)
        self._schema = schema
        self._version = version
        self._opened: tuple[ReadRequest, TableStream] | None = None

    def initialOffset(self) -> dict[str, Any]:
        """Return the offset of a stream that has read nothing yet."""
        return self._stream.initial_offset().to_dict()

    def latestOffset(self, start: dict[str, Any], limit: ReadLimit) -> dict[str, Any]:
        """Return where the next batch ends: `start` itself if there is nothing new."""
        previous = self._offset(start)
        is_limited = not isinstance(limit, ReadAllAvailable)
        found = self._stream.latest_offset(previous, is_limited=is_limited)
        return start if found is None or found == previous else found.to_dict()

    def getDefaultReadLimit(self) -> ReadLimit:
        """Tell Spark that there is a limit; the options say which, in files or bytes."""
        return ReadMaxFiles(self._stream.options.max_files)

    def prepareForTriggerAvailableNow(self) -> None:
        """From now on, stop at the data that exists at this moment."""
        self._stream.prepare_for_available_now()

    def partitions(self, start: dict[str, Any], end: dict[str, Any]) -> Sequence[InputPartition]:
        """Return the tasks of a batch."""
        request, stream = self._open()
        plan = stream.batch(self._offset(start), self._offset(end))
        opened = StreamRead(stream.storage, stream.options, stream.read)
        return _partitions(request, plan, request.shown(opened.schema))

    def read(self, partition: InputPartition) -> Iterator[pa.RecordBatch]:
        """Yield the rows of a task."""
        return rows_of_partition(partition)

    def _offset(self, offset: dict[str, Any]) -> StreamOffset:
        stream = self._stream
        return parse_offset(offset, table=stream.storage.root, table_id=stream.table_id)

    @property
    def _stream(self) -> TableStream:
        return self._open()[1]

    def _open(self) -> tuple[ReadRequest, TableStream]:
        # Readers are also sent to workers that only call `read`, so the table is opened lazily.
        if self._opened is None:
            options = stream_options(self._options, time_zone=self._options.get("timezone", "UTC"))
            request = read_request(self._options)
            if request.as_of is not None:
                raise TimeTravelOfStreamError(option="path")
            opened = open_stream(request.storage(), options, request.open_storage)
            self._opened = request, TableStream(self._settled(request, opened))
        return self._opened

    def _settled(self, request: ReadRequest, opened: StreamRead) -> StreamRead:
        """Return the stream with the schema that its columns were looked up with.

        With a schema log, the last entry must still be the one used then. If the user gave the
        columns, they must be those of the table.
        """
        if self._version is not None and opened.options.schema_location is None:
            snapshot = load_snapshot(opened.storage, self._version)
            read = ReadSchema(snapshot.version, snapshot.configuration)
            return StreamRead(opened.storage, opened.options, read)
        found = requested_schema(request)[1]
        if self._version is not None and self._schema != public_schema(found):
            raise MetadataEvolvedError(
                table=opened.storage.root, version=opened.read.version, schema=type_text(found)
            )
        _check_given(self._schema, found, table=request.path)
        return opened


def _partitions(
    request: ReadRequest, plan: RowPlan, shown: TableSchema
) -> Sequence[InputPartition]:
    url = request.storage().root
    return partitions(plan, shown, url=url, store_options=request.store_options, zone=request.zone)
