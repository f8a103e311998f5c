"""The table as a stream sees it: a sequence of entries, each with a version and an index.

    (v, BASE)  [ (v, METADATA_CHANGE) (v, POST_METADATA_CHANGE) ]  (v, 0) (v, 1) ...  (v, END)

The first and last entry of a version have no file, so a version without files still advances the
stream. Indexes are positions in a list that is the same in every run: what may differ between runs
(limits, `excludeRegex`) is applied after numbering.

How a stream of a table treats a commit that did more than append:

| the commit has      | nothing set | ignoreDeletes | ignoreChanges | skipChangeCommits |
|---------------------|-------------|---------------|---------------|-------------------|
| adds only           | read        | read          | read          | read              |
| removes only        | refused     | skipped       | skipped       | skipped           |
| removes and adds    | refused     | refused       | adds are read | skipped           |

Actions with `dataChange` false only move rows, so they do not count.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct
from msgspec.structs import replace

from truckee.changes.file_index import version_files
from truckee.changes.version_diff import VersionDiff, is_merge_without_effect, version_diff
from truckee.errors.streaming import SourceRowsChangedError, SourceRowsDeletedError
from truckee.log.files.commits import Commit
from truckee.options.stream import StreamOptions
from truckee.protocol.actions import AddCDCFile, AddFile, RemoveFile
from truckee.scan.scan_file import ScanFile
from truckee.streaming.offset import (
    BASE,
    END,
    METADATA_CHANGE,
    POST_METADATA_CHANGE,
    Position,
    StreamOffset,
)

StreamedAction = AddFile | RemoveFile | AddCDCFile


class Admission(Enum):
    """How the entries of a version come into a batch."""

    ONE_BY_ONE = "one by one"
    CHANGE_FILES = "all of them, without the ends"
    WHOLE = "all of them, with the ends"


class VersionEntries(Struct, frozen=True, kw_only=True):
    """The entries of one version, or of the snapshot that a stream begins with.

    With `is_hidden`, files are numbered but never shown. `is_barrier` says that the metadata
    changed, and that the stream follows such changes with a schema log.
    """

    version: int
    timestamp_ms: int | None = None
    files: Sequence[StreamedAction] = ()
    is_snapshot: bool = False
    admission: Admission = Admission.ONE_BY_ONE
    is_hidden: bool = False
    is_barrier: bool = False


class Entry(Struct, frozen=True):
    """One step of a stream; `file` is None for entries that only mark a position."""

    version: int
    index: int
    file: StreamedAction | None = None

    @property
    def position(self) -> Position:
        """The position of the entry in the stream."""
        return self.version, self.index

    @property
    def size(self) -> int | None:
        """The size of the file in bytes, 0 for a tombstone without it; None without a file."""
        return None if self.file is None else self.file.size or 0


def entries_between(
    found: VersionEntries, after: Position, until: Position | None = None
) -> Iterator[Entry]:
    """Yield the entries of a version after one position, up to and including another."""
    first = after[1] + 1 if after[0] == found.version else BASE
    for entry in _entries(found, max(0, first)):
        if until is not None and entry.position > until:
            return
        if entry.position > after:
            yield entry


def _entries(found: VersionEntries, first_file: int) -> Iterator[Entry]:
    version = found.version
    yield Entry(version, BASE)
    if found.is_barrier:
        yield Entry(version, METADATA_CHANGE)
        yield Entry(version, POST_METADATA_CHANGE)
    if not found.is_hidden:
        for index, file in enumerate(found.files[first_file:], first_file):
            yield Entry(version, index, file)
    yield Entry(version, END)


def appended_entries(
    commit: Commit, *, is_skipped: bool = False, is_barrier: bool = False
) -> VersionEntries:
    """Return a commit as a plain stream sees it: the files whose rows are new."""
    files = () if is_skipped else tuple(add for add in commit.adds if add.data_change)
    return VersionEntries(
        version=commit.version,
        timestamp_ms=commit.timestamp_ms,
        files=files,
        is_barrier=is_barrier,
    )


def change_entries(
    commit: Commit, *, is_barrier: bool = False, is_whole: bool = False
) -> VersionEntries:
    """Return a commit as a stream of the feed sees it.

    These are its change files if it has any, else its adds and removes in the order of the log,
    with one numbering for both. Both images of an update are in change files, and rows that a
    vector marks are in an add and a remove, so a batch never separates these. With `is_whole`, no
    commit is split.
    """
    version = commit.version
    if is_whole:
        return VersionEntries(
            version=version,
            timestamp_ms=commit.timestamp_ms,
            files=tuple(a for a in commit.actions if isinstance(a, StreamedAction)),
            admission=Admission.WHOLE,
            is_barrier=is_barrier,
        )
    if commit.cdc_files:
        return VersionEntries(
            version=version,
            timestamp_ms=commit.timestamp_ms,
            files=commit.cdc_files,
            admission=Admission.CHANGE_FILES,
            is_barrier=is_barrier,
        )
    files = tuple(
        action
        for action in commit.actions
        if isinstance(action, AddFile | RemoveFile) and action.data_change
    )
    has_vectors = any(file.deletion_vector is not None for file in files)
    return VersionEntries(
        version=version,
        timestamp_ms=commit.timestamp_ms,
        files=files,
        admission=Admission.WHOLE if has_vectors else Admission.ONE_BY_ONE,
        is_hidden=is_merge_without_effect(commit.commit_info),
        is_barrier=is_barrier,
    )


def is_passed_over(commit: Commit, options: StreamOptions, *, table: str) -> bool:
    """Return whether a stream of a table skips a commit.

    Raises `SourceRowsChangedError` or `SourceRowsDeletedError` if it may not be read at all.
    """
    removed = next((remove for remove in commit.removes if remove.data_change), None)
    if removed is None:
        return False
    if options.skip_change_commits:
        return True
    if options.ignore_changes:
        return False
    info = commit.commit_info
    change = removed.path if info is None or info.operation is None else info.operation
    if any(add.data_change for add in commit.adds):
        raise SourceRowsChangedError(table=table, version=commit.version, change=change)
    if not options.ignore_deletes:
        raise SourceRowsDeletedError(table=table, version=commit.version, change=change)
    return False


def files_between(
    version: VersionEntries,
    start: StreamOffset,
    end: StreamOffset,
    *,
    is_feed: bool,
    exclude: str | None = None,
) -> Iterator[ScanFile]:
    """Yield what to read of a version for the batch from `start`, which is excluded, to `end`.

    Files whose path, as spelled in the log, matches `exclude` are left out.
    """
    left_out = None if exclude is None else re.compile(exclude)
    files = tuple(
        entry.file
        for entry in entries_between(version, start.position, end.position)
        if entry.file is not None and not (left_out and left_out.search(entry.file.path))
    )
    for file in version_files(_diff(version, files, is_feed)):
        yield file if is_feed else replace(file, change=None)


def _diff(version: VersionEntries, files: tuple[StreamedAction, ...], is_feed: bool) -> VersionDiff:
    if is_feed and not version.is_snapshot:
        # A MERGE without effect has no files, so its commitInfo is not needed here.
        return version_diff(Commit(version.version, version.timestamp_ms or 0, files))
    added = tuple(file for file in files if isinstance(file, AddFile))
    return VersionDiff(version=version.version, timestamp_ms=version.timestamp_ms, added=added)
