"""The commits of a range, each checked before it becomes part of a feed.

The feed must be enabled at the start and in every metadata action of the range, and the schema that
the feed is read with must fit each of them. Whether it was enabled before does not matter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from truckee.changes.read_schema import ReadSchema, SchemaChoice, incompatibility, readable_ranges
from truckee.changes.version_diff import VersionDiff, version_diff
from truckee.changes.version_range import VersionRange
from truckee.errors.changes import (
    ChangeDataNotRecordedError,
    IncompatibleDataSchemaError,
    IncompatibleSchemaChangeError,
)
from truckee.log.files.commits import Commit, read_commits
from truckee.log.files.history import latest_version
from truckee.protocol.features import check_readable
from truckee.protocol.schema import type_text
from truckee.protocol.table_configuration import TableConfiguration
from truckee.storage.base import Storage


def range_diffs(
    storage: Storage,
    versions: VersionRange,
    read: ReadSchema,
    *,
    start: TableConfiguration,
    unsafe_schema: bool = False,
    choice: SchemaChoice | None = None,
) -> Iterator[VersionDiff]:
    """Yield what each version of a range changed, for the versions that exist now.

    `start` is the table at the start of the range. Raises `ChangeDataNotRecordedError` if the feed
    was off; unless `unsafe_schema`, the errors of schemas that do not fit; those of `version_diff`;
    and those of the log, including one for a gap.
    """
    for commit in range_commits(
        storage,
        versions,
        read,
        start=start,
        unsafe_schema=unsafe_schema,
        choice=choice,
    ):
        yield version_diff(commit)


def range_commits(
    storage: Storage,
    versions: VersionRange,
    read: ReadSchema,
    *,
    start: TableConfiguration,
    must_be_recorded: bool = True,
    unsafe_schema: bool = False,
    choice: SchemaChoice | None = None,
) -> Iterator[Commit]:
    """Yield the commits of a range that exist now; see `range_diffs`.

    Unless `must_be_recorded`, the feed may have been off.
    """
    check = _Check(storage, versions, read, start, must_be_recorded, unsafe_schema, choice)
    check.recorded(start, versions.start)
    for commit in read_commits(storage, versions.start, versions.end):
        check.commit(commit)
        yield commit
    check.start_schema()


@dataclass(frozen=True)
class _Check:
    """The checks of the metadata of each version of a range."""

    storage: Storage
    versions: VersionRange
    read: ReadSchema
    start: TableConfiguration
    must_be_recorded: bool
    unsafe_schema: bool
    choice: SchemaChoice | None

    def commit(self, commit: Commit) -> None:
        """Raise if this commit cannot be read as part of the feed."""
        if commit.protocol is not None:
            check_readable(commit.protocol, self.storage.root)
        if commit.metadata is None:
            return
        table = self.start.after(commit.metadata, commit.protocol)
        self.recorded(table, commit.version)
        # The commits that create or replace a table set its schema.
        if commit.version > self.versions.start:
            self.schema(ReadSchema(commit.version, table))

    def recorded(self, table: TableConfiguration, version: int) -> None:
        """Raise `ChangeDataNotRecordedError` if the feed was off."""
        if self.must_be_recorded and not table.properties.enable_change_data_feed:
            raise ChangeDataNotRecordedError(
                version=version, start=self.versions.start, end=self.end()
            )

    def schema(self, data: ReadSchema) -> None:
        """Raise `IncompatibleSchemaChangeError` if data of this version has another schema."""
        reason = self._incompatibility(data)
        if reason is not None:
            raise IncompatibleSchemaChangeError(
                start=self.versions.start,
                end=self.end(),
                schema=type_text(self.read.schema),
                schema_version=self.read.version,
                version=data.version,
                reason=reason,
                ranges=self._readable(),
            )

    def start_schema(self) -> None:
        """Raise `IncompatibleDataSchemaError` if data at the start has another schema."""
        reason = self._incompatibility(ReadSchema(self.versions.start, self.start))
        if reason is not None:
            raise IncompatibleDataSchemaError(
                start=self.versions.start,
                end=self.end(),
                schema=type_text(self.read.schema),
                schema_version=self.read.version,
                reason=reason,
                ranges=self._readable(),
            )

    def end(self) -> int:
        """Return the last version of the range that exists, for errors."""
        latest = latest_version(self.storage)
        return latest if self.versions.end is None else min(latest, self.versions.end)

    def _readable(self) -> tuple[tuple[int, int], ...]:
        """Return the parts of the range that can be read, for the hint of an error."""
        if self.choice is None:
            return ()
        start, end = self.versions.start, self.end()
        later = (
            ReadSchema(commit.version, self.start.after(commit.metadata, commit.protocol))
            for commit in read_commits(self.storage, start + 1, end)
            if commit.metadata is not None
        )
        return readable_ranges([ReadSchema(start, self.start), *later], end, self.choice)

    def _incompatibility(self, data: ReadSchema) -> str | None:
        return None if self.unsafe_schema else incompatibility(self.read, data)
