"""The times of versions whose commits do not record one: file times, made monotonic.

A commit file that is not newer than the one before it counts as one millisecond newer. So a time
depends on all earlier commits, and all readers must start at the same commit to get the same
time: the first one that the log still has.

    times of the files        5000  4000  4000  9000
    times of the versions     5000  5001  5002  9000
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple
from weakref import WeakKeyDictionary

from truckee.errors.log import LogFileNotFoundError
from truckee.log.log_files import is_remote
from truckee.log.segment import list_commits
from truckee.protocol.paths import commit_path
from truckee.storage.base import FileInfo, Storage


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
