"""The files of a feed as ScanFiles: what was added, what was removed, and the change files.

Each index knows the constants of its files: the table's partition values and the feed's columns,
which prune whole files. A change file holds the type of change in a column of its own.

| index          | `_change_type` | rows                                    |
|----------------|----------------|-----------------------------------------|
| `AddedFiles`   | insert         | live rows of added files; restored rows |
| `RemovedFiles` | delete         | rows of removed files; rows deleted     |
| `ChangeFiles`  | in the file    | all                                     |

No vector is read here: which rows are meant is told by naming vectors.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from heapq import merge
from typing import ClassVar

from msgspec.structs import replace

from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_FIELDS,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    DELETE,
    FEED_FIELDS,
    INSERT,
)
from truckee.changes.version_diff import VectorChange, VersionDiff
from truckee.protocol.actions import AddCDCFile, AddFile, RemoveFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.partition_values import parse
from truckee.protocol.paths import decode_path, is_absolute
from truckee.protocol.predicates import Predicate, all_of, may_be_true
from truckee.protocol.schema import StructField, StructType
from truckee.scan.scan_file import ALL_ROWS, Change, RowSelection, ScanFile

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class ChangeFileIndex(ABC):
    """Files of some commits that are read alike. `partition_fields` are the table's."""

    virtual_fields: ClassVar[tuple[StructField, ...]] = FEED_FIELDS

    diffs: tuple[VersionDiff, ...]
    partition_fields: tuple[StructField, ...] = ()

    @abstractmethod
    def scan_files(self) -> Iterator[ScanFile]:
        """Yield all files, in order of version."""

    @property
    def partition_schema(self) -> StructType:
        """The columns that are constant in a file: the table's partition columns, the feed's."""
        return StructType((*self.partition_fields, *self.virtual_fields))

    def matching_files(self, *partition_filters: Predicate) -> list[ScanFile]:
        """Return the files that can have rows for which all filters are true."""
        predicate = all_of(*partition_filters)
        return [f for f in self.scan_files() if may_be_true(predicate, self.constants(f))]

    def input_files(self, table_root: str) -> tuple[str, ...]:
        """Return the absolute paths of all files, each once."""
        paths = dict.fromkeys(file.path for file in self.scan_files())
        return tuple(path if is_absolute(path) else f"{table_root}/{path}" for path in paths)

    def constants(self, file: ScanFile) -> Mapping[str, object]:
        """Return the value of each column of the partition schema for the rows of a file."""
        assert file.change is not None
        values: dict[str, object] = {
            field.name: parse(file.partition_values.get(field.physical_name), field.type)
            for field in self.partition_fields
        }
        if file.change.type is not None:
            values[CHANGE_TYPE] = file.change.type
        values[COMMIT_VERSION] = file.change.version
        values[COMMIT_TIMESTAMP] = _moment(file.change.timestamp_ms)
        return values


@dataclass(frozen=True)
class AddedFiles(ChangeFileIndex):
    """Files whose rows were inserted, and files some of whose rows were restored."""

    def scan_files(self) -> Iterator[ScanFile]:
        """Yield all files, in order of version."""
        for diff in self.diffs:
            yield from added_scan_files(diff)


@dataclass(frozen=True)
class RemovedFiles(ChangeFileIndex):
    """Files whose rows were deleted, all of them or some."""

    def scan_files(self) -> Iterator[ScanFile]:
        """Yield all files, in order of version."""
        for diff in self.diffs:
            yield from removed_scan_files(diff)


@dataclass(frozen=True)
class ChangeFiles(ChangeFileIndex):
    """Files of change rows."""

    virtual_fields: ClassVar[tuple[StructField, ...]] = COMMIT_FIELDS

    def scan_files(self) -> Iterator[ScanFile]:
        """Yield all files, in order of version."""
        for diff in self.diffs:
            yield from change_scan_files(diff)


def file_indexes(
    diffs: Iterable[VersionDiff], partition_fields: tuple[StructField, ...] = ()
) -> tuple[ChangeFiles, AddedFiles, RemovedFiles]:
    """Return the files of some versions, by what became of them."""
    known = tuple(diffs)
    return (
        ChangeFiles(known, partition_fields),
        AddedFiles(known, partition_fields),
        RemovedFiles(known, partition_fields),
    )


def feed_files(indexes: Iterable[ChangeFileIndex]) -> Iterator[ScanFile]:
    """Yield the files of all indexes in order of version: what a feed reads."""
    return merge(*(index.scan_files() for index in indexes), key=_version)


def version_files(diff: VersionDiff) -> Iterator[ScanFile]:
    """Yield everything that is read for one version."""
    return feed_files(file_indexes((diff,)))


def _version(file: ScanFile) -> int:
    return file.version


def added_scan_files(diff: VersionDiff) -> Iterator[ScanFile]:
    """Yield the files of a version with the rows that it inserted or restored."""
    if not (diff.added or diff.vector_changes):
        return
    change = Change(INSERT, diff.version, diff.timestamp_ms)
    for add in diff.added:
        yield _data_file(add, change, _live(add.deletion_vector))
    for changed in diff.vector_changes:
        if _marks_rows(changed.before):
            rows = RowSelection(within=changed.before, without=_marks_rows(changed.after))
            yield _file_of(changed, change, rows)


def removed_scan_files(diff: VersionDiff) -> Iterator[ScanFile]:
    """Yield the files of a version with the rows that it deleted."""
    if not (diff.removed or diff.vector_changes):
        return
    change = Change(DELETE, diff.version, diff.timestamp_ms)
    for remove in diff.removed:
        yield _removed_file(remove, change, _live(remove.deletion_vector))
    for changed in diff.vector_changes:
        if _marks_rows(changed.after):
            rows = RowSelection(within=changed.after, without=_marks_rows(changed.before))
            yield _file_of(changed, change, rows)


def change_scan_files(diff: VersionDiff) -> Iterator[ScanFile]:
    """Yield the change files of a version."""
    change = Change(None, diff.version, diff.timestamp_ms)
    for file in diff.change_files:
        yield _change_file(file, change)


def _live(vector: DeletionVectorDescriptor | None) -> RowSelection:
    return RowSelection(without=vector) if _marks_rows(vector) else ALL_ROWS


def _marks_rows(vector: DeletionVectorDescriptor | None) -> DeletionVectorDescriptor | None:
    return None if vector is None or vector.is_empty else vector


def _data_file(add: AddFile, change: Change, rows: RowSelection) -> ScanFile:
    return ScanFile(
        path=decode_path(add.path),
        size=add.size,
        modification_time=add.modification_time,
        partition_values=add.partition_values,
        version=change.version,
        rows=rows,
        stats=add.stats,
        change=change,
    )


def _file_of(changed: VectorChange, change: Change, rows: RowSelection) -> ScanFile:
    """Return a file of which rows in a vector are read.

    Statistics of a file with a vector describe its live rows, and these rows may be others, so
    nothing but the number of rows is kept of them.
    """
    file = _data_file(changed.add, change, rows)
    count = file.num_records
    return replace(file, stats=None if count is None else f'{{"numRecords":{count}}}')


def _removed_file(remove: RemoveFile, change: Change, rows: RowSelection) -> ScanFile:
    return ScanFile(
        path=decode_path(remove.path),
        size=remove.size or 0,
        modification_time=0,
        partition_values=remove.partition_values or {},
        version=change.version,
        rows=rows,
        stats=remove.stats,
        change=change,
    )


def _change_file(file: AddCDCFile, change: Change) -> ScanFile:
    return ScanFile(
        path=decode_path(file.path),
        size=file.size,
        modification_time=0,
        partition_values=file.partition_values,
        version=change.version,
        change=change,
    )


def _moment(timestamp_ms: int | None) -> datetime | None:
    return None if timestamp_ms is None else _EPOCH + timedelta(milliseconds=timestamp_ms)
