"""Errors of the change feed: its range, what was recorded, and what still exists.

Errors of feeds that are derived from snapshots, netted, or follow column renames.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError, has_session_settings, utc_text


class NoStartError(
    DeltaError, code="DELTA_NO_START_FOR_CDC_READ", state="42601", spark="AnalysisException"
):
    """A change feed needs a start."""

    text = "a change feed needs a start, but none was given"
    hint = "set startingVersion or startingTimestamp"


class MultipleBoundariesError(
    DeltaError, code="DELTA_MULTIPLE_CDC_BOUNDARY", state="42614", spark="AnalysisException"
):
    """One end of the range was given twice. `bound` is `starting` or `ending`."""

    bound: str
    text = "both {bound}Version and {bound}Timestamp are set, expected one of them"
    hint = "leave out {bound}Version or {bound}Timestamp"


class NullBoundaryError(
    DeltaError,
    code="DELTA_CDC_READ_NULL_RANGE_BOUNDARY",
    state="22004",
    spark="IllegalArgumentException",
):
    """An end of the range is NULL."""

    argument: str
    text = "{argument} of the change feed is NULL"
    hint = "give a version as an integer, or a timestamp as text"


class StartAfterLatestError(
    DeltaError,
    code="DELTA_CDC_START_VERSION_AFTER_LATEST",
    state="22003",
    spark="IllegalArgumentException",
):
    """The range starts after the latest version."""

    table: str
    start: int
    latest: int
    text = (
        "the change feed of {table} was asked for from version {start} on, but its latest version "
        "is {latest}"
    )
    hint = "start at version {latest} or before{setting}"

    @property
    def setting(self) -> str:
        """What a program with a session can do besides."""
        setting = "spark.databricks.delta.changeDataFeed.timestampOutOfRange.enabled"
        return f", or set {setting} to true, to get no rows instead" * has_session_settings()


class InvalidRangeError(
    DeltaError, code="DELTA_INVALID_CDC_RANGE", state="22003", spark="IllegalArgumentException"
):
    """The range ends before it starts."""

    start: int
    end: int
    text = (
        "the change feed was asked for from version {start} to version {end}, which ends before it "
        "starts"
    )
    hint = "swap start and end; both are inclusive"


class BeyondRetentionError(
    DeltaError,
    code="DELTA_UNSUPPORTED_TIME_TRAVEL_BEYOND_DELETED_FILE_RETENTION_DURATION",
    state="0AKDC",
    spark="AnalysisException",
):
    """The range starts before the retention period of deleted files."""

    table: str
    version: int
    timestamp_ms: int
    oldest_ms: int
    retention_ms: int

    def sentence(self) -> str:
        hours = self.retention_ms / 3_600_000
        return (
            f"version {self.version} of {self.table} is from {utc_text(self.timestamp_ms)}, but "
            f"deleted files are only kept for {hours:g} hours, since {utc_text(self.oldest_ms)}\n"
            "hint: start at a later version, or raise delta.deletedFileRetentionDuration"
        )


class ChangeDataNotRecordedError(
    DeltaError, code="DELTA_MISSING_CHANGE_DATA", state="KD002", spark="AnalysisException"
):
    """The feed was off at some version of the range that was asked for."""

    version: int
    start: int
    end: int
    text = (
        "Error getting change data for range [{start} , {end}]: no change data was recorded at "
        "version {version}, since the change feed was off"
    )
    hint = (
        "set the option changeFeed to auto (on the command line: --feed auto), which derives these "
        "changes from the table's files, or read a range in which delta.enableChangeDataFeed is "
        "true throughout"
    )


class IncompatibleSchemaChangeError(
    DeltaError,
    code="DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE",
    state="0AKDC",
    spark="UnsupportedOperationException",
):
    """A commit of the range changed the schema, and no one schema can read both sides."""

    start: int
    end: int
    schema: str
    schema_version: int
    version: int
    reason: str
    ranges: tuple[tuple[int, int], ...] = ()

    def sentence(self) -> str:
        return (
            f"the change feed {self.start}..{self.end} cannot be read with the schema of version "
            f"{self.schema_version}, {self.schema}: version {self.version} changed the schema "
            f"incompatibly, {self.reason}\n{_ranges_hint(self.start, self.ranges)}"
        )


class IncompatibleDataSchemaError(
    DeltaError,
    code="DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA",
    state="0AKDC",
    spark="UnsupportedOperationException",
):
    """The schema at the start of the range is not compatible with the one to read with."""

    start: int
    end: int
    schema: str
    schema_version: int
    reason: str
    ranges: tuple[tuple[int, int], ...] = ()

    def sentence(self) -> str:
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


class ContradictingActionsError(DeltaError, code="DELTA_DUPLICATE_ACTIONS_FOUND", state="2D521"):
    """One commit adds and removes a file, with no deletion vector to tell the two apart."""

    version: int
    path: str
    text = "version {version} both adds and removes '{path}' with no deletion vector"
    hint = "the writer of this commit made a mistake; read the versions before and after it"


class MissingExtendedMetadataError(
    DeltaError, code="DELTA_REMOVE_FILE_CDC_MISSING_EXTENDED_METADATA", state="XXKDS"
):
    """A removed file lacks the partition values and the size that the feed needs."""

    version: int
    path: str
    text = (
        "version {version} removes '{path}' without extended file metadata, so its rows cannot be "
        "shown as deleted"
    )
    hint = "read the versions before and after it"


class ChangeDataFileNotFoundError(
    DeltaError, code="DELTA_CHANGE_DATA_FILE_NOT_FOUND", state="42K03"
):
    """A file of the feed is gone; most likely VACUUM deleted it.

    `readable_from` is the first version from which every file still exists, None if even the
    last version of the range lacks one.
    """

    table: str
    path: str
    version: int
    end: int
    readable_from: int | None

    def sentence(self) -> str:
        gone = (
            f"the file '{self.path}' is gone, but the change feed of {self.table} "
            f"needs it for version {self.version}"
        )
        if self.readable_from is None:
            return f"{gone}\nhint: no version up to {self.end} can be read any more"
        return f"{gone}\nhint: the feed can still be read from version {self.readable_from} on"


class DeduplicationModeError(
    DeltaError,
    code="INVALID_CDC_OPTION.INVALID_DEDUPLICATION_MODE",
    state="42K03",
    spark="AnalysisException",
):
    """An unknown value of deduplicationMode."""

    mode: str
    text = (
        "option deduplicationMode is {mode!r}, but needs to be none, dropCarryovers or netChanges"
    )
    hint = "set deduplicationMode to such a value, or leave it out"


class EmptyKeysError(
    DeltaError, code="DELTA_ILLEGAL_OPTION", state="42616", spark="IllegalArgumentException"
):
    """A list of keys with an empty name."""

    value: str
    text = "option keys is {value!r}, which has an empty column name"
    hint = "write names with commas between them, such as 'country,id', or leave keys out"


class UpdatesNeedCarryoversDroppedError(
    DeltaError,
    code="INVALID_CDC_OPTION.UPDATE_DETECTION_REQUIRES_CARRY_OVER_REMOVAL",
    state="42K03",
    spark="AnalysisException",
):
    """computeUpdates needs moved rows to be dropped first."""

    source: str
    text = (
        "computeUpdates is true and deduplicationMode is none, but with changeFeed {source} rows "
        "that a commit only moved would look like updates"
    )
    hint = "set deduplicationMode to dropCarryovers or netChanges"


class UpdatesNeedIdentityError(
    DeltaError, code="DELTA_UPDATES_NEED_IDENTITY", state="42000", spark="AnalysisException"
):
    """computeUpdates has nothing that pairs deleted rows with inserted rows.

    `version` is the first one at which rows have no ids, None if ids were not asked for.
    """

    table: str
    version: int | None
    reason: str

    def sentence(self) -> str:
        at = "" if self.version is None else f" at version {self.version}"
        return (
            f"computeUpdates is true, but nothing identifies the rows of {self.table}{at}: "
            f"{self.reason}\n"
            "hint: name the columns that identify a row with keys, or leave out computeUpdates "
            "to see updates as deleted and inserted rows"
        )
