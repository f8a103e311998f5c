"""ScanFile: the only thing that an engine reads, for snapshots, the feed and streams."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
from msgspec import Struct

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import VectorOf, check_row_indexes, read_deletion_vectors
from truckee.errors.base import DeltaError
from truckee.errors.storage import StorageError
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.json_text import NOT_JSON, Count
from truckee.storage.base import Storage
from truckee.storage.read_bounds import check_readable_path


class RowSelection(Struct, frozen=True):
    """Which rows of a data file are read: those in `within` that are not in `without`.

    None for `within` means every row of the file, None for `without` means no row. These two
    express all cases of the protocol without reading a vector:

    | case                                        | within | without |
    |---------------------------------------------|--------|---------|
    | a live file with vector d                   | None   | d       |
    | rows deleted when vector a replaced r       | a      | r       |
    | rows restored when vector a replaced r      | r      | a       |
    """

    within: DeletionVectorDescriptor | None = None
    without: DeletionVectorDescriptor | None = None

    @property
    def is_all(self) -> bool:
        """Whether all rows of the file are read, without any vector."""
        return self.within is None and self.without is None


ALL_ROWS = RowSelection()


BELIEVED_SIZE = 4 << 30
"""The largest size in a log that is believed. Files are rarely larger, and are asked for theirs.

A size decides into how many parts a file is cut, each of which is a task that opens the file.
"""


class Change(Struct, frozen=True):
    """The change of the feed that every row of a file belongs to.

    `type` is None for change files, whose rows have their type in a column.
    """

    type: str | None
    version: int
    timestamp_ms: int | None


class ScanFile(Struct, frozen=True, kw_only=True):
    """One data file, which of its rows to read, and the constants of those rows.

    `path` is decoded, and relative to the table's root or absolute. `version` is the version
    for which the file is read: the snapshot's, or that of the change. The two numbers of row
    tracking are those of the log, if a snapshot is read.
    """

    path: str
    size: int
    modification_time: int
    partition_values: Mapping[str, str | None]
    version: int
    rows: RowSelection = ALL_ROWS
    stats: str | None = None
    change: Change | None = None
    base_row_id: int | None = None
    default_row_commit_version: int | None = None

    @property
    def num_records(self) -> int | None:
        """The number of rows in the file, including deleted ones, if its statistics have it."""
        return num_records(self.stats)


def check_paths(storage: Storage, files: Iterable[ScanFile]) -> None:
    """Raise for a file that no engine may read.

    `PathOutsideTableError` if it is outside the table's root and reads are restricted to the root,
    StorageError if its path is not valid.
    """
    for file in files:
        if not file.path or "\0" in file.path:
            path, reason = repr(file.path), "it is not a valid file name"
            raise StorageError(action="read", path=path, reason=reason)
        check_readable_path(storage, file.path)
        for vector in (file.rows.within, file.rows.without):
            if vector is not None and vector.is_on_disk:
                check_readable_path(storage, vector.file_path)


class _RowCount(Struct, rename="camel"):
    num_records: Count | None = None


_row_count = msgspec.json.Decoder(_RowCount)


def num_records(stats: str | None) -> int | None:
    """Return the number of rows in statistics, or None if they cannot be read."""
    if stats is None:
        return None
    try:
        return _row_count.decode(stats).num_records
    except NOT_JSON:
        return None


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
