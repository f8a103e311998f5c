"""Commits in order, each with its version, its timestamp and its actions.

A commit's timestamp is its in-commit timestamp if it has one, otherwise the time of its file, made
monotonic: a commit file that is not newer than the one before it counts as one millisecond newer.
So a time depends on all earlier commits, and all readers must start at the same commit to get the
same time: the first one that the log still has.

    times of the files        5000  4000  4000  9000
    times of the versions     5000  5001  5002  9000
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import NamedTuple, TypeVar
from weakref import WeakKeyDictionary

from truckee.errors.log import (
    CorruptLogFileError,
    LogFileNotFoundError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)
from truckee.log.files.absent_table import absent_table
from truckee.log.files.log_files import is_remote, read_in_order
from truckee.log.files.segment import list_commits
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
    decode_actions,
)
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.paths import commit_path
from truckee.storage.base import FileInfo, Storage

_T = TypeVar("_T")


@dataclass(frozen=True)
class Commit:
    """One version: what it did, and when."""

    version: int
    timestamp_ms: int
    actions: tuple[Action, ...]

    @cached_property
    def commit_info(self) -> CommitInfo | None:
        """Who wrote this commit, and how."""
        return next(self._of(CommitInfo), None)

    @cached_property
    def metadata(self) -> Metadata | None:
        """The table's new metadata, None if this commit left it alone."""
        return next(self._of(Metadata), None)

    @cached_property
    def protocol(self) -> Protocol | None:
        """The table's new protocol, None if this commit left it alone."""
        return next(self._of(Protocol), None)

    @cached_property
    def adds(self) -> tuple[AddFile, ...]:
        """The data files added."""
        return tuple(self._of(AddFile))

    @cached_property
    def removes(self) -> tuple[RemoveFile, ...]:
        """The data files removed."""
        return tuple(self._of(RemoveFile))

    @cached_property
    def cdc_files(self) -> tuple[AddCDCFile, ...]:
        """The files of change rows."""
        return tuple(self._of(AddCDCFile))

    @cached_property
    def set_transactions(self) -> tuple[SetTransaction, ...]:
        """The transactions that applications recorded."""
        return tuple(self._of(SetTransaction))

    @cached_property
    def domain_metadata(self) -> tuple[DomainMetadata, ...]:
        """The domains set or removed."""
        return tuple(self._of(DomainMetadata))

    def _of(self, kind: type[_T]) -> Iterator[_T]:
        return (action for action in self.actions if isinstance(action, kind))


def read_commit(storage: Storage, version: int) -> Commit:
    """Return one commit; `VersionNotFoundError` if its file does not exist."""
    for commit in read_commits(storage, version, version):
        return commit
    raise _not_found(storage, version)


def read_commits(storage: Storage, start: int, end: int | None = None) -> Iterator[Commit]:
    """Yield the commits `start..end`, both included, up to the latest if there is no end.

    Versions after the latest are ignored, so a start after it yields nothing.
    Raises `VersionNotFoundError` if the log no longer has the commit of `start`, and
    `VersionsNotContiguousError` at a gap, both before the first commit is yielded.
    """
    files = commit_files(storage, start, end)
    yield from commits_of(storage, files)


def commits_of(
    storage: Storage,
    files: Mapping[int, FileInfo],
    time_of: Callable[[int], int] | None = None,
) -> Iterator[Commit]:
    """Yield the commits of files by version, each read when it is needed.

    `time_of` returns the time of a version that does not record it. The default is the time of its
    file, moved forward if an older version has a later one.
    """
    time_of = time_of or FileTimes(storage).at
    contents = read_in_order(storage, [file.path for file in files.values()])
    for (version, file), data in zip(files.items(), contents, strict=True):
        actions = decode_commit(storage, file.path, data)
        yield Commit(version, _timestamp_ms(version, actions, time_of), tuple(actions))


def commit_files(storage: Storage, start: int, end: int | None = None) -> dict[int, FileInfo]:
    """Return the files of the commits `start..end`, both included, that exist, by version.

    Raises like `read_commits`.
    """
    files = list_commits(storage, start, end)
    if files and start not in files:
        raise _not_found(storage, start)
    for before, after in pairwise(files):
        if after != before + 1:
            raise VersionsNotContiguousError(table=storage.root, missing=before + 1, found=after)
    return files


def _timestamp_ms(version: int, actions: Iterable[Action], time_of: Callable[[int], int]) -> int:
    info = next((action for action in actions if isinstance(action, CommitInfo)), None)
    if info is None or info.in_commit_timestamp is None:
        return time_of(version)
    return info.in_commit_timestamp


def _not_found(storage: Storage, version: int) -> Exception:
    commits = list_commits(storage, 0)
    if not commits:
        return absent_table(storage)
    return VersionNotFoundError(
        table=storage.root, version=version, earliest=min(commits), latest=max(commits)
    )


def decode_commit(
    storage: Storage,
    path: str,
    data: bytes,
    decode: Callable[[bytes], list[Action]] = decode_actions,
) -> list[Action]:
    """Return the actions of a commit's bytes; the error names a line that is not an action."""
    try:
        return decode(data)
    except NOT_JSON as error:
        raise _corrupt(storage, path, data, decode) from error


def _corrupt(
    storage: Storage, path: str, data: bytes, decode: Callable[[bytes], list[Action]]
) -> CorruptLogFileError:
    for number, line in enumerate(data.split(b"\n"), 1):
        try:
            decode(line)
        except NOT_JSON as error:
            reason = str(error).replace("$[0]", "$")
            return CorruptLogFileError(table=storage.root, path=path, line=number, reason=reason)
    return CorruptLogFileError(table=storage.root, path=path, reason="it is not in lines of JSON")


class CommitFile(NamedTuple):
    """A commit's file, with its time made monotonic."""

    version: int
    file: FileInfo
    timestamp_ms: int


def monotonic(listed: Mapping[int, FileInfo], previous_ms: int = -1) -> list[CommitFile]:
    """Return commit files with their times, each at least a millisecond after the one before."""
    files: list[CommitFile] = []
    for version, file in listed.items():
        previous_ms = max(file.modified_ms, previous_ms + 1)
        files.append(CommitFile(version, file, previous_ms))
    return files


class FileTimes:
    """The times of a table's versions; the log is listed when the first one is needed.

    Commits with an in-commit timestamp need none, so a feed of such a table costs no listing.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = storage
        self._known: dict[int, int] = {}
        self._last: CommitFile | None = None

    def at(self, version: int) -> int:
        """Return the time of a version in milliseconds; its commit must exist."""
        if version not in self._known:
            self._list(version)
        try:
            return self._known[version]
        except KeyError:
            path = commit_path(version)
            raise LogFileNotFoundError(table=self._storage.root, path=path) from None

    def _list(self, version: int) -> None:
        """List the commits after the last known one, or all of them if that one has changed."""
        last = self._last
        if last is not None and last.version < version:
            listed = list_commits(self._storage, last.version)
            if listed.pop(last.version, None) == last.file:
                self._keep(monotonic(listed, last.timestamp_ms))
                return
        self._known = {}
        self._keep(_timed_files(self._storage, version))

    def _keep(self, files: list[CommitFile]) -> None:
        self._known.update((v, time_ms) for v, _, time_ms in files)
        self._last = files[-1] if files else self._last


# The newest commit with a known time, for each remote table. A stream asks for the times of a few
# new commits again and again, and the listing of a long log takes many requests.
_newest: WeakKeyDictionary[Storage, CommitFile] = WeakKeyDictionary()


def _timed_files(storage: Storage, version: int) -> list[CommitFile]:
    """Return commits with their times: at least those from a version on."""
    if not is_remote(storage):
        return monotonic(list_commits(storage, 0))
    known = _newest.get(storage)
    if known is not None and known.version < version:
        listed = list_commits(storage, known.version)
        if listed.pop(known.version, None) == known.file:
            files = [known, *monotonic(listed, known.timestamp_ms)]
            _newest[storage] = files[-1]
            return files
    files = monotonic(list_commits(storage, 0))
    if files:
        _newest[storage] = files[-1]
    return files
