"""Reads ScanFiles as Arrow batches with pyarrow alone, in executors and in threads.

A physical file is opened once for all ScanFiles that name the same part of it, its columns are
decoded once, and each ScanFile then selects its rows: those in its vector, or all others.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from truckee.arrow.file_columns import FileColumns, RepeatedValue, TableRead
from truckee.arrow.parts import FilePart, read_together, row_groups
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.errors.spark import DataFileNotFoundError, DataFileUnreadableError
from truckee.protocol.schema import StructType
from truckee.scan.file_registry import selected_rows
from truckee.scan.scan_file import ScanFile
from truckee.storage import open_storage
from truckee.storage.base import Storage

_ROWS_PER_BATCH = 65_536
_BYTES_PER_BATCH = 16 << 20
_FEWEST_ROWS = 256


class RowFilter(Protocol):
    """A condition on rows, as the reader needs it."""

    @property
    def columns(self) -> Sequence[str]:
        """The columns that the condition uses, by their names in the table."""

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a batch that match the condition."""

    def row_groups(
        self, file: pq.ParquetFile, read: TableRead, numbers: Sequence[int]
    ) -> Sequence[int]:
        """Return the row groups of a file that may have such a row."""


def read_parts(
    read: TableRead,
    parts: Sequence[FilePart],
    where: RowFilter | None = None,
    *,
    storage: Storage | None = None,
    use_threads: bool = False,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of parts of files, with the columns of `read.output`.

    With `use_threads`, the columns of a batch are decoded in parallel.
    Raises `DataFileNotFoundError`, `DataFileUnreadableError` and the errors of deletion vectors.
    """
    storage = storage or open_storage(read.url, read.store_options)
    with_vectors = [part.file for part in parts if not part.file.rows.is_all]
    bitmaps = iter(list(selected_rows(storage, with_vectors)))
    selections = {id(part): None if part.file.rows.is_all else next(bitmaps) for part in parts}
    for group in read_together(parts):
        chosen = [(part.file, selections[id(part)]) for part in group]
        file = group[0].file
        try:
            yield from _read_group(storage, read, group[0], chosen, where, use_threads)
        except FileNotFoundError as error:
            raise DataFileNotFoundError(path=file.path, version=file.version) from error
        except (pa.ArrowException, OSError) as error:
            reason = str(error).partition("\n")[0]
            raise DataFileUnreadableError(
                path=file.path, version=file.version, reason=reason
            ) from error


def _read_group(
    storage: Storage,
    read: TableRead,
    part: FilePart,
    chosen: Sequence[tuple[ScanFile, RowBitmap | None]],
    where: RowFilter | None,
    use_threads: bool,
) -> Iterator[pa.RecordBatch]:
    wanted = _wanted(read, where)
    output = read.output.names
    with _native_input(storage, part.file.path) as source:
        file = pq.ParquetFile(source, coerce_int96_timestamp_unit="us")
        columns = FileColumns(read, wanted, file.schema_arrow, part.file)
        members = [_Member(of, rows, columns.constants(of)) for of, rows in chosen]
        for number, first in _groups_to_read(file, read, part, members, where):
            batches = file.iter_batches(
                _rows_per_batch(file.metadata.row_group(number)),
                row_groups=[number],
                columns=columns.names,
                use_threads=use_threads,
            )
            yield from _rows_of(batches, first, columns, members, where, output)


def _rows_of(
    batches: Iterable[pa.RecordBatch],
    first: int,
    columns: FileColumns,
    members: Sequence[_Member],
    where: RowFilter | None,
    output: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a row group, whose first row is row `first` of the file."""
    for batch in batches:
        data = columns.data(batch, first)
        for member in members:
            made = columns.output_batch(member.rows(data, first), member.constants)
            if where is not None and made.num_rows:
                made = where.rows(made).select(output)
            if made.num_rows:
                yield made
        first += batch.num_rows


def _wanted(read: TableRead, where: RowFilter | None) -> StructType:
    """Return the columns to read: those of the output, then others that a condition needs."""
    output = read.output
    if where is None:
        return output
    return read.columns_named(tuple(dict.fromkeys((*output.names, *where.columns))))


class _Member:
    """A ScanFile among those that read the same bytes: its rows and its constants."""

    def __init__(
        self, file: ScanFile, rows: RowBitmap | None, constants: dict[str, RepeatedValue]
    ) -> None:
        self.constants = constants
        self._rows = rows
        self._keeps = file.rows.within is not None

    def has_rows(self, first: int, count: int) -> bool:
        """Return whether any of the `count` rows from `first` on is read."""
        return self._rows is None or not self._keeps or self._rows.has_any(first, first + count)

    def rows(self, data: pa.RecordBatch, first: int) -> pa.RecordBatch:
        """Return the rows to read of a batch that starts at row `first` of the file."""
        if self._rows is None:
            return data
        stop = first + data.num_rows
        is_touched = self._rows.has_any(first, stop)
        if not is_touched:
            return data.slice(0, 0) if self._keeps else data
        rows = self._rows.between(first, stop) if self._keeps else self._rows.missing(first, stop)
        return data if len(rows) == data.num_rows else data.take(_indices(rows, first))


def _indices(rows: Any, first: int) -> pa.Array:
    indexes = pa.Array.from_buffers(pa.uint64(), len(rows), [None, pa.py_buffer(rows)])
    return pc.subtract(indexes, pa.scalar(first, pa.uint64()))


def _groups_to_read(
    file: pq.ParquetFile,
    read: TableRead,
    part: FilePart,
    members: Sequence[_Member],
    where: RowFilter | None,
) -> Iterator[tuple[int, int]]:
    """Yield the row groups of a part that may have rows to read, with the index of a first row."""
    starts = dict(row_groups(file.metadata, part))
    numbers: Sequence[int] = list(starts)
    if where is not None:
        numbers = where.row_groups(file, read, numbers)
    for number in numbers:
        first, count = starts[number], file.metadata.row_group(number).num_rows
        if any(member.has_rows(first, count) for member in members):
            yield number, first


def _rows_per_batch(group: Any) -> int:
    """Return the number of rows in a batch: fewer if rows are long, so that memory is bounded."""
    bytes_per_row = group.total_byte_size / max(1, group.num_rows)
    by_size = int(_BYTES_PER_BATCH / max(1.0, bytes_per_row))
    return max(_FEWEST_ROWS, min(_ROWS_PER_BATCH, by_size))


def _native_input(storage: Storage, path: str) -> BinaryIO:
    """Return an open file for pyarrow, which reads local files without calling Python."""
    source = storage.open_input(path)
    if isinstance(source, io.BufferedReader) and isinstance(source.raw, io.FileIO):
        with source:
            return pa.OSFile(str(source.name))  # type: ignore[no-any-return]
    return source
