"""The table as a stream sees it: entries in a row, each with a version and an index.

    (v, BASE)  [ (v, METADATA_CHANGE) (v, POST_METADATA_CHANGE) ]  (v, 0) (v, 1) ...  (v, END)

The entries at both ends carry no file, so that a version without any still moves the stream on.
Indexes are positions in a list that is the same whenever it is made: what may differ from one run
to the next (limits, `excludeRegex`) is applied to numbered entries.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import Enum

from msgspec import Struct

from truckee.changes.version_diff import is_merge_without_effect
from truckee.log.commits import Commit
from truckee.protocol.actions import AddCDCFile, AddFile, RemoveFile
from truckee.streaming.offset import BASE, END, METADATA_CHANGE, POST_METADATA_CHANGE, Position

StreamedAction = AddFile | RemoveFile | AddCDCFile


class Admission(Enum):
    """How the entries of a version come into a batch."""

    ONE_BY_ONE = "one by one"
    CHANGE_FILES = "all of them, without the ends"
    WHOLE = "all of them, with the ends"


class VersionEntries(Struct, frozen=True, kw_only=True):
    """The entries of one version, or of the snapshot that a stream begins with.

    `is_hidden` numbers the files and never shows them. `is_barrier` says that the metadata
    changed, and that the stream follows such changes by a schema log.
    """

    version: int
    timestamp_ms: int | None = None
    files: Sequence[StreamedAction] = ()
    is_snapshot: bool = False
    admission: Admission = Admission.ONE_BY_ONE
    is_hidden: bool = False
    is_barrier: bool = False


class Entry(Struct, frozen=True):
    """One step of a stream; `file` is None for those that only mark a place."""

    version: int
    index: int
    file: StreamedAction | None = None

    @property
    def position(self) -> Position:
        """Where the entry stands in the order of the stream."""
        return self.version, self.index

    @property
    def size(self) -> int | None:
        """The bytes of the file, 0 where a tombstone does not tell; None if there is no file."""
        return None if self.file is None else self.file.size or 0


def entries_between(
    found: VersionEntries, after: Position, until: Position | None = None
) -> Iterator[Entry]:
    """Yield the entries of a version behind one position, up to and including another."""
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

    Its change files, if it has any, and else its adds and removes in the order of the log, with
    one numbering for both. The rows before and after an update lie in change files, and those that
    a vector marks in an add and a remove, so neither are parted. With `is_whole`, no commit is.
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
