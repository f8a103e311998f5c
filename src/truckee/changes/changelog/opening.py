"""Opens a feed that is derived, netted or follows column renames."""

from __future__ import annotations

from dataclasses import replace

from truckee.changes.changelog.changelog import Changelog
from truckee.changes.changelog.column_history import column_history
from truckee.changes.changelog.plan import CommitRange, changelog_plan
from truckee.changes.plan import ChangeFeed, open_feed
from truckee.changes.range_diffs import range_commits
from truckee.changes.read_schema import ReadSchema
from truckee.changes.version_range import VersionRange
from truckee.errors.commands.alter import ColumnNotFoundError
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
from truckee.protocol.schema import StructType, find_column
from truckee.storage.base import Storage

_GONE = (
    LogFileNotFoundError,
    NoCommitsFoundError,
    TruncatedLogError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)


def open_changelog(
    storage: Storage, options: FeedOptions, *, snapshot: Snapshot | None = None
) -> Changelog:
    """Return the feed that the options ask for, planned up to the current latest version.

    Raises the errors of `open_feed` and `changelog_plan`, and `ColumnNotFoundError` for keys that
    the feed does not have.
    """
    latest = snapshot or load_snapshot(storage)
    feed = open_feed(storage, options, snapshot=latest)
    planned = _planned(feed, options.shape, latest)
    check_keys(options.shape, planned.table_schema)
    if options.shape.schema_version:
        versions = metadata_versions(storage, planned.start, planned.end)
        planned = replace(planned, schema_versions=versions)
    return planned


def check_keys(shape: FeedShape, schema: StructType) -> None:
    """Raise `ColumnNotFoundError` for a key that is not a column of the feed."""
    for key in shape.keys:
        if key_path(schema, key) is None:
            raise ColumnNotFoundError(column=key, columns=schema.names)


def key_path(schema: StructType, key: str) -> tuple[str, ...] | None:
    """Return the path of a key, as the schema spells it, None if there is none.

    A column whose name has dots is preferred to a field of a struct.
    """
    found = find_column(schema, (key,)) or find_column(schema, key.split("."))
    return None if found is None else found.path


def _planned(feed: ChangeFeed, shape: FeedShape, latest: Snapshot) -> Changelog:
    storage, start = feed.storage, feed.range.start
    if feed.range.is_empty:
        return Changelog(storage, shape, start, start - 1, column_history([feed.read]))
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
    eras = planned.eras() if follows else [feed.read]
    return changelog_plan(planned, shape, eras, end=end)


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
