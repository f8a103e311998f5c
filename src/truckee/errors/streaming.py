"""What can go wrong with a stream of a table, or of its change feed.

DeltaError
  InvalidOffsetFormatError         a checkpoint's offset that cannot be read
  InvalidOffsetVersionError        an offset in a format that never was
  NewerOffsetError                 an offset in a format that is newer than this release
  DifferentTableError              a checkpoint of another table, or a table that was made anew
  OffsetWentBackError              a table that is shorter than what the stream has read of it
  TwoStartsError                   startingVersion beside startingTimestamp
  TimeTravelOfStreamError          versionAsOf or timestampAsOf on a stream
  GivenSchemaError                 a schema given by hand that is not the table's
  SchemaNotSetError                a table without columns
  SourceRowsChangedError           rows were updated, and a plain stream shows appended ones only
  SourceRowsDeletedError           rows were deleted, likewise
  MissingCommitsError              commits that the stream has not read yet are gone
  TrailingCommitMissingError       the last commit of a planned batch is gone
  StreamLogFileNotFoundError       a file of the log is gone
  StreamSchemaChangedError         the table's columns are no longer those of the stream
    StreamSchemaChangedSinceStartError   the same, where the stream was told where to start
  NonAdditiveSchemaChangeError     a column was renamed, dropped or given another type
  MetadataEvolvedError             the stream stops so that it can be started with a new schema
  SchemaChangeNotAllowedError      a rename, drop or new type that nobody has agreed to yet
  SchemaLocationError              a schema log that is not where it has to be
  SchemaLogNeedsDataLossCheckError a schema log beside failOnDataLoss=false
  CorruptSchemaLogError            an entry of a schema log that cannot be read
  UnsupportedOutputModeError       a sink that cannot update rows
  NullTypeInStreamError            a column without a type
  ValueDoesNotFitError             a value that its column cannot hold
  NativeWriterNeededError          a table or an option that only Spark's own writer can serve
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class InvalidOffsetFormatError(DeltaError):
    """An offset that is no JSON object of a stream's offset."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_OFFSET_FORMAT"
    offset: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the offset {self.offset} is not one of a Delta stream: {self.reason}\n"
            "hint: give the query the checkpoint that it was started with, or a new one"
        )


@dataclass(eq=False, kw_only=True)
class InvalidOffsetVersionError(DeltaError):
    """An offset whose `sourceVersion` no release has ever written."""

    code: ClassVar[str] = "DELTA_INVALID_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, expected 1 or 3\n"
            "hint: the checkpoint is broken; start the query with a new one"
        )


@dataclass(eq=False, kw_only=True)
class NewerOffsetError(DeltaError):
    """An offset that a later release has written."""

    code: ClassVar[str] = "DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION"
    source_version: int

    def __str__(self) -> str:
        return (
            f"the offset has sourceVersion {self.source_version}, and 3 is the newest known here\n"
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
            "hint: the table was made anew, or the checkpoint belongs to another table; start the "
            "query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class OffsetWentBackError(DeltaError):
    """The next offset would lie before the one that the stream has reached."""

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
    """A stream goes forward from where it starts, so it cannot be read as of a version."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set, but a stream cannot be read as of a version\n"
            "hint: set startingVersion or startingTimestamp to say where the stream starts"
        )


@dataclass(eq=False, kw_only=True)
class GivenSchemaError(DeltaError):
    """A schema was given for a read, and the table has another one."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_SCHEMA_DURING_READ"
    table: str
    given: str
    found: str

    def __str__(self) -> str:
        return (
            f"the read was given the schema {self.given}, but that of {self.table} is "
            f"{self.found}\n"
            "hint: leave out schema(); which columns to read is told by the option columns"
        )


@dataclass(eq=False, kw_only=True)
class SchemaNotSetError(DeltaError):
    """A table without columns has nothing to stream."""

    code: ClassVar[str] = "DELTA_SCHEMA_NOT_SET"
    table: str

    def __str__(self) -> str:
        return (
            f"{self.table} has no columns yet, so it cannot be streamed\n"
            "hint: write to the table first"
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
            f"version {self.version} of {self.table} changed rows that were there ({self.change}), "
            "and a stream of a table shows appended rows only\n"
            "hint: read its changes with readChangeFeed, leave out such commits with "
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
            f"version {self.version} of {self.table} deleted rows ({self.change}), and a stream of "
            "a table shows appended rows only\n"
            "hint: read its changes with readChangeFeed, or set ignoreDeletes or "
            "skipChangeCommits to pass over such commits"
        )


@dataclass(eq=False, kw_only=True)
class MissingCommitsError(DeltaError):
    """Commits that the stream has to read next are gone."""

    code: ClassVar[str] = "DELTA_MISSING_FILES_UNEXPECTED_VERSION"
    table: str
    expected: int
    found: int

    def __str__(self) -> str:
        return (
            f"the stream expected version {self.expected} of {self.table} next, but the log goes "
            f"on with version {self.found}: the commits between were cleaned up\n"
            "hint: start the query with a new checkpoint, or set failOnDataLoss to false to go on "
            "without them"
        )


@dataclass(eq=False, kw_only=True)
class TrailingCommitMissingError(DeltaError):
    """A batch was planned up to a version whose commit is no longer there."""

    code: ClassVar[str] = "DELTA_STREAMING_TRAILING_COMMIT_MISSING"
    table: str
    expected: int
    last: int | None

    def __str__(self) -> str:
        found = "none of them is" if self.last is None else f"the last one is version {self.last}"
        return (
            f"the batch needs the commits of {self.table} up to version {self.expected}, and "
            f"{found} in the log\n"
            "hint: restore the files of _delta_log, or start the query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class StreamLogFileNotFoundError(DeltaError):
    """A file of the log is gone that the stream needs to know the table's state."""

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
class StreamSchemaChangedError(DeltaError):
    """A commit's columns cannot be read as those of the stream.

    `is_retryable` says that starting the query again will do, for it then has the new schema.
    """

    code: ClassVar[str] = "DELTA_SCHEMA_CHANGED_WITH_VERSION"
    table: str
    version: int
    stream_schema: str
    schema: str
    is_retryable: bool

    def __str__(self) -> str:
        return f"{self._found()}\nhint: {self._hint()}"

    def _found(self) -> str:
        return (
            f"version {self.version} of {self.table} has the schema {self.schema}, which cannot "
            f"be read as {self.stream_schema}, the schema of the stream"
        )

    def _hint(self) -> str:
        if self.is_retryable:
            return "load the stream again and restart the query; it then has the new schema"
        return "start the query with a new checkpoint"


@dataclass(eq=False, kw_only=True)
class StreamSchemaChangedSinceStartError(StreamSchemaChangedError):
    """The same, for a stream that was told where to start."""

    code: ClassVar[str] = "DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS"

    def _hint(self) -> str:
        if self.is_retryable:
            return super()._hint()
        return (
            "start the query with a new checkpoint, and with startingVersion or startingTimestamp "
            f"after version {self.version}"
        )


@dataclass(eq=False, kw_only=True)
class NonAdditiveSchemaChangeError(DeltaError):
    """A rename, a drop or a new type lies between a commit and the stream's schema."""

    code: ClassVar[str] = "DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG"
    table: str
    version: int
    stream_schema: str
    schema: str
    reason: str

    def __str__(self) -> str:
        return (
            f"version {self.version} of {self.table} has the schema {self.schema}, and the stream "
            f"{self.stream_schema}: {self.reason}\n"
            "hint: set schemaTrackingLocation to a folder below the checkpoint, so that the stream "
            "follows such changes, or start the query with a new checkpoint"
        )


@dataclass(eq=False, kw_only=True)
class MetadataEvolvedError(DeltaError):
    """The schema log has a new entry; the query goes on with it when it is started again."""

    code: ClassVar[str] = "DELTA_STREAMING_METADATA_EVOLUTION"
    table: str
    version: int
    schema: str

    def __str__(self) -> str:
        return (
            f"the stream of {self.table} has reached the change of its metadata at version "
            f"{self.version}; from there on the schema is {self.schema}\n"
            "hint: load the stream again and restart the query"
        )


@dataclass(eq=False, kw_only=True)
class SchemaChangeNotAllowedError(DeltaError):
    """The next schema is no mere addition, and the user has not agreed to it yet."""

    code: ClassVar[str] = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"
    table: str
    version: int
    change: str
    options: tuple[str, ...]

    def __str__(self) -> str:
        wanted = " and ".join(self.options)
        return (
            f"version {self.version} of {self.table} changed its columns: {self.change}\n"
            f"hint: check that the query and its sink can do with that, then set {wanted} to "
            f"{self.version}, or to always"
        )


@dataclass(eq=False, kw_only=True)
class SchemaLocationError(DeltaError):
    """A schema log has to lie below the checkpoint, so that the two are never parted."""

    code: ClassVar[str] = "DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT"
    location: str
    checkpoint: str

    def __str__(self) -> str:
        return (
            f"schemaTrackingLocation is {self.location}, which is not below the query's "
            f"checkpoint {self.checkpoint}\n"
            f"hint: set it to {self.checkpoint}/_schemas, or to another folder there"
        )


@dataclass(eq=False, kw_only=True)
class SchemaLogNeedsDataLossCheckError(DeltaError):
    """With commits left out, nobody could tell which schema follows which."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"

    def __str__(self) -> str:
        return (
            "schemaTrackingLocation is set, and failOnDataLoss is false\n"
            "hint: leave out failOnDataLoss, since a stream that follows schemas needs all commits"
        )


@dataclass(eq=False, kw_only=True)
class SchemaLogConflictError(DeltaError):
    """Two sources of one query write the same schema log."""

    code: ClassVar[str] = "DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT"
    location: str

    def __str__(self) -> str:
        return (
            f"two streams of one table share the schema log {self.location}\n"
            "hint: give each its own streamingSourceTrackingId"
        )


@dataclass(eq=False, kw_only=True)
class CorruptSchemaLogError(DeltaError):
    """An entry of a schema log that cannot be read."""

    code: ClassVar[str] = "DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED"
    path: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the entry {self.path} of the schema log cannot be read: {self.reason}\n"
            "hint: start the query with a new checkpoint and a new schema log"
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedOutputModeError(DeltaError):
    """A table takes new rows, or all rows anew."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_OUTPUT_MODE"
    mode: str

    def __str__(self) -> str:
        return (
            f"output mode {self.mode} is not supported, expected append or complete\n"
            "hint: to update rows, merge each batch in foreachBatch"
        )


@dataclass(eq=False, kw_only=True)
class NullTypeInStreamError(DeltaError):
    """A column that is nothing but nulls has no type to write."""

    code: ClassVar[str] = "DELTA_NULL_SCHEMA_IN_STREAMING_WRITE"
    column: str

    def __str__(self) -> str:
        return (
            f"column {self.column} has no type, only nulls\n"
            "hint: cast it to the type that it should have"
        )


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
    """What was asked for needs SQL to be evaluated, which Python workers cannot."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_PYTHON_DATA_SOURCE_WRITE"
    table: str
    reason: str

    def __str__(self) -> str:
        return (
            f'{self.table} cannot be written by format("truckee"): {self.reason}\n'
            "hint: write with truckee.write(df) in a classic session, in foreachBatch for a stream"
        )
