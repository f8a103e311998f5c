"""Reads ScanFiles as Arrow batches with pyarrow alone, in executors and in threads.

A physical file is opened once for all ScanFiles that name the same part of it, its columns are
decoded once, and each ScanFile then selects its rows: those in its vector, or all others.
"""

from __future__ import annotations

import io
from collections.abc import Collection, Iterable, Iterator, Sequence
from typing import Any, BinaryIO, Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from truckee.arrow.chosen_rows import ChosenRows
from truckee.arrow.file_columns import FileColumns, TableColumns, TableRead
from truckee.arrow.parts import FilePart, read_together, row_groups
from truckee.errors.spark import DataFileNotFoundError, DataFileUnreadableError
from truckee.protocol.schema import StructType
from truckee.scan.scan_file import selected_rows
from truckee.storage import open_storage
from truckee.storage.base import Storage

_ROWS_PER_BATCH = 65_536
_BYTES_PER_BATCH = 16 << 20
_FEWEST_ROWS = 256
# Handing a batch to another thread costs several context switches, so batches of few bytes have
# more rows.
_MOST_ROWS = 131_072
_SMALL_BATCH = 1 << 20
# What is read of a column at a time, instead of all of its bytes in the row group.
_READ_SIZE = 1 << 18


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
    columns = TableColumns(read, _wanted(read, where))
    for group in read_together(parts):
        chosen = ChosenRows([(part.file, selections[id(part)]) for part in group])
        file = group[0].file
        try:
            yield from _read_group(storage, columns, group[0], chosen, where, use_threads)
        except FileNotFoundError as error:
            raise DataFileNotFoundError(path=file.path, version=file.version) from error
        except (pa.ArrowException, OSError, UnicodeError) as error:
            reason = str(error).partition("\n")[0]
            raise DataFileUnreadableError(
                path=file.path, version=file.version, reason=reason
            ) from error


def _read_group(
    storage: Storage,
    table: TableColumns,
    part: FilePart,
    chosen: ChosenRows,
    where: RowFilter | None,
    use_threads: bool,
) -> Iterator[pa.RecordBatch]:
    with _native_input(storage, part.file.path) as source:
        file = _parquet_file(source)
        columns = table.in_file(file.schema_arrow, chosen.files)
        for number, first in _groups_to_read(file, table.read, part, chosen, where):
            batches = file.iter_batches(
                _rows_per_batch(file.metadata.row_group(number), columns.names),
                row_groups=[number],
                columns=columns.names,
                use_threads=use_threads,
            )
            yield from _rows_of(batches, first, columns, chosen, where, table.output)


def _rows_of(
    batches: Iterable[pa.RecordBatch],
    first: int,
    columns: FileColumns,
    chosen: ChosenRows,
    where: RowFilter | None,
    output: Sequence[str],
) -> Iterator[pa.RecordBatch]:
    """Yield the rows of a row group, whose first row is row `first` of the file."""
    for batch in batches:
        data = columns.data(batch, first)
        for rows, of in chosen.rows(data, first):
            made = columns.output_batch(rows, of)
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


def _groups_to_read(
    file: pq.ParquetFile,
    read: TableRead,
    part: FilePart,
    chosen: ChosenRows,
    where: RowFilter | None,
) -> Iterator[tuple[int, int]]:
    """Yield the row groups of a part that may have rows to read, with the index of a first row."""
    starts = dict(row_groups(file.metadata, part))
    numbers: Sequence[int] = list(starts)
    if where is not None:
        numbers = where.row_groups(file, read, numbers)
    for number in numbers:
        first, count = starts[number], file.metadata.row_group(number).num_rows
        if chosen.has_rows(first, count):
            yield number, first


def _rows_per_batch(group: Any, columns: Collection[str]) -> int:
    """Return the number of rows in a batch: fewer if rows are long, so that memory is bounded."""
    if group.total_byte_size <= _SMALL_BATCH:
        return _ROWS_PER_BATCH
    chunks = (group.column(number) for number in range(group.num_columns))
    wanted = (chunk for chunk in chunks if chunk.path_in_schema.split(".")[0] in columns)
    size = sum(chunk.total_uncompressed_size for chunk in wanted)
    bytes_per_row = max(1.0, size / max(1, group.num_rows))
    usual = max(_ROWS_PER_BATCH, min(_MOST_ROWS, int(_SMALL_BATCH / bytes_per_row)))
    return max(_FEWEST_ROWS, min(usual, int(_BYTES_PER_BATCH / bytes_per_row)))


def _parquet_file(source: BinaryIO) -> pq.ParquetFile:
    """Return an open Parquet file.

    Columns of a local file are read piece by piece. Elsewhere every request takes long, so the
    columns of a row group are read at once. The checksums of pages are verified if they have any.
    """
    is_local = isinstance(source, pa.OSFile)
    return pq.ParquetFile(
        source,
        pre_buffer=not is_local,
        buffer_size=_READ_SIZE if is_local else 0,
        coerce_int96_timestamp_unit="us",
        page_checksum_verification=True,
    )


def _native_input(storage: Storage, path: str) -> BinaryIO:
    """Return an open file for pyarrow, which reads local files without calling Python."""
    source = storage.open_input(path)
    if isinstance(source, io.BufferedReader) and isinstance(source.raw, io.FileIO):
        with source:
            return pa.OSFile(str(source.name))  # type: ignore[no-any-return]
    return source
