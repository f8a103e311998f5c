"""The files of a feed as ScanFiles: added files, removed files and change files.

| index          | `_change_type` | rows                                        |
|----------------|----------------|---------------------------------------------|
| `AddedFiles`   | insert         | live rows of added files, and restored rows |
| `RemovedFiles` | delete         | live rows of removed files, and rows marked |
| `ChangeFiles`  | in the file    | all                                         |

No deletion vector is read here: a ScanFile names the vectors that select its rows.

Some columns are constant in each file. Spark skips files by them exactly, once it has the list of
all files; `matching_files` shortens the list before, by the filters that Python can evaluate, so
that no vectors of skipped files are read.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from heapq import merge

from msgspec.structs import replace

from truckee.changes.columns import CHANGE_TYPE, COMMIT_TIMESTAMP, COMMIT_VERSION, DELETE, INSERT
from truckee.changes.version_diff import VectorChange, VersionDiff
from truckee.errors.protocol import InvalidPartitionValueError
from truckee.protocol.actions import AddCDCFile, AddFile, RemoveFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.partition_values import parse
from truckee.protocol.paths import decode_path
from truckee.protocol.predicates import Predicate, may_be_true
from truckee.protocol.schema import StructField
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import ALL_ROWS, Change, RowSelection, ScanFile

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


@dataclass(frozen=True)
class ChangeFileIndex(ABC):
    """Files of one kind in the commits of a range."""

    diffs: tuple[VersionDiff, ...]

    @abstractmethod
    def scan_files(self) -> Iterator[ScanFile]:
        """Yield the files, in order of version."""


@dataclass(frozen=True)
class AddedFiles(ChangeFileIndex):
    """Files with inserted rows, and files with restored rows."""

    def scan_files(self) -> Iterator[ScanFile]:
        """Yield the files, in order of version."""
        for diff in self.diffs:
            change = Change(INSERT, diff.version, diff.timestamp_ms)
            for add in diff.added:
                yield _data_file(add, change, _live(add.deletion_vector))
            for changed in diff.vector_changes:
                if _marks_rows(changed.before):
                    rows = RowSelection(within=changed.before, without=_marks_rows(changed.after))
                    yield _file_of(changed, change, rows)


@dataclass(frozen=True)
class RemovedFiles(ChangeFileIndex):
    """Files with deleted rows: removed files, and files with rows newly marked as deleted."""

    def scan_files(self) -> Iterator[ScanFile]:
        """Yield the files, in order of version."""
        for diff in self.diffs:
            change = Change(DELETE, diff.version, diff.timestamp_ms)
            for remove in diff.removed:
                yield _removed_file(remove, change, _live(remove.deletion_vector))
            for changed in diff.vector_changes:
                if _marks_rows(changed.after):
                    rows = RowSelection(within=changed.after, without=_marks_rows(changed.before))
                    yield _file_of(changed, change, rows)


@dataclass(frozen=True)
class ChangeFiles(ChangeFileIndex):
    """Change files, whose rows have their type of change in a column."""

    def scan_files(self) -> Iterator[ScanFile]:
        """Yield the files, in order of version."""
        for diff in self.diffs:
            change = Change(None, diff.version, diff.timestamp_ms)
            for file in diff.change_files:
                yield _change_file(file, change)


def feed_files(diffs: Iterable[VersionDiff]) -> Iterator[ScanFile]:
    """Yield what a feed of these versions reads: the files of the three indexes, by version."""
    known = tuple(diffs)
    indexes = (ChangeFiles(known), AddedFiles(known), RemovedFiles(known))
    return merge(*(index.scan_files() for index in indexes), key=_version)


def version_files(diff: VersionDiff) -> Iterator[ScanFile]:
    """Yield everything that is read for one version."""
    return feed_files((diff,))


def _version(file: ScanFile) -> int:
    return file.version


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
    """Return a file of which the rows marked in a vector are read.

    Statistics of a file with a vector describe its live rows, not the marked ones. So only the
    number of rows is kept.
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


def matching_files(
    files: Iterable[ScanFile], predicate: Predicate, table: TableConfiguration, session_zone: str
) -> list[ScanFile]:
    """Return the files that may have rows for which a predicate is true.

    The constants of a file are its partition values, and the type, version and timestamp of its
    change. Files without a change are kept: those of a snapshot are pruned by `scan`.
    """
    fields = {table.stored_name(field): field for field in table.partition_fields}
    return [
        file
        for file in files
        if file.change is None or _may_match(file, file.change, predicate, fields, session_zone)
    ]


def _may_match(
    file: ScanFile,
    change: Change,
    predicate: Predicate,
    fields: Mapping[str, StructField],
    session_zone: str,
) -> bool:
    try:
        values: dict[str, object] = {
            field.name: parse(file.partition_values.get(name), field.type, session_zone)
            for name, field in fields.items()
        }
    except InvalidPartitionValueError:
        return True  # the read of the file will report the bad value
    return may_be_true(predicate, values | _change_values(change))


def _change_values(change: Change) -> dict[str, object]:
    values: dict[str, object] = {COMMIT_VERSION: change.version}
    if change.type is not None:
        values[CHANGE_TYPE] = change.type
    if change.timestamp_ms is not None:
        values[COMMIT_TIMESTAMP] = _EPOCH + timedelta(milliseconds=change.timestamp_ms)
    return values
