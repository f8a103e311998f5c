"""Errors of a stream of a table, or of its change feed.

DeltaError
  TwoStartsError                   startingVersion beside startingTimestamp
  TimeTravelOfStreamError          versionAsOf or timestampAsOf on a stream
  SourceRowsChangedError           rows were updated, but a plain stream only shows appends
  SourceRowsDeletedError           rows were deleted, but a plain stream only shows appends
  MissingCommitsError              commits that the stream has not read yet are gone
  TrailingCommitMissingError       the last commit of a planned batch is gone
  StreamLogFileNotFoundError       a file of the log is gone
  StreamedFeedOffError             a commit for which no change data was recorded
  UnsupportedOutputModeError       a sink that cannot update rows
  NullTypeInStreamError            a column without a type
  ValueDoesNotFitError             a value that its column cannot hold
  NativeWriterNeededError          a table or an option that only Spark's own writer can serve
  NoPathToReadError                no path to read
  NoPathToWriteError               no path to write to

Errors of a stream's offsets, and of the checkpoint that stores them.

DeltaError
  InvalidOffsetFormatError         a checkpoint's offset that cannot be read
  InvalidOffsetVersionError        an offset in an unknown format
  NewerOffsetError                 an offset in a format newer than this release
  DifferentTableError              a checkpoint of another table, or a recreated table
  OffsetWentBackError              a table that ends before the stream's position
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError
from truckee.errors.changes import ChangeDataNotRecordedError

_WHERE_NAMES_WORK = (
    "in a session of truckee.session() or truckee.enable(spark); over Spark Connect, on a server "
    "started by truckee serve"
)


@dataclass(eq=False, kw_only=True)
class TwoStartsError(DeltaError):
    """A stream starts at a version or at a time, not at both."""

    code: ClassVar[str] = "DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET"

    def __str__(self) -> str:
        return (
            "both startingVersion and startingTimestamp are set, expected one of them\n"
            "hint: leave out startingVersion or startingTimestamp"
        )


@dataclass(eq=False, kw_only=True)
class TimeTravelOfStreamError(DeltaError):
    """A time travel option was given for a stream."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set, but a stream cannot be read as of a version\n"
            "hint: set startingVersion or startingTimestamp to say where the stream starts"
        )


@dataclass(eq=False, kw_only=True)
class SourceRowsChangedError(DeltaError):
    """A commit rewrote rows. `change` is its operation, or the first file that it removed."""

    code: ClassVar[str] = "DELTA_SOURCE_TABLE_IGNORE_CHANGES"
    table: str
    version: int
    change: str

    def __str__(self) -> str:
        return (
            f"version {self.version} of {self.table} changed existing rows ({self.change}), "
            "but a stream of a table only shows appended rows\n"
            "hint: read its changes with readChangeFeed, skip such commits with "
            "skipChangeCommits, or set ignoreChanges to get rewritten rows again"
        )


@dataclass(eq=False, kw_only=True)
class SourceRowsDeletedError(DeltaError):
    """A commit deleted rows. `change` is its operation, or the first file that it removed."""

    code: ClassVar[str] = "DELTA_SOURCE_IGNORE_DELETE"
    table: str
    version: int
    change: str

    def __str__(self) -> str:
        return (
            f"version {self.version} of {self.table} deleted rows ({self.change}), but a stream of "
            "a table only shows appended rows\n"
            "hint: read its changes with readChangeFeed, or set ignoreDeletes or "
            "skipChangeCommits to skip such commits"
        )


@dataclass(eq=False, kw_only=True)
class MissingCommitsError(DeltaError):
    """The next commits of the stream are gone."""

    code: ClassVar[str] = "DELTA_MISSING_FILES_UNEXPECTED_VERSION"
    table: str
    expected: int
    found: int

    def __str__(self) -> str:
        return (
            f"the stream expected version {self.expected} of {self.table} next, but the log "
            f"continues with version {self.found}: the commits between were cleaned up\n"
            "hint: start the query with a new checkpoint, or set failOnDataLoss to false to skip "
            "them"
        )


@dataclass(eq=False, kw_only=True)
class TrailingCommitMissingError(DeltaError):
    """A batch was planned up to a version whose commit is gone."""

    code: ClassVar[str] = "DELTA_STREAMING_TRAILING_COMMIT_MISSING"
    table: str
    expected: int
    last: int | None

    def __str__(self) -> str:
        found = "has none of them" if self.last is None else f"ends at version {self.last}"
        return (
            f"the batch needs the commits of {self.table} up to version {self.expected}, but "
            f"the log {found}\n"
            "hint: restore the files of _delta_log, or start the query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class StreamLogFileNotFoundError(DeltaError):
    """A log file that the stream needs for the table's state is gone."""

    code: ClassVar[str] = "DELTA_LOG_FILE_NOT_FOUND_FOR_STREAMING_SOURCE"
    table: str
    version: int
    reason: str

    def __str__(self) -> str:
        return (
            f"version {self.version} of {self.table}, which the stream starts from, cannot be "
            f"rebuilt: {self.reason}\n"
            "hint: the log was cleaned up meanwhile; start the query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class StreamedFeedOffError(ChangeDataNotRecordedError):
    """A stream of a feed has reached a version at which the feed was off.

    The versions before it were delivered. `resumes` is the first later version from which the feed
    is on up to the latest version, None if it is off there.
    """

    resumes: int | None = None

    def __str__(self) -> str:
        again = (
            f"a stream with startingVersion {self.resumes}, from where on the feed is on"
            if self.resumes is not None
            else "a stream that starts after delta.enableChangeDataFeed is true again"
        )
        return (
            f"no change data was recorded at version {self.version}: the change feed was off; the "
            "stream ends before this version\n"
            "hint: start it again with the option changeFeed set to auto, which derives these "
            f"changes from the table's files; or leave them out, by {again}, and a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedOutputModeError(DeltaError):
    """The output mode of a stream into a table is neither append nor complete."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_OUTPUT_MODE"
    mode: str

    def __str__(self) -> str:
        return (
            f"output mode {self.mode} is not supported, expected append or complete\n"
            "hint: to update rows, merge each batch in foreachBatch"
        )


@dataclass(eq=False, kw_only=True)
class NullTypeInStreamError(DeltaError):
    """A column has only nulls and no type."""

    code: ClassVar[str] = "DELTA_NULL_SCHEMA_IN_STREAMING_WRITE"
    column: str

    def __str__(self) -> str:
        return f"column {self.column} has no type, only nulls\nhint: cast it to the intended type"


@dataclass(eq=False, kw_only=True)
class ValueDoesNotFitError(DeltaError):
    """A value cannot be cast to the type of its column."""

    code: ClassVar[str] = "DELTA_CAST_OVERFLOW_IN_TABLE_WRITE"
    column: str
    type: str
    reason: str

    def __str__(self) -> str:
        return (
            f"a value does not fit column {self.column} of type {self.type}: {self.reason}\n"
            "hint: cast the column before it is written, or leave such rows out"
        )


@dataclass(eq=False, kw_only=True)
class NativeWriterNeededError(DeltaError):
    """The write needs SQL to be evaluated, which Python workers cannot do."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_PYTHON_DATA_SOURCE_WRITE"
    table: str
    reason: str

    def __str__(self) -> str:
        return (
            f'{self.table} cannot be written by format("truckee"): {self.reason}\n'
            "hint: write with truckee.write(df) in a classic session, in foreachBatch for a "
            "stream; over Spark Connect, use a server started by truckee serve"
        )


@dataclass(eq=False, kw_only=True)
class NoPathToReadError(DeltaError):
    """A read by a Python data source gives no path; for a table by name, Spark passes it none."""

    code: ClassVar[str] = "DELTA_OPERATION_NOT_ALLOWED"

    def __str__(self) -> str:
        return (
            "no path is given to read; of a table by name, Spark does not tell a Python data "
            "source where it is\n"
            f"hint: give one path to load, or read by name {_WHERE_NAMES_WORK}"
        )


@dataclass(eq=False, kw_only=True)
class NoPathToWriteError(DeltaError):
    """A write by a Python data source gives no path; for a name, Spark passes it only the rows."""

    code: ClassVar[str] = "DELTA_OPERATION_NOT_ALLOWED"

    def __str__(self) -> str:
        return (
            "no path is given to write to; for a table by name, Spark passes a Python data source "
            "only the rows\n"
            f"hint: give a path to save or start, or write by name {_WHERE_NAMES_WORK}"
        )


@dataclass(eq=False, kw_only=True)
class InvalidOffsetFormatError(DeltaError):
    """An offset is not the JSON of a stream's offset."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_OFFSET_FORMAT"
    offset: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the offset {self.offset} is not one of a Delta stream: {self.reason}\n"
            "hint: use the checkpoint that the query was started with, or a new one"
        )


@dataclass(eq=False, kw_only=True)
class InvalidOffsetVersionError(DeltaError):
    """An offset has a `sourceVersion` that no release has written."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, expected 1 or 3\n"
            "hint: the checkpoint is broken; start the query with a new one"
        )


@dataclass(eq=False, kw_only=True)
class NewerOffsetError(DeltaError):
    """An offset was written by a later release."""

    code: ClassVar[str] = "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, but the newest known one is 3\n"
            "hint: upgrade truckee, or start the query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class DifferentTableError(DeltaError):
    """The checkpoint belongs to a table with another id."""

    code: ClassVar[str] = "DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE"
    table: str
    expected: str
    found: str

    def __str__(self) -> str:
        return (
            f"the stream has read the table with id {self.expected}, but the one at {self.table} "
            f"has id {self.found}\n"
            "hint: the table was recreated, or the checkpoint belongs to another table; start the "
            "query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class OffsetWentBackError(DeltaError):
    """The next offset would be before the one that the stream has reached."""

    code: ClassVar[str] = "DELTA_STREAM_OFFSET_WENT_BACK"
    table: str
    previous: str
    found: str

    def __str__(self) -> str:
        return (
            f"the stream of {self.table} has reached {self.previous}, but the table now ends at "
            f"{self.found}\n"
            "hint: files of _delta_log may have been deleted; restore them, or start the query "
            "with a new checkpoint"
        )
