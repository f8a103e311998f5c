"""Rows -> deletion vectors -> an add with the new vector and a remove with the old.

The data file does not change. The new vector of a file replaces the old one, and marks all rows of
the old vector and those that are marked now. The metrics distinguish three cases:

| the file had | and has now          | counts as          |
|--------------|----------------------|--------------------|
| no vector    | a vector             | added              |
| a vector     | a larger one         | updated            |
| a vector     | no live row any more | removed            |
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace

from truckee.commands.dml.matched_files import TouchedFile, num_deleted
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import VectorOf, read_deletion_vectors, write_deletion_vectors
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.paths import decode_path
from truckee.protocol.stats import encode_stats, parse_stats, with_wide_bounds
from truckee.scan.footer_statistics import read_footers
from truckee.storage.base import Storage


@dataclass(frozen=True)
class MarkedFile:
    """A file before and after some of its rows were marked as deleted."""

    before: AddFile
    after: AddFile
    rows: RowBitmap


def marked_files(snapshot: Snapshot, touched: Sequence[TouchedFile]) -> list[MarkedFile]:
    """Write vectors that mark the touched rows and those marked before.

    When this returns, the vectors are durable, but no version refers to them yet.
    """
    storage = snapshot.storage
    before = vector_rows(snapshot, [file.add for file in touched])
    united = [
        old | file.rows if old else file.rows for old, file in zip(before, touched, strict=True)
    ]
    vectors = write_deletion_vectors(storage, united)
    counts = _num_records(storage, touched)
    return [
        MarkedFile(
            file.add,
            replace(
                file.add,
                deletion_vector=vector,
                data_change=True,
                stats=_wide_stats(file.add, num_records),
            ),
            file.rows,
        )
        for file, vector, num_records in zip(touched, vectors, counts, strict=True)
    ]


def discard_vectors(storage: Storage, files: Iterable[MarkedFile]) -> None:
    """Delete the files of new vectors, because their commit did not happen."""
    for path in sorted(_vector_files(files)):
        storage.delete(path)


def superseded(storage: Storage, *, old: Iterable[MarkedFile], kept: Iterable[MarkedFile]) -> None:
    """Delete the files of vectors that were replaced by others before any commit.

    A file holds many vectors, and stays as long as one of them is kept.
    """
    for path in sorted(_vector_files(old) - _vector_files(kept)):
        storage.delete(path)


def _vector_files(files: Iterable[MarkedFile]) -> set[str]:
    vectors = (file.after.deletion_vector for file in files)
    return {vector.file_path for vector in vectors if vector is not None}


def vector_rows(snapshot: Snapshot, files: Iterable[AddFile]) -> list[RowBitmap]:
    """Return the rows of each file that its deletion vector marks."""
    wanted: list[VectorOf | None] = [
        None
        if file.deletion_vector is None
        else VectorOf(
            descriptor=file.deletion_vector, data_file=file.path, version=snapshot.version
        )
        for file in files
    ]
    found = iter(read_deletion_vectors(snapshot.storage, [w for w in wanted if w is not None]))
    return [RowBitmap() if want is None else next(found) for want in wanted]


def _num_records(storage: Storage, touched: Sequence[TouchedFile]) -> list[int]:
    """Return how many rows each file has, from its footer if statistics do not say."""
    unknown = [decode_path(f.add.path) for f in touched if f.num_records is None]
    footers = iter(read_footers(storage, unknown, []))
    return [next(footers).num_rows if f.num_records is None else f.num_records for f in touched]


def _wide_stats(add: AddFile, num_records: int) -> str:
    stats = parse_stats(add.stats)
    wide = with_wide_bounds(stats, num_records=num_records, deleted_before=num_deleted(add))
    return encode_stats(wide)
