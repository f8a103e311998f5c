"""Versions by timestamp, timestamps by version, and the history of a table.

The commit itself shows whether it has an in-commit timestamp, so no snapshot is needed. Once
enabled, all later commits have one, so a binary search finds where they start. Earlier commits use
the times of their files, made monotonic.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from typing import Any

import msgspec
from msgspec import Struct

from truckee.errors.log import (
    CorruptLogFileError,
    NoCommitsFoundError,
    TimestampTooEarlyError,
    TimestampTooLateError,
    TruncatedLogError,
)
from truckee.log.files.absent_table import absent_table
from truckee.log.files.commits import CommitFile, FileTimes, commit_files, monotonic
from truckee.log.files.log_files import read_commit_info
from truckee.log.files.segment import LogListing, last_checkpoint_version, list_commits, list_log
from truckee.protocol.json_text import LAST_MOMENT_MS
from truckee.storage.base import FileInfo, Storage


class HistoryEntry(Struct, frozen=True, kw_only=True):
    """One commit as `DESCRIBE HISTORY` shows it; None for what the commit does not record."""

    version: int
    timestamp_ms: int
    user_id: str | None = None
    user_name: str | None = None
    operation: str | None = None
    operation_parameters: Mapping[str, str | None] | None = None
    job: Mapping[str, Any] | None = None
    notebook: Mapping[str, Any] | None = None
    cluster_id: str | None = None
    read_version: int | None = None
    isolation_level: str | None = None
    is_blind_append: bool | None = None
    operation_metrics: Mapping[str, str | None] | None = None
    user_metadata: str | None = None
    engine_info: str | None = None


def history(storage: Storage, limit: int | None = None) -> list[HistoryEntry]:
    """Return the history, newest first: the last `limit` commits, or all that still exist.

    A missing commit is skipped.
    """
    times = FileTimes(storage)
    commits = _last_commits(storage, limit)
    return [_entry(storage, version, file, times) for version, file in reversed(commits)]


def _last_commits(storage: Storage, limit: int | None) -> Sequence[tuple[int, FileInfo]]:
    start = 0
    if limit is not None:
        start = max(0, (last_checkpoint_version(storage) or 0) - limit)
    commits = list(list_commits(storage, start).items())
    if start and not commits:
        commits = list(list_commits(storage, 0).items())
    if not commits:
        latest_version(storage)
    return commits if limit is None else commits[max(0, len(commits) - limit) :]


def _entry(storage: Storage, version: int, file: FileInfo, times: FileTimes) -> HistoryEntry:
    info = read_commit_info(storage, file.path) or {}
    recorded = _recorded_ms(storage, file, info)
    return HistoryEntry(
        version=version,
        timestamp_ms=times.at(version) if recorded is None else recorded,
        user_id=_text(info.get("userId")),
        user_name=_text(info.get("userName")),
        operation=_text(info.get("operation")),
        operation_parameters=_texts(info.get("operationParameters")),
        job=_mapping(info.get("job")),
        notebook=_mapping(info.get("notebook")),
        cluster_id=_text(info.get("clusterId")),
        read_version=_number(info.get("readVersion")),
        isolation_level=_text(info.get("isolationLevel")),
        is_blind_append=_flag(info.get("isBlindAppend")),
        operation_metrics=_texts(info.get("operationMetrics")),
        user_metadata=_text(info.get("userMetadata")),
        engine_info=_text(info.get("engineInfo")),
    )


def _text(value: Any) -> str | None:
    if value is None or isinstance(value, str):
        return value
    return msgspec.json.encode(value).decode()


def _texts(value: Any) -> Mapping[str, str | None] | None:
    return {k: _text(v) for k, v in value.items()} if isinstance(value, dict) else None


def _mapping(value: Any) -> Mapping[str, Any] | None:
    return value if isinstance(value, dict) else None


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def _flag(value: Any) -> bool | None:
    return value if isinstance(value, bool) else None


def latest_version(storage: Storage) -> int:
    """Return the newest version; `NotADeltaTableError` if there is none."""
    latest = list_log(storage, last_checkpoint_version(storage) or 0).latest
    if latest is None:
        latest = list_log(storage, 0).latest
    if latest is None:
        raise absent_table(storage)
    return latest


def earliest_version(storage: Storage) -> int:
    """Return the oldest version whose commit still exists.

    It is one past the latest version if only a checkpoint is left.
    """
    listing = list_log(storage, 0)
    if listing.latest is None:
        raise absent_table(storage)
    return min(listing.commits, default=listing.latest + 1)


def commit_timestamps(storage: Storage, start: int, end: int) -> dict[int, int]:
    """Return the timestamps in milliseconds of the commits `start..end`, both included."""
    times = FileTimes(storage)
    found: dict[int, int] = {}
    for version, file in commit_files(storage, start, end).items():
        recorded = _in_commit_timestamp(storage, file)
        found[version] = times.at(version) if recorded is None else recorded
    return found


def version_as_of(storage: Storage, timestamp_ms: int) -> int:
    """Return the latest version that was committed at or before a time.

    Only versions whose state can still be rebuilt count. Raises `TimestampTooEarlyError` and
    `TimestampTooLateError`.
    """
    listing = list_log(storage, 0)
    line = _Timeline(storage, _readable_commits(storage, listing))
    last = len(line.commits) - 1
    found = line.count_until(timestamp_ms) - 1
    if found < 0:
        raise TimestampTooEarlyError(
            table=storage.root,
            timestamp_ms=timestamp_ms,
            earliest_ms=line.at(0),
            earliest=line.commits[0].version,
        )
    if found == last and timestamp_ms > line.at(last):
        raise TimestampTooLateError(
            table=storage.root,
            timestamp_ms=timestamp_ms,
            latest_ms=line.at(last),
            latest=line.commits[last].version,
        )
    return line.commits[found].version


def version_at_or_after(storage: Storage, timestamp_ms: int) -> int | None:
    """Return the first version that was committed at or after a time, None if there is none yet."""
    commits = monotonic(list_log(storage, 0).commits)
    if not commits:
        raise NoCommitsFoundError(table=storage.root)
    line = _Timeline(storage, commits)
    found = line.count_before(timestamp_ms)
    return commits[found].version if found < len(commits) else None


def _readable_commits(storage: Storage, listing: LogListing) -> list[CommitFile]:
    earliest = listing.earliest_readable
    if not listing.commits:
        latest_version(storage)
        raise NoCommitsFoundError(table=storage.root)
    if earliest is None:
        raise TruncatedLogError(table=storage.root, first=min(listing.commits))
    readable = [commit for commit in monotonic(listing.commits) if commit.version >= earliest]
    if not readable:
        raise NoCommitsFoundError(table=storage.root)
    return readable


class _Timeline:
    """Commits in order, for searches by time. `recorded` is the first with its own timestamp."""

    def __init__(self, storage: Storage, commits: Sequence[CommitFile]) -> None:
        self.storage = storage
        self.commits = commits
        self._known: dict[int, int | None] = {}
        places = range(len(commits))
        self.recorded = len(commits)
        if self._recorded_at(len(commits) - 1) is not None:
            self.recorded = bisect_left(
                places, True, key=lambda place: self._recorded_at(place) is not None
            )

    def at(self, place: int) -> int:
        """Return the timestamp of the commit at an index."""
        if place >= self.recorded:
            recorded = self._recorded_at(place)
            if recorded is not None:
                return recorded
        return self.commits[place].timestamp_ms

    def count_until(self, timestamp_ms: int) -> int:
        """Return the number of commits at or before a time."""
        part = self._part(timestamp_ms)
        return part.start + bisect_right(part, timestamp_ms, key=self.at)

    def count_before(self, timestamp_ms: int) -> int:
        """Return the number of commits before a time."""
        part = self._part(timestamp_ms)
        return part.start + bisect_left(part, timestamp_ms, key=self.at)

    def _part(self, timestamp_ms: int) -> range:
        """Return the range to search for a time; the two kinds of time are never compared."""
        if self.recorded < len(self.commits) and timestamp_ms >= self.at(self.recorded):
            return range(self.recorded, len(self.commits))
        return range(self.recorded)

    def _recorded_at(self, place: int) -> int | None:
        if place not in self._known:
            self._known[place] = _in_commit_timestamp(self.storage, self.commits[place].file)
        return self._known[place]


def _in_commit_timestamp(storage: Storage, file: FileInfo) -> int | None:
    return _recorded_ms(storage, file, read_commit_info(storage, file.path) or {})


def _recorded_ms(storage: Storage, file: FileInfo, info: Mapping[str, Any]) -> int | None:
    recorded = _number(info.get("inCommitTimestamp"))
    if recorded is not None and not 0 <= recorded <= LAST_MOMENT_MS:
        reason = f"its inCommitTimestamp is {recorded}, which is not a time"
        raise CorruptLogFileError(table=storage.root, path=file.path, reason=reason)
    return recorded
