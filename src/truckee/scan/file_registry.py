"""The files of a scan by number, with the rows that their vectors select.

A number, which is a constant of the file, identifies a row's file. Paths are not used for this: one
version of Spark writes `file:/x`, another `file:///x`, and escapes differ.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock

import pyarrow as pa
import pyarrow.parquet as pq

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import VectorOf, check_row_indexes, read_deletion_vectors
from truckee.errors.base import DeltaError
from truckee.scan.scan_file import Change, ScanFile
from truckee.storage.base import Storage

_Key = tuple[str, str | None, str | None, Change | None]


class FileRegistry:
    """Numbers of files, assigned when a file is first seen, and kept while the scan lives."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ids: dict[_Key, int] = {}
        self._files: list[ScanFile] = []

    def file_id(self, file: ScanFile) -> int:
        """Return the number of a file."""
        within, without = file.rows.within, file.rows.without
        key = (
            file.path,
            within.unique_id if within else None,
            without.unique_id if without else None,
            file.change,
        )
        with self._lock:
            number = self._ids.setdefault(key, len(self._files))
            if number == len(self._files):
                self._files.append(file)
            return number

    def file(self, file_id: int) -> ScanFile:
        """Return the file with this number."""
        return self._files[file_id]


def selected_rows(storage: Storage, files: Sequence[ScanFile]) -> Iterator[RowBitmap]:
    """Yield, for each file, the rows to keep if its selection has `within`, else those to drop."""
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
    """Count the rows of files by their footers, for files without statistics in the log.

    The count of a file that cannot be read is unknown: Spark reports the problem when it reads it.
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
