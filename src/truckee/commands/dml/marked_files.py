"""Rows -> deletion vectors -> an add with the new vector and a remove with the old.

The data file does not change. The new vector of a file replaces the old one, and marks all rows of
the old vector and those that are marked now. The metrics distinguish three cases:

| the file had | and has now          | counts as          |
|--------------|----------------------|--------------------|
| no vector    | a vector             | added              |
| a vector     | a larger one         | updated            |
| a vector     | no live row any more | removed            |

The driver writes small vectors. Where old and new rows take more than `MOST_SENT` bytes, tasks
write the vectors, and no bitmap comes to the driver.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from msgspec.structs import replace
from pyspark.sql import SparkSession

from truckee.commands.dml.matched_files import TouchedFile, num_deleted
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import (
    StoredRows,
    VectorOf,
    read_deletion_vectors,
    write_deletion_vectors,
)
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import decode_path
from truckee.protocol.stats import encode_stats, parse_stats, with_wide_bounds
from truckee.scan.footer_statistics import read_footers
from truckee.spark.dml.row_bitmaps import MOST_SENT, united_vectors
from truckee.storage.base import Storage


@dataclass(frozen=True)
class MarkedFile:
    """A file before and after some of its rows were marked as deleted."""

    before: AddFile
    after: AddFile
    rows: RowBitmap | StoredRows


def marked_files(
    spark: SparkSession, snapshot: Snapshot, touched: Sequence[TouchedFile]
) -> list[MarkedFile]:
    """Write vectors that mark the touched rows and those marked before.

    When this returns, the vectors are durable, but no version refers to them yet.
    """
    vectors = _vectors(spark, snapshot, touched)
    counts = _num_records(snapshot.storage, touched)
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


def _vectors(
    spark: SparkSession, snapshot: Snapshot, touched: Sequence[TouchedFile]
) -> list[DeletionVectorDescriptor]:
    """Write the new vector of each file: the touched rows, and those marked before."""
    old = [_old_vector(snapshot, file.add) for file in touched]
    old_size = sum(vector.descriptor.size_in_bytes for vector in old if vector is not None)
    new = [file.rows for file in touched if isinstance(file.rows, RowBitmap)]
    if len(new) == len(touched) and old_size <= MOST_SENT:
        before = vector_rows(snapshot, [file.add for file in touched])
        united = [was | rows if was else rows for was, rows in zip(before, new, strict=True)]
        return write_deletion_vectors(snapshot.storage, united)
    parts = [_parts(was, file) for was, file in zip(old, touched, strict=True)]
    written = iter(
        united_vectors(spark, snapshot.storage.root, [p for p in parts if not _is_written(*p)])
    )
    return [p[0][0].descriptor if _is_written(*p) else next(written) for p in parts]


def _parts(old: VectorOf | None, file: TouchedFile) -> tuple[list[VectorOf], RowBitmap]:
    """Return the vectors, and the rows in none of them, that a file's new vector unites."""
    before = [] if old is None else [old]
    if isinstance(file.rows, RowBitmap):
        return before, file.rows
    new = [VectorOf(descriptor=each, data_file=file.add.path) for each in file.rows.vectors]
    return [*before, *new], file.rows.others


def _is_written(vectors: Sequence[VectorOf], others: RowBitmap) -> bool:
    return len(vectors) == 1 and not others


def vector_files(files: Iterable[MarkedFile]) -> set[str]:
    """Return the files that hold the new vectors of marked files; a file may hold many."""
    vectors = (file.after.deletion_vector for file in files)
    return {vector.file_path for vector in vectors if vector is not None}


def _old_vector(snapshot: Snapshot, file: AddFile) -> VectorOf | None:
    if file.deletion_vector is None:
        return None
    return VectorOf(descriptor=file.deletion_vector, data_file=file.path, version=snapshot.version)


def vector_rows(snapshot: Snapshot, files: Iterable[AddFile]) -> list[RowBitmap]:
    """Return the rows of each file that its deletion vector marks."""
    wanted = [_old_vector(snapshot, file) for file in files]
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
