"""RowTimelines: every data file of a table's history, and which rows were live at which versions.

One pass over the log finds, for each file, when it was added, which vectors it had, and when it was
removed. A file is then read once for the requested rows, however many versions had it: the vectors
show when each of its rows was live.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import reduce

from msgspec import Struct
from msgspec.structs import replace

from truckee.changes.columns import FEED_FIELDS
from truckee.changes.diff.columns import (
    SideColumns,
    diff_schema,
    side_columns,
    with_held_row_ids,
)
from truckee.changes.diff.snapshot_diff import DiffRead
from truckee.changes.row_identity import BASE_ROW_ID
from truckee.log.files.commits import Commit, read_commits
from truckee.log.files.segment import list_log
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import AddFile, Metadata
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import decode_path
from truckee.protocol.schema import ArrayType, PrimitiveType, StructField, StructType
from truckee.protocol.schema_compatibility import is_wider
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

_STRING = PrimitiveType("string")
HISTORY_FIELDS = (
    *FEED_FIELDS,
    StructField("_operation", _STRING),
    StructField("_user_name", _STRING),
    StructField("_changed_columns", ArrayType(_STRING)),
)
"""The columns of a history about each image of a row."""

FILE_NUMBER = "__truckee_file_number"
"""The number of a row's file, a constant of all its rows."""

_LONG = PrimitiveType("long")


class FileState(Struct, frozen=True):
    """The state of a file from a version on: removed, or in the table with a vector."""

    version: int
    is_there: bool
    vector: DeletionVectorDescriptor | None = None


class FileTimeline(Struct, frozen=True):
    """A data file and its states, oldest first."""

    file: ScanFile
    states: list[FileState]


class CommitNote(Struct, frozen=True):
    """When a version was committed, by whom, and by which operation."""

    timestamp_ms: int | None
    operation: str | None
    user_name: str | None


@dataclass(frozen=True, eq=False, kw_only=True)
class RowTimelines:
    """The files of the versions `first..newest`. Their numbers are the constant `FILE_NUMBER`.

    `schema` has the columns of the newest version; `reads` find them in all files. With
    `has_row_ids`, their schemas have the columns for row ids.
    """

    newest: Snapshot
    first: int
    schema: StructType
    timelines: tuple[FileTimeline, ...]
    reads: tuple[DiffRead, ...]
    notes: Mapping[int, CommitNote]
    has_row_ids: bool

    @property
    def history_schema(self) -> StructType:
        """The columns of a history: the table's, and those about each image."""
        return StructType((*self.schema.fields, *HISTORY_FIELDS))


def row_timelines(storage: Storage, first: int | None = None) -> RowTimelines:
    """Return the files of all versions from `first` on, else from the first that can be read.

    Raises the errors of `load_snapshot` and `read_commits`, and `DiffSchemaError` if a column had a
    type that cannot be read as its current one.
    """
    newest = load_snapshot(storage)
    start = _first_version(storage, newest) if first is None else first
    before = newest if start == newest.version else load_snapshot(storage, start)
    log = _Log(before, newest)
    for commit in _commits(storage, start):
        log.fold(commit)
    return log.timelines()


def file_number(file: ScanFile) -> int:
    """Return the number of a file of a read."""
    return int(file.partition_values[FILE_NUMBER] or 0)


def _first_version(storage: Storage, newest: Snapshot) -> int:
    earliest = list_log(storage, 0).earliest_readable
    return newest.version if earliest is None else earliest


def _commits(storage: Storage, start: int) -> Iterator[Commit]:
    """Yield the commits from a version on; the commit of that version itself may be gone."""
    listing = list_log(storage, 0)
    first = start if start in listing.commits else start + 1
    if first in listing.commits:
        yield from read_commits(storage, first)


class _Log:
    """The timelines of files while commits are folded into them."""

    def __init__(self, before: Snapshot, newest: Snapshot) -> None:
        self._before, self._newest = before, newest
        self._eras = [before]
        self._files: dict[str, FileTimeline] = {}
        self._era_of: dict[str, int] = {}
        self._notes: dict[int, CommitNote] = {}
        for add in before.files():
            self._add(add, before.version)

    def fold(self, commit: Commit) -> None:
        info = commit.commit_info
        self._notes[commit.version] = CommitNote(
            commit.timestamp_ms,
            None if info is None else info.operation,
            None if info is None or info.user_name is None else str(info.user_name),
        )
        if commit.version <= self._before.version:
            return
        if commit.metadata is not None and not _is_read_alike(commit.metadata, self._eras[-1]):
            self._eras.append(load_snapshot(self._newest.storage, commit.version))
        added = {decode_path(add.path) for add in commit.adds}
        for remove in commit.removes:
            path = decode_path(remove.path)
            if path not in added and path in self._files:
                self._files[path].states.append(FileState(commit.version, False))
        for add in commit.adds:
            self._add(add, commit.version)

    def _add(self, add: AddFile, version: int) -> None:
        path = decode_path(add.path)
        state = FileState(version, True, add.deletion_vector)
        if path in self._files:
            self._files[path].states.append(state)
            return
        self._era_of[path] = len(self._eras) - 1
        self._files[path] = FileTimeline(_whole_file(add, path, version), [state])

    def timelines(self) -> RowTimelines:
        """Return the timelines of all files."""
        newest = self._newest
        used = sorted(set(self._era_of.values()))
        merged = [diff_schema(newest, self._eras[era]) for era in used]
        schema = reduce(_wider, merged, diff_schema(newest, newest))
        files = list(self._files.values())
        ids = self._has_row_ids(used)
        members: dict[int, list[ScanFile]] = {}
        for number, timeline in enumerate(files):
            values = {**timeline.file.partition_values, FILE_NUMBER: str(number)}
            file = replace(timeline.file, partition_values=values)
            members.setdefault(self._era_of[file.path], []).append(file)
        return RowTimelines(
            newest=newest,
            first=self._before.version,
            schema=schema,
            timelines=tuple(files),
            reads=tuple(
                DiffRead(
                    newest.storage,
                    newest.version,
                    _columns(schema, newest, self._eras[era], ids),
                    tuple(of_era),
                )
                for era, of_era in members.items()
            ),
            notes=self._notes,
            has_row_ids=ids,
        )

    def _has_row_ids(self, eras: Iterable[int]) -> bool:
        snapshots = [self._newest, *(self._eras[era] for era in eras)]
        names = {at.properties.materialized_row_id_column_name for at in snapshots}
        return (
            all(at.properties.enable_row_tracking for at in snapshots)
            and len(names) == 1
            and None not in names
            and all(BASE_ROW_ID in f.file.partition_values for f in self._files.values())
        )


def _is_read_alike(metadata: Metadata, era: Snapshot) -> bool:
    """Return whether files are read as those of an era; other metadata may differ."""
    known = era.metadata
    tracking = "delta.rowTracking", "delta.enableRowTracking", "delta.columnMapping.mode"
    one, other = (
        {key: value for key, value in of.configuration.items() if key.startswith(tracking)}
        for of in (metadata, known)
    )
    return (
        metadata.schema_string == known.schema_string
        and list(metadata.partition_columns) == list(known.partition_columns)
        and one == other
    )


def _whole_file(add: AddFile, path: str, version: int) -> ScanFile:
    """Return a file of which all rows are read.

    Statistics that describe only its live rows are dropped.
    """
    stats = add.stats
    if add.deletion_vector is not None and '"tightBounds":false' not in (stats or ""):
        stats = None
    ids = {} if add.base_row_id is None else with_held_row_ids(add)
    return ScanFile(
        path=path,
        size=add.size,
        modification_time=add.modification_time,
        partition_values={**add.partition_values, **ids},
        version=version,
        stats=stats,
    )


def _columns(schema: StructType, newest: Snapshot, at: Snapshot, ids: bool) -> SideColumns:
    columns = side_columns(schema, newest, at, row_ids=ids)
    number = StructField(FILE_NUMBER, _LONG)
    return replace(
        columns,
        schema=StructType((*columns.schema.fields, number)),
        partition_columns=(*columns.partition_columns, FILE_NUMBER),
    )


def _wider(one: StructType, other: StructType) -> StructType:
    fields = zip(one.fields, other.fields, strict=True)
    return StructType(tuple(b if is_wider(a.type, b.type) else a for a, b in fields))
