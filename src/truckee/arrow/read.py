"""ScanFiles as Arrow batches, on an executor: no session, no JVM, only pyarrow.

A task reads *parts* of files. A part is a range of bytes, and has the row groups that begin in it,
so that a large file is read by several tasks and every row group by exactly one of them.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from truckee.arrow.columns import arrow_schema, arrow_type, as_type, column_in_file
from truckee.changes.columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, feed_schema
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import VectorOf, check_row_indexes
from truckee.errors.spark import DataFileNotFoundError, DataFileUnreadableError
from truckee.protocol.partition_values import typed_column
from truckee.protocol.schema import StructField, StructType
from truckee.scan.file_registry import selected_rows
from truckee.scan.scan_file import Change, ScanFile
from truckee.storage import open_storage
from truckee.storage.base import Storage

_ROWS_PER_BATCH = 32_768
_LARGEST_PART = 128 << 20
_COST_OF_A_FILE = 4 << 20
# What the log says of a size may be absurd, and each part is an object.
_MOST_PARTS = 10_000
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class FilePart(Struct, frozen=True):
    """The row groups of a file that begin at the bytes `start` up to, but not at, `end`."""

    file: ScanFile
    start: int
    end: int

    @property
    def size(self) -> int:
        """How many bytes these are, by what the log says of the file."""
        return max(0, min(self.end, self.file.size) - self.start)


class TableRead(Struct, frozen=True, kw_only=True):
    """What executors have to know of a table to read its files. It travels with each task.

    `columns` are the names to be read, in order; None stands for all.
    """

    url: str
    store_options: Mapping[str, str]
    schema: StructType
    partition_columns: tuple[str, ...]
    mapping_mode: str
    is_feed: bool = False
    columns: tuple[str, ...] | None = None
    zone: str = "UTC"

    @property
    def output(self) -> StructType:
        """The columns of the rows that are read."""
        schema = feed_schema(self.schema) if self.is_feed else self.schema
        if self.columns is None:
            return schema
        fields = (schema.field(name) for name in self.columns)
        return StructType(tuple(field for field in fields if field is not None))


def tasks(files: Iterable[ScanFile]) -> list[tuple[FilePart, ...]]:
    """Return the files cut and put together into tasks of about the same size."""
    files = list(files)
    total = sum(file.size + _COST_OF_A_FILE for file in files)
    wanted = 2 * (os.cpu_count() or 1)
    largest = min(_LARGEST_PART, max(_COST_OF_A_FILE, total // wanted))
    parts = [part for file in files for part in _parts(file, largest)]
    parts.sort(key=lambda part: -part.size)
    bins: list[tuple[list[FilePart], int]] = []
    for part in parts:
        size = part.size + _COST_OF_A_FILE
        if not bins or bins[-1][1] + size > largest + _COST_OF_A_FILE:
            bins.append(([], 0))
        members, filled = bins.pop()
        bins.append(([*members, part], filled + size))
    return [tuple(members) for members, _ in bins]


def _parts(file: ScanFile, largest: int) -> Iterator[FilePart]:
    count = min(max(1, -(-file.size // largest)), _MOST_PARTS)
    length = -(-file.size // count)
    for number in range(count):
        # What the log says of a size may be wrong; the last part takes all that is left.
        end = (number + 1) * length if number + 1 < count else 1 << 62
        yield FilePart(file, number * length, end)


def read_parts(read: TableRead, parts: Sequence[FilePart]) -> Iterator[pa.RecordBatch]:
    """Yield the rows of parts of files, with the columns of `read.output`.

    Raises `DataFileNotFoundError`, `DataFileUnreadableError` and the errors of deletion vectors.
    """
    storage = open_storage(read.url, read.store_options)
    with_vectors = [part.file for part in parts if not part.file.rows.is_all]
    selections = iter(list(selected_rows(storage, with_vectors)))
    for part in parts:
        selection = None if part.file.rows.is_all else next(selections)
        try:
            yield from _read_part(storage, read, part, selection)
        except FileNotFoundError as error:
            raise DataFileNotFoundError(path=part.file.path, version=part.file.version) from error
        except (pa.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise DataFileUnreadableError(
                path=part.file.path, version=part.file.version, reason=reason
            ) from error


def _read_part(
    storage: Storage, read: TableRead, part: FilePart, selection: RowBitmap | None
) -> Iterator[pa.RecordBatch]:
    with storage.open_input(part.file.path) as source:
        file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
        rows = _Rows(part.file, read, file.schema_arrow)
        if selection is not None:
            # A few bytes can stand for billions of rows, which must not be spelled out.
            check_row_indexes(selection, file.metadata.num_rows, of=_vector_of(part.file))
        chosen = None if selection is None else selection.to_array()
        keeps = part.file.rows.within is not None
        for group, first in _groups(file.metadata, part):
            count = file.metadata.row_group(group).num_rows
            if keeps and chosen is not None and _is_empty(chosen, first, count):
                continue
            batches = file.iter_batches(
                _ROWS_PER_BATCH, row_groups=[group], columns=rows.names, use_threads=False
            )
            for batch in batches:
                made = rows.of(batch)
                if chosen is not None:
                    made = _selected(made, chosen, first, keeps=keeps)
                if made.num_rows:
                    yield made
                first += batch.num_rows


def _vector_of(file: ScanFile) -> VectorOf:
    vector = file.rows.within or file.rows.without
    assert vector is not None
    return VectorOf(descriptor=vector, data_file=file.path, version=file.version)


def _groups(metadata: Any, part: FilePart) -> Iterator[tuple[int, int]]:
    """Yield the row groups of a part, each with the index of its first row in the file."""
    first = 0
    for number in range(metadata.num_row_groups):
        group = metadata.row_group(number)
        column = group.column(0)
        begins = column.dictionary_page_offset or column.data_page_offset
        if part.start <= begins < part.end:
            yield number, first
        first += group.num_rows


def _is_empty(chosen: Sequence[int], first: int, count: int) -> bool:
    return bisect_left(chosen, first) == bisect_left(chosen, first + count)


def _selected(
    batch: pa.RecordBatch, chosen: Sequence[int], first: int, *, keeps: bool
) -> pa.RecordBatch:
    """Return the rows of a batch that are in a sorted selection, or those that are not."""
    count = batch.num_rows
    flags = bytearray(count) if keeps else bytearray(b"\x01") * count
    for row in chosen[bisect_left(chosen, first) : bisect_left(chosen, first + count)]:
        flags[row - first] = keeps
    as_bytes = pa.Array.from_buffers(pa.uint8(), count, [None, pa.py_buffer(flags)])
    return batch.filter(as_bytes.cast(pa.bool_()))


class _Rows:
    """How the columns of one file become those that are asked for."""

    def __init__(self, file: ScanFile, read: TableRead, in_file: pa.Schema) -> None:
        self._schema = arrow_schema(read.output)
        self._mode = read.mapping_mode
        self._partitions = {name.casefold() for name in read.partition_columns}
        self._sources = [
            (field, self._source(file, read, field, in_file)) for field in read.output.fields
        ]
        names = (source for _, source in self._sources if isinstance(source, str))
        self.names = list(dict.fromkeys(names))

    def of(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return a batch of the file as one of the table."""
        columns = [
            as_type(batch.column(source), field.type, self._mode)
            if isinstance(source, str)
            else _repeated(source, batch.num_rows)
            for field, source in self._sources
        ]
        return pa.RecordBatch.from_arrays(columns, schema=self._schema)

    def _source(
        self, file: ScanFile, read: TableRead, field: StructField, in_file: pa.Schema
    ) -> str | pa.Array:
        """Return the column's name in the file, or its one value."""
        if read.is_feed and file.change is not None and field.name in _FEED:
            if field.name == CHANGE_TYPE and file.change.type is None:
                return CHANGE_TYPE
            return pa.array([_FEED[field.name](file.change)], arrow_type(field.type))
        if field.name.casefold() in self._partitions:
            text = file.partition_values.get(field.physical_name)
            return typed_column(pa.array([text], pa.string()), field.type, read.zone).cast(
                arrow_type(field.type)
            )
        place = column_in_file(in_file, field, self._mode)
        if place is None:
            return pa.nulls(1, arrow_type(field.type))
        name: str = in_file.field(place).name
        return name


def _moment(change: Change) -> datetime | None:
    if change.timestamp_ms is None:
        return None
    return _EPOCH + timedelta(milliseconds=change.timestamp_ms)


_FEED: Mapping[str, Any] = {
    CHANGE_TYPE: lambda change: change.type,
    COMMIT_VERSION: lambda change: change.version,
    COMMIT_TIMESTAMP: _moment,
}


def _repeated(value: pa.Array, count: int) -> pa.Array:
    zeros = pa.Array.from_buffers(pa.uint8(), count, [None, pa.py_buffer(bytes(count))])
    return value.take(zeros)
