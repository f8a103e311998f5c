"""Errors of the change feed: its range, what was recorded, and what still exists.

DeltaError
  NoStartError                   neither a starting version nor a starting timestamp
  MultipleBoundariesError        one bound given both as a version and as a timestamp
  NullBoundaryError              a bound that is NULL
  StartAfterLatestError          the range starts after the latest version
  InvalidRangeError              the range ends before it starts
  BeyondRetentionError           the start is before the retention of deleted files
  ChangeDataNotRecordedError     the feed was off at some version of the range
  IncompatibleSchemaChangeError  the schema changed within the range
  IncompatibleDataSchemaError    the schema at the start is not the one to read with
  ContradictingActionsError      one commit adds and removes the same logical file
  MissingExtendedMetadataError   a removed file without the metadata that the feed needs
  ChangeDataFileNotFoundError    a file that the feed needs was deleted

Errors of feeds that are derived from snapshots, netted, or follow column renames.

DeltaError
  DeduplicationModeError             an unknown deduplicationMode
  EmptyKeysError                     keys without a column
  UpdatesNeedCarryoversDroppedError  computeUpdates, but moved rows are not dropped
  UpdatesNeedIdentityError           computeUpdates, but nothing identifies a row
  ChangelogNotHereError             such a feed in format("truckee")
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError, has_session_settings
from truckee.errors.log import utc_text


@dataclass(eq=False, kw_only=True)
class NoStartError(DeltaError):
    """A change feed needs a start."""

    code: ClassVar[str] = "DELTA_NO_START_FOR_CDC_READ"

    def __str__(self) -> str:
        return (
            "a change feed needs a start, but none was given\n"
            "hint: set startingVersion or startingTimestamp"
        )


@dataclass(eq=False, kw_only=True)
class MultipleBoundariesError(DeltaError):
    """One end of the range was given twice. `bound` is `starting` or `ending`."""

    code: ClassVar[str] = "DELTA_MULTIPLE_CDC_BOUNDARY"
    bound: str

    def __str__(self) -> str:
        return (
            f"both {self.bound}Version and {self.bound}Timestamp are set, expected one of them\n"
            f"hint: leave out {self.bound}Version or {self.bound}Timestamp"
        )


@dataclass(eq=False, kw_only=True)
class NullBoundaryError(DeltaError):
    """An end of the range is NULL."""

    code: ClassVar[str] = "DELTA_CDC_READ_NULL_RANGE_BOUNDARY"
    argument: str

    def __str__(self) -> str:
        return (
            f"{self.argument} of the change feed is NULL\n"
            "hint: give a version as an integer, or a timestamp as text"
        )


@dataclass(eq=False, kw_only=True)
class StartAfterLatestError(DeltaError):
    """The range starts after the latest version."""

    code: ClassVar[str] = "DELTA_CDC_START_VERSION_AFTER_LATEST"
    table: str
    start: int
    latest: int

    def __str__(self) -> str:
        setting = (
            ", or set spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled to true, "
            "to get no rows instead"
        )
        return (
            f"the change feed of {self.table} was asked for from version {self.start} on, "
            f"but its latest version is {self.latest}\n"
            f"hint: start at version {self.latest} or before"
            f"{setting if has_session_settings() else ''}"
        )


@dataclass(eq=False, kw_only=True)
class InvalidRangeError(DeltaError):
    """The range ends before it starts."""

    code: ClassVar[str] = "DELTA_INVALID_CDC_RANGE"
    start: int
    end: int

    def __str__(self) -> str:
        return (
            f"the change feed was asked for from version {self.start} to version {self.end}, "
            "which ends before it starts\n"
            "hint: swap start and end; both are inclusive"
        )


@dataclass(eq=False, kw_only=True)
class BeyondRetentionError(DeltaError):
    """The range starts before the retention period of deleted files."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION"
    table: str
    version: int
    timestamp_ms: int
    oldest_ms: int
    retention_ms: int

    def __str__(self) -> str:
        hours = self.retention_ms / 3_600_000
        return (
            f"version {self.version} of {self.table} is from {utc_text(self.timestamp_ms)}, but "
            f"deleted files are only kept for {hours:g} hours, since {utc_text(self.oldest_ms)}\n"
            "hint: start at a later version, or raise delta.deletedFileRetentionDuration"
        )


@dataclass(eq=False, kw_only=True)
class ChangeDataNotRecordedError(DeltaError):
    """The feed was off at some version of the range that was asked for."""

    code: ClassVar[str] = "DELTA_MISSING_CHANGE_DATA"
    version: int
    start: int
    end: int

    def __str__(self) -> str:
        return (
            f"no change data was recorded at version {self.version} "
            f"of the range {self.start}..{self.end}: the change feed was off\n"
            "hint: set the option changeFeed to auto (on the command line: --feed auto), which "
            "derives these changes from the table's "
            "files, or read a range in which delta.enableChangeDataFeed is true throughout"
        )


@dataclass(eq=False, kw_only=True)
class IncompatibleSchemaChangeError(DeltaError):
    """A commit of the range changed the schema, and no one schema can read both sides."""

    code: ClassVar[str] = "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"
    start: int
    end: int
    schema: str
    schema_version: int
    version: int
    reason: str
    ranges: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return (
            f"the change feed {self.start}..{self.end} cannot be read with the schema of version "
            f"{self.schema_version}, {self.schema}: version {self.version} changed the schema "
            f"incompatibly, {self.reason}\n{_ranges_hint(self.start, self.ranges)}"
        )


@dataclass(eq=False, kw_only=True)
class IncompatibleDataSchemaError(DeltaError):
    """The schema at the start of the range is not compatible with the one to read with."""

    code: ClassVar[str] = "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"
    start: int
    end: int
    schema: str
    schema_version: int
    reason: str
    ranges: tuple[tuple[int, int], ...] = ()

    def __str__(self) -> str:
        return (
            f"the change feed {self.start}..{self.end} cannot be read with the schema of version "
            f"{self.schema_version}, {self.schema}: the data of version {self.start} has "
            f"another schema, {self.reason}\n{_ranges_hint(self.start, self.ranges)}"
        )


def _ranges_hint(start: int, ranges: tuple[tuple[int, int], ...]) -> str:
    """Return a hint with the readable ranges; older versions need an older schema."""
    follow = (
        "set the option schemaMode to follow (on the command line: --schema follow), which reads "
        "each commit by its own schema"
    )
    older = (
        "name a version whose schema fits with versionAsOf, and set "
        "changeDataFeed.allowTimeTravelOptionsForSchema to true"
    )
    if not ranges:
        return f"hint: {follow}; or {older}"
    told = " and ".join(f"{first}..{last}" for first, last in ranges)
    whole = f"hint: {follow}; or read {told}" + (", each by itself" if len(ranges) > 1 else "")
    return whole if ranges[0][0] == start else f"{whole}; for older versions, {older}"


@dataclass(eq=False, kw_only=True)
class ContradictingActionsError(DeltaError):
    """One commit adds and removes a file, with no deletion vector to tell the two apart."""

    code: ClassVar[str] = "DELTA_DUPLICATE_ACTIONS_FOUND"
    version: int
    path: str

    def __str__(self) -> str:
        return (
            f"version {self.version} both adds and removes '{self.path}' with no deletion vector\n"
            "hint: the writer of this commit made a mistake; read the versions before and after it"
        )


@dataclass(eq=False, kw_only=True)
class MissingExtendedMetadataError(DeltaError):
    """A removed file lacks the partition values and the size that the feed needs."""

    code: ClassVar[str] = "DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA"
    version: int
    path: str

    def __str__(self) -> str:
        return (
            f"version {self.version} removes '{self.path}' without extended file metadata, "
            "so its rows cannot be shown as deleted\n"
            "hint: read the versions before and after it"
        )


@dataclass(eq=False, kw_only=True)
class ChangeDataFileNotFoundError(DeltaError):
    """A file of the feed is gone; most likely VACUUM deleted it.

    `readable_from` is the first version from which every file still exists, None if even the
    last version of the range lacks one.
    """

    code: ClassVar[str] = "DELTA_CHANGE_DATA_FILE_NOT_FOUND"
    table: str
    path: str
    version: int
    end: int
    readable_from: int | None

    def __str__(self) -> str:
        gone = (
            f"the file '{self.path}' is gone, but the change feed of {self.table} "
            f"needs it for version {self.version}"
        )
        if self.readable_from is None:
            return f"{gone}\nhint: no version up to {self.end} can be read any more"
        return f"{gone}\nhint: the feed can still be read from version {self.readable_from} on"


@dataclass(eq=False, kw_only=True)
class DeduplicationModeError(DeltaError):
    """An unknown value of deduplicationMode."""

    code: ClassVar[str] = "INVALID_CDC_OPTION.INVALID_DEDUPLICATION_MODE"
    mode: str

    def __str__(self) -> str:
        return (
            f"option deduplicationMode is {self.mode!r}, but needs to be none, dropCarryovers or "
            "netChanges\nhint: set deduplicationMode to such a value, or leave it out"
        )


@dataclass(eq=False, kw_only=True)
class EmptyKeysError(DeltaError):
    """A list of keys with an empty name."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"
    text: str

    def __str__(self) -> str:
        return (
            f"option keys is {self.text!r}, which has an empty column name\n"
            "hint: write names with commas between them, such as 'country,id', or leave keys out"
        )


@dataclass(eq=False, kw_only=True)
class UpdatesNeedCarryoversDroppedError(DeltaError):
    """computeUpdates needs moved rows to be dropped first."""

    code: ClassVar[str] = "INVALID_CDC_OPTION.UPDATE_DETECTION_REQUIRES_CARRY_OVER_REMOVAL"
    source: str

    def __str__(self) -> str:
        return (
            f"computeUpdates is true and deduplicationMode is none, but with changeFeed "
            f"{self.source} rows that a commit only moved would look like updates\n"
            "hint: set deduplicationMode to dropCarryovers or netChanges"
        )


@dataclass(eq=False, kw_only=True)
class UpdatesNeedIdentityError(DeltaError):
    """computeUpdates has nothing that pairs deleted rows with inserted rows.

    `version` is the first one at which rows have no ids, None if ids were not asked for.
    """

    code: ClassVar[str] = "DELTA_UPDATES_NEED_IDENTITY"
    table: str
    version: int | None
    reason: str

    def __str__(self) -> str:
        at = "" if self.version is None else f" at version {self.version}"
        return (
            f"computeUpdates is true, but nothing identifies the rows of {self.table}{at}: "
            f"{self.reason}\n"
            "hint: name the columns that identify a row with keys, or leave out computeUpdates "
            "to see updates as deleted and inserted rows"
        )


@dataclass(eq=False, kw_only=True)
class ChangelogNotHereError(DeltaError):
    """`format("truckee")` does not compare rows, because each task reads its own files."""

    code: ClassVar[str] = "DELTA_FEED_OPTION_NOT_SUPPORTED"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is not supported by format('truckee'), "
            "where no task sees the rows of another\n"
            "hint: read with truckee.read(spark), truckee.readStream(spark) or truckee.open(path)"
        )
