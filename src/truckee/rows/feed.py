"""The plan of the feed that options ask for: as it was recorded, or worked out from its commits."""

from __future__ import annotations

from truckee.changes.changelog.column_history import column_history
from truckee.changes.changelog.feed_columns import FeedColumns
from truckee.changes.changelog.feed_files import CommitRange
from truckee.changes.plan import ChangeFeed, open_feed
from truckee.changes.range_diffs import range_commits
from truckee.changes.read_schema import ReadSchema
from truckee.changes.version_range import VersionRange
from truckee.errors.log import (
    LogFileNotFoundError,
    NoCommitsFoundError,
    TruncatedLogError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)
from truckee.log.files.commits import read_commit
from truckee.log.files.history import earliest_version
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.feed import FeedOptions
from truckee.options.feed_shape import FeedShape, FeedSource
from truckee.rows.changelog import changelog_plan, empty_feed, keys_of
from truckee.rows.plan import Recorded, RowPlan
from truckee.storage.base import Storage

_GONE = (
    LogFileNotFoundError,
    NoCommitsFoundError,
    TruncatedLogError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)


def feed_plan(
    storage: Storage, options: FeedOptions, *, snapshot: Snapshot | None = None
) -> RowPlan:
    """Return the plan of the feed that the options ask for.

    An open range ends at the version that is the latest when rows are read. If rows are compared or
    columns are followed, it ends at the version that is the latest now. `snapshot` is that one, if
    it is loaded already. Raises the errors of `open_feed` and of `changelog_plan`.
    """
    latest = snapshot or load_snapshot(storage)
    feed = open_feed(storage, options, snapshot=latest)
    return Recorded(feed) if options.shape.is_plain else _derived(feed, options.shape, latest)


def _derived(feed: ChangeFeed, shape: FeedShape, latest: Snapshot) -> RowPlan:
    storage, start = feed.storage, feed.range.start
    if feed.range.is_empty:
        columns = FeedColumns(shape, column_history([feed.read]))
        keys_of(columns)
        return empty_feed(columns)
    end = latest.version if feed.range.end is None else min(feed.range.end, latest.version)
    follows = shape.following is not None
    commits = tuple(
        range_commits(
            storage,
            VersionRange(start, end),
            feed.read,
            start=feed.start,
            must_be_recorded=shape.source is FeedSource.RECORDED,
            unsafe_schema=feed.unsafe_schema or follows,
            choice=feed.choice,
        )
    )
    needs_past = follows or shape.source is not FeedSource.RECORDED
    before = snapshot_before(storage, start) if needs_past else None
    table = feed.start if before is None else before.configuration
    planned = CommitRange(storage=storage, commits=commits, table=table, before=before)
    columns = FeedColumns(shape, column_history(planned.eras() if follows else [feed.read]))
    keys_of(columns)
    versions = metadata_versions(storage, planned.start, end) if shape.schema_version else ()
    return changelog_plan(planned, columns, end=end, schema_versions=versions)


def snapshot_before(storage: Storage, version: int) -> Snapshot | None:
    """Return the snapshot just before a version, None if there is none or its log is gone."""
    if version == 0:
        return None
    try:
        return load_snapshot(storage, version - 1)
    except _GONE:
        return None


def metadata_versions(storage: Storage, start: int, end: int) -> tuple[int, ...]:
    """Return the versions whose metadata applies to some row of `start..end`.

    If the log no longer has the commit that set the first of them, the earliest remaining version
    is used instead.
    """
    found = [v for v in range(start, end + 1) if _sets_metadata(storage, v)]
    earliest = earliest_version(storage)
    version = max(start - 1, 0)
    while version > earliest and not _sets_metadata(storage, version):
        version -= 1
    return tuple(sorted({version, *found}))


def _sets_metadata(storage: Storage, version: int) -> bool:
    try:
        return read_commit(storage, version).metadata is not None
    except _GONE:
        return False


def frozen_eras(storage: Storage, start: int, read: ReadSchema) -> list[ReadSchema]:
    """Return the schemas from a version up to that of the result, in order."""
    before = snapshot_before(storage, start)
    eras = [] if before is None else [ReadSchema(before.version, before.configuration)]
    for version in range(start, read.version + 1):
        try:
            metadata = read_commit(storage, version).metadata
        except _GONE:
            continue
        if metadata is not None:
            eras.append(ReadSchema(version, read.configuration.after(metadata, None)))
    return [*eras, read]
