"""TableStream: a table, or its change feed, as a stream. Both lanes into Spark use it.

It answers two questions: where does the next batch end (`latest_offset`), and what is to be read
between two offsets (`plan`). Asked twice, the first gives the same answer as long as the table does
not change; the second always does.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial

from truckee.changes.changelog.feed_columns import FeedColumns
from truckee.changes.missing_files import missing_file_error
from truckee.changes.read_schema import ReadSchema, feed_schema
from truckee.errors.log import (
    LogFileNotFoundError,
    TruncatedLogError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)
from truckee.errors.stream_schema import SchemaNotSetError
from truckee.errors.streaming import (
    StreamedFeedOffError,
    StreamLogFileNotFoundError,
    TrailingCommitMissingError,
)
from truckee.log.files.commits import Commit
from truckee.log.files.history import latest_version
from truckee.log.files.segment import list_commits
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.feed_shape import FeedSource
from truckee.options.stream import StreamOptions
from truckee.protocol.features import check_readable
from truckee.protocol.schema import StructType
from truckee.rows.changelog import empty_feed
from truckee.rows.plan import Read, RowPlan
from truckee.scan.scan_file import ScanFile
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.streaming.batches import (
    admitted_entries,
    budget,
    check_order,
    first_batch_start,
    last_version_of,
    offset_at,
)
from truckee.streaming.changelog_batches import changelog_batch, stream_columns
from truckee.streaming.commits import StreamCommits
from truckee.streaming.entries import (
    Entry,
    VersionEntries,
    appended_entries,
    change_entries,
    files_between,
    is_passed_over,
)
from truckee.streaming.initial_files import initial_files
from truckee.streaming.offset import BASE, StreamOffset
from truckee.streaming.schema_following import FollowedSchema
from truckee.streaming.schema_guard import check_feed_is_on, check_schema, check_table
from truckee.streaming.schema_log import SchemaLog, check_location, log_location
from truckee.streaming.starting_point import starting_version

_REMEMBERED_ACTIONS = 100_000
OpenStorage = Callable[[str], Storage]


@dataclass(frozen=True, eq=False)
class StreamRead:
    """The schema with which a stream reads its rows, fixed when the user loads it."""

    storage: Storage
    options: StreamOptions
    read: ReadSchema
    open_storage: OpenStorage = open_storage

    @property
    def schema(self) -> StructType:
        """The columns of the stream: those of the table, and for a feed its own three."""
        if self.options.is_changelog:
            return empty_feed(stream_columns(self.storage, self.options, self.read)).schema
        return feed_schema(self.read.schema) if self.options.is_feed else self.read.schema

    def schema_log(self, source_path: str = "") -> SchemaLog | None:
        """Return the schema log that the options ask for, else None."""
        location = self.options.schema_location
        if location is None:
            return None
        folder = log_location(location, self.read.metadata.id, self.options.tracking_id)
        return SchemaLog(self.open_storage(folder), source_path)


def open_stream(
    storage: Storage, options: StreamOptions, open_storage: OpenStorage = open_storage
) -> StreamRead:
    """Return the stream of a table; its schema is the table's current one.

    If there is a schema log with entries, the schema is that of the last one. `open_storage` opens
    the folder of the log. Raises the errors of `load_snapshot`, and `SchemaNotSetError` for a table
    without columns.
    """
    snapshot = load_snapshot(storage)
    if not snapshot.schema.fields:
        raise SchemaNotSetError(table=storage.root)
    read = ReadSchema(snapshot.version, snapshot.configuration)
    opened = StreamRead(storage, options, read, open_storage)
    log = opened.schema_log()
    entry = None if log is None else log.latest()
    return opened if entry is None else replace(opened, read=entry.read)


class TableStream:
    """One run of a stream. `source_path` is its folder in the query's checkpoint, if known."""

    def __init__(self, opened: StreamRead, source_path: str = "") -> None:
        self.storage = opened.storage
        self.options = opened.options
        self.read = opened.read
        self.table_id = opened.read.metadata.id
        self.is_changelog = opened.options.is_changelog
        self._first_version = latest_version(self.storage)
        self._until: int | None = None
        self._has_checked_start = False
        self._commits: dict[int, Commit] = {}
        self._log = StreamCommits(self.storage, fail_on_data_loss=self.options.fail_on_data_loss)
        self._remembered = 0
        self._snapshot_entries: VersionEntries | None = None
        self._has_moved = False
        self._followed = _followed_schema(opened, source_path)

    def initial_offset(self) -> StreamOffset:
        """Return the offset of a stream that has read nothing yet."""
        version = self._starting_version
        if version is not None:
            return StreamOffset(table_id=self.table_id, version=version)
        return StreamOffset(table_id=self.table_id, version=self._first_version, is_initial=True)

    def prepare_for_available_now(self) -> None:
        """From now on, stop at the version that is the latest now."""
        self._until = latest_version(self.storage)

    def latest_offset(
        self, previous: StreamOffset | None, *, is_limited: bool = True
    ) -> StreamOffset | None:
        """Return where the next batch ends: at `previous` if there is nothing new.

        `previous` is None for a stream that has read nothing yet; then the answer is None too if
        there is nothing to read. A batch of a feed ends before a version at which the feed was off,
        and the next one raises `StreamedFeedOffError`.
        """
        start = self.initial_offset() if previous is None else previous
        if self._starts_at_latest and not self._has_moved and start == self.initial_offset():
            # After a restart, the latest version must not be looked up again. So a stream that
            # starts there has an empty batch first, which records the version.
            self._has_moved = True
            return start
        if self._followed is not None and self._followed.is_change_due(start):
            raise self._followed.evolve(self._snapshot(start.version))
        self._check_start(start)
        limits = budget(self.options) if is_limited else None
        entries = admitted_entries(self._versions(start, self._until), start.position, limits)
        last: Entry | None = None
        try:
            for entry in entries:
                last = entry
        except StreamedFeedOffError:
            if last is None:
                raise
        return previous if last is None else offset_at(last, start)

    def plan(self, start: StreamOffset | None, end: StreamOffset) -> list[ScanFile]:
        """Return what to read for the batch from `start`, which is excluded, to `end`.

        Raises if one of its commits cannot be read, `TrailingCommitMissingError` if the last of
        them is gone, and `OffsetWentBackError` for an end before the start.
        """
        start = self._batch_start(start, end)
        if self._is_empty(start, end):
            return []
        check_order(start, end, table=self.storage.root)
        self._check_start(start)
        last = last_version_of(start, end)
        files: list[ScanFile] = []
        seen: int | None = None
        for version in self._versions(start, last):
            is_feed, exclude = self.options.is_feed, self.options.exclude
            files += files_between(version, start, end, is_feed=is_feed, exclude=exclude)
            seen = version.version
        if self.options.fail_on_data_loss and last >= start.version and seen != last:
            raise TrailingCommitMissingError(table=self.storage.root, expected=last, last=seen)
        self._forget_before(end.version)
        return files

    def batch(self, start: StreamOffset | None, end: StreamOffset) -> RowPlan:
        """Return the plan of the batch from `start`, which is excluded, to `end`.

        Raises like `plan`.
        """
        if self.is_changelog:
            return self.changelog_batch(start, end)
        files = self.plan(start, end)
        is_feed = self.options.is_feed
        gone = partial(missing_file_error, self.storage, files, end=end.version)
        return Read(
            storage=self.storage,
            version=end.version,
            table=self.read.configuration,
            files=files,
            is_feed=is_feed,
            label=f"stream up to version {end.version}",
            missing=gone if is_feed else None,
        )

    def changelog_batch(self, start: StreamOffset | None, end: StreamOffset) -> RowPlan:
        """Return the plan of a batch of a feed that is derived, netted or follows its columns.

        Raises like `plan`. A batch has complete commits.
        """
        start = self._batch_start(start, end)
        commits: tuple[Commit, ...] = ()
        initial: VersionEntries | None = None
        if not self._is_empty(start, end):
            check_order(start, end, table=self.storage.root)
            self._check_start(start)
            last = last_version_of(start, end)
            initial = self._entries_of_snapshot(start.version) if start.is_initial else None
            commits = tuple(self._checked_commits(start, last))
            seen = commits[-1].version if commits else start.version if initial else None
            if self.options.fail_on_data_loss and last >= start.version and seen != last:
                raise TrailingCommitMissingError(table=self.storage.root, expected=last, last=seen)
        self._forget_before(end.version)
        frozen = self._shown_columns
        return changelog_batch(
            self.storage, self.options, frozen, commits, initial, start=start, end=end
        )

    def _checked_commits(self, start: StreamOffset, last: int) -> Iterator[Commit]:
        for commit in self._commits_from(start.version + start.is_initial, last):
            self._check_commit(commit, start.version)
            yield commit

    @cached_property
    def _shown_columns(self) -> FeedColumns:
        return stream_columns(self.storage, self.options, self.read)

    def _is_empty(self, start: StreamOffset, end: StreamOffset) -> bool:
        """Return whether there is nothing between two offsets."""
        return start.position == end.position or (
            self._starts_at_latest and start.position > end.position
        )

    def _batch_start(self, start: StreamOffset | None, end: StreamOffset) -> StreamOffset:
        # Only a stream that has read nothing is at the base of a snapshot. After a restart, the end
        # of its first batch tells which snapshot that was.
        if start is None or (start.is_initial and start.index == BASE):
            return first_batch_start(end, self._starting_version)
        return start

    @cached_property
    def _starting_version(self) -> int | None:
        start = self.options.start
        if start is None:
            return None
        if start.is_latest:
            return self._first_version + 1
        return starting_version(self.storage, start, out_of_range=self.options.out_of_range)

    @property
    def _starts_at_latest(self) -> bool:
        return self.options.start is not None and self.options.start.is_latest

    def _versions(self, start: StreamOffset, last: int | None) -> Iterator[VersionEntries]:
        """Yield what the stream sees, from the version of an offset up to a last version."""
        version = start.version
        if start.is_initial:
            yield self._entries_of_snapshot(version)
            version += 1
        for commit in self._commits_from(version, last):
            self._check_commit(commit, start.version)
            yield self._entries_of(commit)

    def _entries_of(self, commit: Commit) -> VersionEntries:
        is_barrier = self._is_barrier(commit)
        if self.options.is_feed:
            return change_entries(commit, is_barrier=is_barrier, is_whole=self.is_changelog)
        is_skipped = is_passed_over(commit, self.options, table=self.storage.root)
        return appended_entries(commit, is_skipped=is_skipped, is_barrier=is_barrier)

    def _is_barrier(self, commit: Commit) -> bool:
        return self._followed is not None and self._followed.is_barrier(commit)

    def _entries_of_snapshot(self, version: int) -> VersionEntries:
        known = self._snapshot_entries
        if known is None or known.version != version:
            snapshot = self._snapshot(version)
            known = self._snapshot_entries = VersionEntries(
                version=version,
                timestamp_ms=snapshot.timestamp_ms,
                files=initial_files(snapshot),
                is_snapshot=True,
            )
        return known

    def _commits_from(self, version: int, last: int | None) -> Iterator[Commit]:
        """Yield commits; those that were read to find the end of the batch are in memory."""
        while version in self._commits and (last is None or version <= last):
            yield self._commits[version]
            version += 1
        if last is not None and version > last:
            return
        for commit in self._log.read(version, last):
            self._remembered += len(commit.actions)
            if self._remembered <= _REMEMBERED_ACTIONS:
                self._commits[commit.version] = commit
            yield commit

    def _forget_before(self, version: int) -> None:
        self._log.forget_before(version)
        self._commits = {v: commit for v, commit in self._commits.items() if v >= version}
        self._remembered = sum(len(commit.actions) for commit in self._commits.values())
        if self._snapshot_entries is not None and self._snapshot_entries.version < version - 1:
            self._snapshot_entries = None

    def _check_start(self, start: StreamOffset) -> None:
        """Check the table at the version where the stream continues, once in a run."""
        if self._has_checked_start:
            return
        version = min(start.version, latest_version(self.storage))
        try:
            snapshot = self._snapshot(version)
        except StreamLogFileNotFoundError:
            # A stream of a table does not need earlier versions. A feed must check that it was on;
            # if the commit itself is gone, reading it raises that error.
            is_there = bool(list_commits(self.storage, version, version))
            if start.is_initial or (self.options.is_feed and is_there):
                raise
        else:
            if self._followed is not None:
                self._followed.begin(snapshot, self.read)
            self._check_metadata(ReadSchema(version, snapshot.configuration), start.version)
        self._has_checked_start = True

    def _check_commit(self, commit: Commit, start: int) -> None:
        if commit.protocol is not None:
            check_readable(commit.protocol, self.storage.root)
        if commit.metadata is not None and not self._is_barrier(commit):
            table = self.read.configuration.after(commit.metadata, commit.protocol)
            self._check_metadata(ReadSchema(commit.version, table), start)

    def _check_metadata(self, data: ReadSchema, start: int) -> None:
        table = self.storage.root
        check_table(self.read, data, table=table)
        if self.options.is_feed and self.options.shape.source is FeedSource.RECORDED:
            check_feed_is_on(self.storage, data, start=start)
        if self._followed is None and self.options.shape.following is None:
            has_start = self.options.start is not None
            check_schema(self.read, data, table=table, has_start=has_start)

    def _snapshot(self, version: int) -> Snapshot:
        try:
            return load_snapshot(self.storage, version)
        except (
            LogFileNotFoundError,
            TruncatedLogError,
            VersionNotFoundError,
            VersionsNotContiguousError,
        ) as error:
            reason = error.sentence().partition("\n")[0]
            raise StreamLogFileNotFoundError(
                table=self.storage.root, version=version, reason=reason
            ) from error


def _followed_schema(opened: StreamRead, source_path: str) -> FollowedSchema | None:
    location, log = opened.options.schema_location, opened.schema_log(source_path)
    if location is None or log is None:
        return None
    if source_path:
        check_location(location, source_path)
    followed = FollowedSchema(log, opened.storage.root)
    followed.check_loaded(opened.read)
    followed.check_allowed(opened.options.allowed)
    return followed
