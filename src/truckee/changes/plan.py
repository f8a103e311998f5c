"""ChangePlan: the files to read for a feed, and the schema to read them with.

    version range -> commits -> per commit: change files, or adds and removes paired by path
                  -> rows restored and deleted where a vector changed -> ScanFiles

The cost depends on the commits of the range, not on the size of the table. No vector and no data
file is opened.

There are two steps. When a feed is *opened*, its columns are determined, and its range is checked.
When it is *planned*, at the time its rows are read, an open end becomes the latest version of that
time. A feed can be planned many times; later plans show later changes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass

from truckee.changes.file_index import feed_files
from truckee.changes.range_diffs import range_diffs
from truckee.changes.read_schema import ReadSchema, SchemaChoice, feed_schema, read_schema
from truckee.changes.version_diff import VersionDiff
from truckee.changes.version_range import VersionRange, resolved_range
from truckee.errors.changes import BeyondRetentionError
from truckee.errors.stream_schema import SchemaNotSetError
from truckee.log.files.history import version_as_of
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.feed import FeedOptions
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage


@dataclass(frozen=True, eq=False)
class ChangePlan:
    """What to read for the versions `start..end`, both included; end < start means nothing.

    `files` are in order of version. A ScanFile that reads the rows *within* a vector may turn out
    to have none: the previous vector may have marked all of them already.
    """

    table: str
    start: int
    end: int
    read: ReadSchema
    files: tuple[ScanFile, ...]

    @property
    def schema(self) -> StructType:
        """The table's columns, without those of the feed."""
        return self.read.schema

    @property
    def feed_schema(self) -> StructType:
        """The columns of the feed: the table's, then the feed's own three."""
        return feed_schema(self.read.schema)

    @property
    def configuration(self) -> TableConfiguration:
        """The configuration of the table at the version whose schema is used."""
        return self.read.configuration

    @property
    def size_in_bytes(self) -> int:
        """The size of all files, each counted once even if it is read several times."""
        return sum({file.path: file.size for file in self.files}.values())


@dataclass(frozen=True, eq=False)
class ChangeFeed:
    """An open feed: its columns are fixed, but an open end is not."""

    storage: Storage
    range: VersionRange
    read: ReadSchema
    start: TableConfiguration
    unsafe_schema: bool = False
    choice: SchemaChoice | None = None

    @property
    def schema(self) -> StructType:
        """The columns of the feed: the table's, then the feed's own three."""
        return feed_schema(self.read.schema)

    def plan(self) -> ChangePlan:
        """Return what to read, up to the latest version if no end was given.

        Reads the commits of the range and nothing else. Raises `ChangeDataNotRecordedError`,
        `IncompatibleSchemaChangeError`, `IncompatibleDataSchemaError`, and the errors of
        single commits and of the log.
        """
        diffs: tuple[VersionDiff, ...] = ()
        if not self.range.is_empty:
            diffs = tuple(
                range_diffs(
                    self.storage,
                    self.range,
                    self.read,
                    start=self.start,
                    unsafe_schema=self.unsafe_schema,
                    choice=self.choice,
                )
            )
        return ChangePlan(
            table=self.storage.root,
            start=self.range.start,
            end=diffs[-1].version if diffs else self.range.start - 1,
            read=self.read,
            files=tuple(feed_files(diffs)),
        )


def open_feed(
    storage: Storage,
    options: FeedOptions,
    *,
    snapshot: Snapshot | None = None,
    now_ms: int | None = None,
) -> ChangeFeed:
    """Return the feed that the options ask for.

    `snapshot` is the latest one, if it is loaded already. Raises the errors of `resolved_range` and
    of `load_snapshot`, because the start of the range must be a version that can still be rebuilt.
    """
    latest = snapshot or load_snapshot(storage)
    analyzed = _analyzed(latest, options)
    if not analyzed.configuration.has_schema:
        raise SchemaNotSetError(table=storage.root)
    versions = resolved_range(storage, options, latest=latest.version)
    if versions.is_empty:
        read = ReadSchema(analyzed.version, analyzed.configuration)
        return ChangeFeed(storage, versions, read, analyzed.configuration)
    start = _at(latest, versions.start)
    if options.within_retention and start.version != latest.version:
        _check_retention(start, time.time_ns() // 1_000_000 if now_ms is None else now_ms)
    last = latest.version if versions.end is None else min(latest.version, versions.end)
    end = _at(latest, last)
    read = read_schema(options.schema_mode, start=start, end=end, analyzed=analyzed)
    choice = SchemaChoice(
        options.schema_mode,
        ReadSchema(analyzed.version, analyzed.configuration),
        is_chosen=options.schema_as_of is not None,
    )
    return ChangeFeed(storage, versions, read, start.configuration, options.unsafe_schema, choice)


def _at(latest: Snapshot, version: int) -> Snapshot:
    return latest if version == latest.version else load_snapshot(latest.storage, version)


def _analyzed(latest: Snapshot, options: FeedOptions) -> Snapshot:
    bound = options.schema_as_of
    if bound is None:
        return latest
    if bound.version is not None:
        return _at(latest, bound.version)
    assert bound.timestamp_ms is not None
    return _at(latest, version_as_of(latest.storage, bound.timestamp_ms))


def _check_retention(start: Snapshot, now_ms: int) -> None:
    """Raise `BeyondRetentionError` if files deleted since the start may be gone."""
    oldest_ms = now_ms - start.properties.deleted_file_retention_ms
    if start.timestamp_ms < oldest_ms:
        raise BeyondRetentionError(
            table=start.storage.root,
            version=start.version,
            timestamp_ms=start.timestamp_ms,
            oldest_ms=oldest_ms,
            retention_ms=start.properties.deleted_file_retention_ms,
        )
