"""Batches of a feed that is derived, netted or follows its columns.

A batch has complete commits. It is compared and netted on its own and emitted immediately, so there
is no state and no watermark. The columns are those that the stream was loaded with. A column that
is renamed later keeps its old name, and one that is added later is shown after a restart.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace

from truckee.changes.changelog.column_history import column_history
from truckee.changes.changelog.feed_columns import FeedColumns
from truckee.changes.changelog.feed_files import CommitRange, is_same_schema
from truckee.changes.read_schema import ReadSchema
from truckee.changes.version_diff import VersionDiff
from truckee.log.files.commits import Commit
from truckee.log.snapshot import load_snapshot
from truckee.options.feed_shape import ColumnFollowing, FeedSource
from truckee.options.stream import StreamOptions
from truckee.protocol.actions import AddCDCFile, AddFile, RemoveFile
from truckee.rows.changelog import changelog_plan, empty_feed, keys_of
from truckee.rows.feed import frozen_eras, metadata_versions, snapshot_before
from truckee.rows.plan import RowPlan
from truckee.storage.base import Storage
from truckee.streaming.entries import VersionEntries, entries_between
from truckee.streaming.offset import StreamOffset
from truckee.streaming.starting_point import starting_version


def stream_columns(storage: Storage, options: StreamOptions, read: ReadSchema) -> FeedColumns:
    """Return the columns that a stream is loaded with.

    Raises `ColumnNotFoundError` for keys that the stream does not have.
    """
    eras = [read]
    start = options.start
    if options.shape.following is ColumnFollowing.SUPERSET and start and not start.is_latest:
        first = starting_version(storage, start, out_of_range=options.out_of_range)
        eras = frozen_eras(storage, first, read)
    columns = FeedColumns(options.shape, column_history(eras))
    keys_of(columns)
    return columns


def changelog_batch(
    storage: Storage,
    options: StreamOptions,
    frozen: FeedColumns,
    commits: Sequence[Commit],
    initial: VersionEntries | None,
    *,
    start: StreamOffset,
    end: StreamOffset,
) -> RowPlan:
    """Return the plan of the commits of a batch, and of files of an initial snapshot.

    `frozen` are the columns that are shown.
    """
    files = _initial_files(initial, start, end)
    if not commits and files is None:
        return empty_feed(frozen)
    kept = tuple(_without(commit, options.exclude) for commit in commits)
    planned = _range(storage, options, kept, files)
    eras = list(frozen.history.eras)
    if options.shape.following is not None:
        eras = [*(era for era in planned.eras() if not _is_known(era, eras)), *eras]
    last = max([commit.version for commit in commits], default=planned.start)
    columns = FeedColumns(options.shape, column_history(eras), frozenset(frozen.schema.names))
    versions: tuple[int, ...] = ()
    if options.shape.schema_version:
        versions = metadata_versions(storage, planned.start, last)
    return changelog_plan(planned, columns, end=last, schema_versions=versions)


def _is_known(era: ReadSchema, known: Sequence[ReadSchema]) -> bool:
    return any(is_same_schema(era.configuration, other) for other in known)


def _range(
    storage: Storage,
    options: StreamOptions,
    commits: tuple[Commit, ...],
    initial: VersionDiff | None,
) -> CommitRange:
    shape = options.shape
    needs_past = shape.following is not None or shape.source is not FeedSource.RECORDED
    if initial is not None:
        before = load_snapshot(storage, initial.version)
    else:
        first = commits[0].version
        before_first = snapshot_before(storage, first) if needs_past else None
        before = before_first or load_snapshot(storage, first)
        if before_first is None:
            return CommitRange(storage=storage, commits=commits, table=before.configuration)
    return CommitRange(
        storage=storage,
        commits=commits,
        table=before.configuration,
        before=before if needs_past else None,
        initial=initial,
    )


def _initial_files(
    found: VersionEntries | None, start: StreamOffset, end: StreamOffset
) -> VersionDiff | None:
    """Return the files of an initial snapshot that a batch reads, None if there are none."""
    if found is None:
        return None
    entries = entries_between(found, start.position, end.position)
    added = tuple(entry.file for entry in entries if isinstance(entry.file, AddFile))
    if not added:
        return None
    return VersionDiff(version=found.version, timestamp_ms=found.timestamp_ms, added=added)


def _without(commit: Commit, exclude: str | None) -> Commit:
    """Return a commit without the files whose paths match a pattern."""
    if exclude is None:
        return commit
    pattern = re.compile(exclude)
    kept = tuple(
        action
        for action in commit.actions
        if not isinstance(action, AddFile | RemoveFile | AddCDCFile)
        or not pattern.search(action.path)
    )
    return replace(commit, actions=kept)
