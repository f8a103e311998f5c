"""Commits in order, each with its version, its timestamp and its actions.

A commit's timestamp is its in-commit timestamp where it has one. Otherwise it is the time of its
file, made monotonic: a file that is not newer than the one before counts as one millisecond
newer. Since that depends on what came before, the files of the 100 versions before the first one
asked for are looked at too.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import NamedTuple

import msgspec

from truckee.errors.log import (
    CorruptLogFileError,
    LogFileNotFoundError,
    NotADeltaTableError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)
from truckee.log.segment import list_commits
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
from truckee.storage.base import FileInfo, Storage

LOOK_BACK = 100
_READ_AHEAD = 32


@dataclass(frozen=True)
class Commit:
    """One version: what it did, and when."""

    version: int
    timestamp_ms: int
    actions: tuple[Action, ...]

    @cached_property
    def commit_info(self) -> CommitInfo | None:
        """Who wrote this commit, and how."""
        return next((a for a in self.actions if isinstance(a, CommitInfo)), None)

    @cached_property
    def metadata(self) -> Metadata | None:
        """The table's new metadata, None if this commit left it alone."""
        return next((a for a in self.actions if isinstance(a, Metadata)), None)

    @cached_property
    def protocol(self) -> Protocol | None:
        """The table's new protocol, None if this commit left it alone."""
        return next((a for a in self.actions if isinstance(a, Protocol)), None)

    @cached_property
    def adds(self) -> tuple[AddFile, ...]:
        """The data files added."""
        return tuple(a for a in self.actions if isinstance(a, AddFile))

    @cached_property
    def removes(self) -> tuple[RemoveFile, ...]:
        """The data files removed."""
        return tuple(a for a in self.actions if isinstance(a, RemoveFile))

    @cached_property
    def cdc_files(self) -> tuple[AddCDCFile, ...]:
        """The files of change rows."""
        return tuple(a for a in self.actions if isinstance(a, AddCDCFile))

    @cached_property
    def set_transactions(self) -> tuple[SetTransaction, ...]:
        """What applications have written up to."""
        return tuple(a for a in self.actions if isinstance(a, SetTransaction))

    @cached_property
    def domain_metadata(self) -> tuple[DomainMetadata, ...]:
        """Domains set or removed."""
        return tuple(a for a in self.actions if isinstance(a, DomainMetadata))


class CommitFile(NamedTuple):
    """A commit's file, with its time made monotonic."""

    version: int
    file: FileInfo
    timestamp_ms: int


def read_commit(storage: Storage, version: int) -> Commit:
    """Return one commit; `VersionNotFoundError` if its file is not there."""
    for commit in read_commits(storage, version, version):
        return commit
    raise _not_found(storage, version)


def read_commits(storage: Storage, start: int, end: int | None = None) -> Iterator[Commit]:
    """Yield the commits `start..end`, both included, up to the latest if there is no end.

    Versions after the latest are left out without a word, so nothing comes of a start after it.
    Raises `VersionNotFoundError` if the log no longer has the commit of `start`, and
    `VersionsNotContiguousError` at a gap, both before the first commit is yielded.
    """
    files = commit_files(storage, start, end)
    contents = read_in_order(storage, (commit.file.path for commit in files))
    for commit, data in zip(files, contents, strict=True):
        actions = decode_commit(storage, commit.file.path, data)
        yield Commit(commit.version, _timestamp_ms(commit, actions), tuple(actions))


def commit_files(storage: Storage, start: int, end: int | None = None) -> list[CommitFile]:
    """Return the files of the commits `start..end` that exist, with monotonic times.

    Raises like `read_commits`.
    """
    listed = list_commits(storage, max(0, start - LOOK_BACK), end)
    wanted: list[CommitFile] = []
    previous = -1
    for version, file in listed.items():
        previous = max(file.modified_ms, previous + 1)
        if version >= start:
            wanted.append(CommitFile(version, file, previous))
    for expected, commit in enumerate(wanted, start):
        if commit.version != expected:
            if expected == start:
                raise _not_found(storage, start)
            raise VersionsNotContiguousError(
                table=storage.root, missing=expected, found=commit.version
            )
    return wanted


def _timestamp_ms(commit: CommitFile, actions: Iterable[Action]) -> int:
    for action in actions:
        if isinstance(action, CommitInfo):
            recorded = action.in_commit_timestamp
            return commit.timestamp_ms if recorded is None else recorded
    return commit.timestamp_ms


def _not_found(storage: Storage, version: int) -> Exception:
    commits = list_commits(storage, 0)
    if not commits:
        return NotADeltaTableError(table=storage.root)
    return VersionNotFoundError(
        table=storage.root, version=version, earliest=min(commits), latest=max(commits)
    )


def decode_commit(storage: Storage, path: str, data: bytes) -> list[Action]:
    """Return the actions of a commit's bytes; a line that is no action names itself."""
    try:
        return decode_actions(data)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise corrupt_lines(storage, path, data) from error


def corrupt_lines(storage: Storage, path: str, data: bytes) -> CorruptLogFileError:
    """Return the error that points at the first line of a file that cannot be decoded."""
    for number, line in enumerate(data.splitlines(), 1):
        try:
            decode_actions(line)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            return CorruptLogFileError(
                table=storage.root, path=path, line=number, reason=str(error)
            )
    return CorruptLogFileError(table=storage.root, path=path, reason="not lines of JSON")


def read_log_file(storage: Storage, path: str) -> bytes:
    """Return the bytes of a file that the log needs, or raise what is wrong with it."""
    try:
        return storage.read(path)
    except FileNotFoundError as error:
        raise LogFileNotFoundError(table=storage.root, path=path) from error


def read_in_order(storage: Storage, paths: Iterable[str]) -> Iterator[bytes]:
    """Yield the bytes of each file. Where a read is a request over a network, some are on the
    way at the same time."""
    if not _is_remote(storage):
        for path in paths:
            yield read_log_file(storage, path)
        return
    remaining = iter(paths)
    with ThreadPoolExecutor(_READ_AHEAD) as pool:
        ahead: deque[Future[bytes]] = deque(
            pool.submit(read_log_file, storage, path) for path in islice(remaining, _READ_AHEAD)
        )
        while ahead:
            data = ahead.popleft().result()
            for path in islice(remaining, 1):
                ahead.append(pool.submit(read_log_file, storage, path))
            yield data


def _is_remote(storage: Storage) -> bool:
    scheme, found, _ = storage.root.partition("://")
    return bool(found) and scheme not in ("file", "memory")
