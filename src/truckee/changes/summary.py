"""How many rows a feed has, by version and type of change, as far as the log shows.

A count is None if only the data shows it: for change files, and for files without statistics.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from truckee.deletion_vectors.store import VectorOf, read_deletion_vectors
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.scan.scan_file import Change, RowSelection, ScanFile
from truckee.storage.base import Storage


class ChangeCount(Struct, frozen=True, kw_only=True):
    """The rows of one type that one version changed.

    `change_type` is None for change files, whose rows contain it. `rows` is None if the log does
    not have it.
    """

    version: int
    timestamp_ms: int | None
    change_type: str | None
    rows: int | None
    files: int


def summary(files: Iterable[ScanFile], storage: Storage | None = None) -> list[ChangeCount]:
    """Return the counts of a plan's files, in order of version.

    With a storage, vectors are read if cardinalities alone do not show how many rows differ between
    two of them; data files are never read. Versions without changes do not appear.
    """
    physical: dict[str, int] = {}
    totals: dict[Change, list[int | None]] = {}
    for file in files:
        assert file.change is not None
        count = file.num_records
        if count is not None:
            physical[file.path] = count
        rows = _rows(file, physical.get(file.path), storage)
        totals.setdefault(file.change, []).append(rows)
    return list(_counts(totals))


def _counts(totals: dict[Change, list[int | None]]) -> Iterator[ChangeCount]:
    for change, rows in totals.items():
        known = [count for count in rows if count is not None]
        total = sum(known) if len(known) == len(rows) else None
        if total != 0:
            yield ChangeCount(
                version=change.version,
                timestamp_ms=change.timestamp_ms,
                change_type=change.type,
                rows=total,
                files=len(rows),
            )


def _rows(file: ScanFile, physical: int | None, storage: Storage | None) -> int | None:
    """Return how many rows of a file are read; `physical` is their total number, if known."""
    within, without = file.rows.within, file.rows.without
    if file.change is not None and file.change.type is None:
        return None
    if within is None:
        return None if physical is None else physical - _cardinality(without)
    if without is None:
        return within.cardinality
    return None if storage is None else _difference(file, file.rows, storage)


def _cardinality(vector: DeletionVectorDescriptor | None) -> int:
    return 0 if vector is None else vector.cardinality


def _difference(file: ScanFile, rows: RowSelection, storage: Storage) -> int:
    assert rows.within is not None
    assert rows.without is not None
    within, without = read_deletion_vectors(
        storage,
        [
            VectorOf(descriptor=vector, data_file=file.path, version=file.version)
            for vector in (rows.within, rows.without)
        ],
    )
    return len(within - without)
