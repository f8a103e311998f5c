"""ParquetRows: the rows of files, read by pyarrow in batches and in parallel."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from dataclasses import replace as dataclass_replace

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from truckee.arrow.columns import arrow_schema
from truckee.arrow.file_columns import ROW_POSITION, TableRead
from truckee.arrow.parallel import BatchPlace, read_files
from truckee.arrow.read import RowFilter
from truckee.changes.row_identity import BASE_ROW_ID
from truckee.errors.base import DeltaError
from truckee.errors.deletion_vectors import MissingDeletionVectorError
from truckee.errors.spark import DataFileNotFoundError
from truckee.rows.plan import Read
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

_NO_OPTIONS: Mapping[str, str] = {}


@dataclass(frozen=True, eq=False)
class ParquetRows:
    """Rows that are read by pyarrow, in batches and in parallel, without a JVM.

    `explained` returns a better error for a missing file, if there is one.
    """

    storage: Storage
    read: TableRead
    files: Sequence[ScanFile]
    where: RowFilter | None = None
    explained: Callable[[], DeltaError | None] | None = None

    @property
    def schema(self) -> pa.Schema:
        """The columns of the rows."""
        return arrow_schema(self.read.output)

    @property
    def size_in_bytes(self) -> int:
        """The size of the files to read, each counted once."""
        return sum({file.path: file.size for file in self.files}.values())

    def to_batches(self) -> pa.RecordBatchReader:
        """Return the rows as a stream of batches, in no particular order.

        Memory is bounded: apart from a few, batches are read only when they are consumed.
        """
        batches = (batch for _, batch in self._batches())
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def to_arrow(self) -> pa.Table:
        """Return all rows, in the order of the table's files."""
        found = sorted(self._batches(), key=lambda item: item[0])
        return pa.Table.from_batches([batch for _, batch in found], self.schema)

    def count(self) -> int:
        """Return the number of rows.

        The log has it for most files; of the others only the columns of the condition are read.
        """
        counts = [None if self.where else _live_rows(file) for file in self.files]
        uncounted = [
            file for file, number in zip(self.files, counts, strict=True) if number is None
        ]
        needed = tuple(self.where.columns) if self.where else ()
        rest = dataclass_replace(self, read=replace(self.read, columns=needed), files=uncounted)
        read = sum(int(batch.num_rows) for _, batch in rest._batches())
        return read + sum(number for number in counts if number is not None)

    def first(self, limit: int) -> pa.Table:
        """Return the first rows, in the order of the table's files, and read no further."""
        found: list[pa.RecordBatch] = []
        left = limit
        batches = self._batches(threads=1)
        for _, batch in batches:
            found.append(batch.slice(0, left))
            left -= found[-1].num_rows
            if left <= 0:
                break
        batches.close()
        return pa.Table.from_batches(found, self.schema)

    def select(self, columns: Sequence[str]) -> ParquetRows:
        """Return the same rows with some of the columns, by their names in the table."""
        read = replace(self.read, columns=tuple(columns))
        return ParquetRows(self.storage, read, self.files, self.where, self.explained)

    def _batches(
        self, threads: int | None = None
    ) -> Generator[tuple[BatchPlace, pa.RecordBatch], None, None]:
        try:
            yield from read_files(
                self.read, self.files, self.where, storage=self.storage, threads=threads
            )
        except (DataFileNotFoundError, MissingDeletionVectorError) as error:
            better = self.explained() if self.explained is not None else None
            if better is None:
                raise
            raise better from error


def parquet_rows(
    read: Read,
    *,
    columns: tuple[str, ...] | None = None,
    where: RowFilter | None = None,
    places: bool = False,
) -> ParquetRows:
    """Return the rows of a read, with some of the columns.

    Instead of their ids, rows have their position in the file, as they do with `places`.
    """
    table = TableRead(
        url=read.storage.root,
        store_options=_NO_OPTIONS,
        table=read.table,
        is_feed=read.is_feed,
        columns=columns,
        zone=read.zone,
        has_row_index=places or read.ids is not None,
    )
    return ParquetRows(read.storage, table, read.files, where, read.missing)


def _live_rows(file: ScanFile) -> int | None:
    """Return the number of rows to read of a file, None if the log does not have it."""
    if file.rows.within is not None or file.num_records is None:
        return None
    deleted = 0 if file.rows.without is None else file.rows.without.cardinality
    return max(0, file.num_records - deleted)


def row_ids(rows: pa.RecordBatch | pa.Table, read: Read) -> pa.Array:
    """Return the ids of rows that have their position in the file."""
    assert read.ids is not None
    counted = pc.add(rows[BASE_ROW_ID], rows[ROW_POSITION])
    return pc.coalesce(rows[read.ids.row_id], counted)
