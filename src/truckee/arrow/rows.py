"""ArrowRows: rows of a table or of a feed that are read when they are used.

Libraries with Arrow's PyCapsule interface can use them directly: DuckDB, Polars, pandas, pyarrow
and `deltalake`. Each use reads the same files again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
from msgspec.structs import replace

from truckee.arrow.columns import arrow_schema
from truckee.arrow.file_columns import TableRead
from truckee.arrow.parallel import BatchPlace, read_files
from truckee.arrow.read import RowFilter
from truckee.errors.base import DeltaError
from truckee.errors.deletion_vectors import MissingDeletionVectorError
from truckee.errors.spark import DataFileNotFoundError
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage


@dataclass(frozen=True, eq=False)
class ArrowRows:
    """Rows that are read by pyarrow, in batches and in parallel, without a JVM.

    `explained` returns a better error for a missing file, if there is one.
    """

    storage: Storage
    read: TableRead
    files: Sequence[ScanFile]
    where: RowFilter | None = None
    explained: Callable[[], DeltaError | None] | None = None

    def __repr__(self) -> str:
        names = ", ".join(self.read.output.names)
        return f"ArrowRows({self.storage.root!r}, {len(self.files)} files, columns {names})"

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
        batches = (batch for _, batch in self._numbered())
        return pa.RecordBatchReader.from_batches(self.schema, batches)

    def to_arrow(self) -> pa.Table:
        """Return all rows, in the order of the table's files."""
        found = sorted(self._numbered(), key=lambda item: item[0])
        return pa.Table.from_batches([batch for _, batch in found], self.schema)

    def to_pandas(self) -> Any:
        """Return all rows as a pandas DataFrame."""
        return self.to_arrow().to_pandas()

    def first(self, limit: int) -> pa.Table:
        """Return the first rows, in the order of the table's files, and read no further."""
        found: list[pa.RecordBatch] = []
        left = limit
        batches = self._numbered(threads=1)
        for _, batch in batches:
            found.append(batch.slice(0, left))
            left -= found[-1].num_rows
            if left <= 0:
                break
        batches.close()
        return pa.Table.from_batches(found, self.schema)

    def select(self, columns: Sequence[str]) -> ArrowRows:
        """Return the same rows with some of the columns, by their names in the table."""
        read = replace(self.read, columns=tuple(columns))
        return ArrowRows(self.storage, read, self.files, self.where, self.explained)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        return self.to_batches().__arrow_c_stream__(requested_schema)

    def __arrow_c_schema__(self) -> object:
        return self.schema.__arrow_c_schema__()

    def _numbered(self, threads: int | None = None) -> Any:
        return self._batches(threads)

    def _batches(self, threads: int | None) -> Iterator[tuple[BatchPlace, pa.RecordBatch]]:
        try:
            yield from read_files(
                self.read, self.files, self.where, storage=self.storage, threads=threads
            )
        except (DataFileNotFoundError, MissingDeletionVectorError) as error:
            better = self.explained() if self.explained is not None else None
            if better is None:
                raise
            raise better from error
