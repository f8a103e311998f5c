"""The files of a scan by number, with the rows that their vectors select.

A row's file is told by a number that is a constant of the file, never by the text of a path: one
Spark spells `file:/x`, another `file:///x`, and escapes differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Protocol

import pyarrow as pa
import pyarrow.parquet as pq

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import VectorOf, check_row_indexes, read_deletion_vectors
from truckee.errors.base import DeltaError
from truckee.scan.scan_file import Change, ScanFile
from truckee.storage.base import Storage

_Key = tuple[str, str | None, str | None, Change | None]


class RowSet(Protocol):
    """A set of rows in a plan, see `row_filter`."""

    def fill(self, bitmaps: Mapping[int, RowBitmap], starts: Sequence[int]) -> None:
        """Make these the rows of the set, by file id."""
        ...


class FileRegistry:
    """Numbers for files, given when a file is first seen and kept for as long as the scan lives."""

    def __init__(self, storage: Storage) -> None:
        self.storage = storage
        self._lock = Lock()
        self._ids: dict[_Key, int] = {}
        self._files: list[ScanFile] = []
        self._starts: list[int] = [0]
        self._bitmaps: dict[int, RowBitmap] = {}
        self._row_sets: list[RowSet] = []

    def file_id(self, file: ScanFile) -> int:
        """Return the number of a file."""
        with self._lock:
            return self._numbered(file)

    def file(self, file_id: int) -> ScanFile:
        """Return the file with this number."""
        return self._files[file_id]

    def start(self, file: ScanFile) -> int:
        """Return where the rows of the file start in one line of all with vectors."""
        return self._starts[self.file_id(file)]

    def num_rows(self, file: ScanFile) -> int:
        """Return the number of rows in a file with a vector, deleted ones included."""
        return 0 if file.rows.is_all else file.num_records or 0

    def load_rows(self, files: Sequence[ScanFile], rows: RowSet) -> list[ScanFile]:
        """Add the rows that the vectors of these files select to a set in a plan.

        Returns the files that have rows to be read: where those within a vector are asked for, and
        the vector before it held them all, there are none.
        """
        with self._lock:
            unread = [file for file in files if self._numbered(file) not in self._bitmaps]
            for file, bitmap in zip(unread, selected_rows(self.storage, unread), strict=True):
                self._bitmaps[self._numbered(file)] = bitmap
            is_new = not any(known is rows for known in self._row_sets)
            if is_new:
                self._row_sets.append(rows)
            if is_new or unread:
                for row_set in self._row_sets:
                    row_set.fill(self._bitmaps, self._starts[:-1])
            return [
                file
                for file in files
                if file.rows.within is None or self._bitmaps[self._numbered(file)]
            ]

    def _numbered(self, file: ScanFile) -> int:
        within, without = file.rows.within, file.rows.without
        key = (
            file.path,
            within.unique_id if within else None,
            without.unique_id if without else None,
            file.change,
        )
        number = self._ids.get(key)
        if number is None:
            number = self._ids[key] = len(self._files)
            self._files.append(file)
            # Files without a vector take no place: there may be more of them than a set can hold.
            # A place is whole words of 64 bits, which `Dense` copies as they are.
            words = -(-self.num_rows(file) // 64)
            self._starts.append(self._starts[-1] + 64 * words)
        return number


def selected_rows(storage: Storage, files: Sequence[ScanFile]) -> Iterator[RowBitmap]:
    """Yield for each file the rows to keep if its selection has `within`, else those to drop."""
    wanted = [
        VectorOf(descriptor=vector, data_file=file.path, version=file.version)
        for file in files
        for vector in (file.rows.within, file.rows.without)
        if vector is not None
    ]
    found = iter(zip(wanted, read_deletion_vectors(storage, wanted), strict=True))
    uncounted = [file.path for file in files if file.num_records is None]
    counted = dict(zip(uncounted, _rows_of(storage, uncounted), strict=True))

    def bitmap(file: ScanFile) -> RowBitmap:
        of, rows = next(found)
        known = counted.get(file.path) if file.num_records is None else file.num_records
        if known is not None:
            check_row_indexes(rows, known, of=of)
        return rows

    for file in files:
        within = bitmap(file) if file.rows.within is not None else None
        without = bitmap(file) if file.rows.without is not None else RowBitmap()
        yield without if within is None else within - without


def _rows_of(storage: Storage, paths: Sequence[str]) -> list[int | None]:
    """Count the rows of files by their footers, for those that the log has no statistics of.

    A file that cannot be read counts as unknown: what is wrong with it shows when Spark reads it.
    """

    def count(path: str) -> int | None:
        try:
            with storage.open_input(path) as file:
                return int(pq.read_metadata(file).num_rows)
        except (DeltaError, OSError, pa.ArrowException):
            return None

    if not paths:
        return []
    with ThreadPoolExecutor(min(16, len(paths))) as pool:
        return list(pool.map(count, paths))
