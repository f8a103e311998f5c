"""From which version on a table and its feed can be read, if some files are gone.

A file that was removed at version r is needed by the versions before r, and by the feed of r,
which shows its rows as deleted. So the newest commit that names a missing file decides:

    version   3          4          5          6
              add a      remove a   add b      remove b, add c
    a gone    table from 4, feed from 5
    b gone    table from 6, feed from 7
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import NamedTuple

from truckee.log.files.commits import Commit, decode_commit
from truckee.log.files.log_files import read_log_file
from truckee.log.files.segment import list_log
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import AddFile, Metadata, RemoveFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import commit_path, encode_path
from truckee.protocol.properties import TableProperties
from truckee.storage.base import Storage

IsGone = Callable[[str], bool]
"""Returns whether a data, change or vector file is gone, by its path in the log."""


class Readable(NamedTuple):
    """The oldest version that can be read, and the oldest whose changes can.

    `feed` is None if the feed is off, and one past the latest version if none of it can be read.
    `lacks_files` says that files are missing, rather than commits.
    """

    table: int
    feed: int | None
    lacks_files: bool = False

    def says(self) -> str:
        """Return the same in words."""
        lost = [f"versions before {self.table}"] if self.table else []
        if self.feed:
            lost.append(f"the feed before {self.feed}")
        if not lost:
            return "every version can be read"
        return f"{' and '.join(lost)} cannot be read"


def readable_from(snapshot: Snapshot, is_gone: IsGone) -> Readable:
    """Return the versions from which a table and its feed can be read if some files are gone.

    Commits are read from the newest to the oldest, and no further than needed.
    """
    storage = snapshot.storage
    listing = list_log(storage, 0)
    oldest = listing.earliest_readable or 0
    table: int | None = None
    lacks_files = False
    feed = _Feed(snapshot, first=max(oldest, min(listing.commits, default=oldest)))
    for commit in newest_first(storage, sorted(listing.commits, reverse=True)):
        if commit.version < oldest or (table is not None and feed.is_known):
            break
        gone = _gone_parts(commit, is_gone)
        lacks_files = lacks_files or gone.removes or gone.shows_changes
        if table is None and gone.removes:
            table = commit.version
        feed.step_back(commit, is_gone=gone.shows_changes)
    first = oldest if table is None else max(table, oldest)
    return Readable(first, feed.start(), lacks_files)


class _Gone(NamedTuple):
    removes: bool
    shows_changes: bool


def _gone_parts(commit: Commit, is_gone: IsGone) -> _Gone:
    """Return whether a commit removed a file that is gone, and whether its feed needs one."""
    removes = any(_needs_gone(remove, is_gone) for remove in commit.removes)
    if commit.cdc_files:
        return _Gone(removes, any(is_gone(file.path) for file in commit.cdc_files))
    changing: Iterable[AddFile | RemoveFile] = chain(commit.adds, commit.removes)
    shows = any(_needs_gone(file, is_gone) for file in changing if file.data_change)
    return _Gone(removes, shows)


def _needs_gone(file: AddFile | RemoveFile, is_gone: IsGone) -> bool:
    return is_gone(file.path) or _is_gone_vector(file.deletion_vector, is_gone)


def _is_gone_vector(vector: DeletionVectorDescriptor | None, is_gone: IsGone) -> bool:
    return vector is not None and vector.is_on_disk and is_gone(encode_path(vector.file_path))


class _Feed:
    """The start of the readable feed, found by going back commit by commit."""

    def __init__(self, snapshot: Snapshot, *, first: int) -> None:
        self._storage = snapshot.storage
        self._first = first
        self._is_on = snapshot.properties.enable_change_data_feed
        self._since: int | None = None
        self._start = snapshot.version + 1
        self.is_known = not self._is_on

    def step_back(self, commit: Commit, *, is_gone: bool) -> None:
        """Go back over one commit, unless the feed ends after it."""
        if self.is_known or commit.version < self._first:
            return
        if is_gone:
            self.is_known = True
            return
        if commit.metadata is not None:
            if not _has_feed(commit.metadata):
                self.is_known = True
                self._start = self._start if self._since is None else self._since
                return
            self._since = commit.version
        self._start = commit.version

    def start(self) -> int | None:
        """Return the oldest version whose changes can be read."""
        if not self._is_on:
            return None
        is_open = not self.is_known and self._since is not None and self._since > self._first
        if is_open and not _has_feed(load_snapshot(self._storage, self._first).metadata):
            return self._since
        return self._start


def _has_feed(metadata: Metadata) -> bool:
    return TableProperties.from_configuration(metadata.configuration).enable_change_data_feed


def newest_first(storage: Storage, versions: Iterable[int]) -> Iterator[Commit]:
    """Yield commits in the order of the versions given; they have no timestamp."""
    for version in versions:
        path = commit_path(version)
        actions = decode_commit(storage, path, read_log_file(storage, path))
        yield Commit(version, 0, tuple(actions))
