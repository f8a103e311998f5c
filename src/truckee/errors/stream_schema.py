"""Errors of a stream's columns, and of the schema log that tracks them.

DeltaError
  GivenSchemaError                 a given schema that is not the table's
  SchemaNotSetError                a table without columns
  StreamSchemaChangedError         the table's columns are no longer those of the stream
    StreamSchemaChangedSinceStartError   the same, for a stream with a given start
  NonAdditiveSchemaChangeError     a column was renamed, dropped or given another type
  MetadataEvolvedError             the stream stops so that it can be started with a new schema
  SchemaChangeNotAllowedError      a rename, drop or new type that is not allowed yet
  SchemaLocationError              a schema log in the wrong folder
  SchemaLogNeedsDataLossCheckError a schema log beside failOnDataLoss=false
  SchemaLogConflictError           two sources of one query that share a schema log
  SchemaLogOfBatchReadError        a schema log given to a batch read
  CorruptSchemaLogError            an entry of a schema log that cannot be read
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class GivenSchemaError(DeltaError):
    """The schema given for a read is not the table's."""

    code: ClassVar[str] = "DELTA_READ_SOURCE_SCHEMA_CONFLICT"
    table: str
    given: str
    found: str

    def __str__(self) -> str:
        return (
            f"the read was given the schema {self.given}, but that of {self.table} is "
            f"{self.found}\n"
            "hint: leave out schema(), and choose columns with select()"
        )


@dataclass(eq=False, kw_only=True)
class SchemaNotSetError(DeltaError):
    """The table's metadata has no columns yet, so there is nothing to read."""

    code: ClassVar[str] = "DELTA_SCHEMA_NOT_SET"
    table: str

    def __str__(self) -> str:
        return (
            f"{self.table} has no columns yet, so its rows cannot be read\n"
            "hint: read it again after a commit has set its schema"
        )


@dataclass(eq=False, kw_only=True)
class StreamSchemaChangedError(DeltaError):
    """A commit's columns cannot be read as those of the stream.

    `is_retryable` says that a restart of the query is enough, because it then has the new schema.
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
    """A commit's columns cannot be read as those of a stream with a given start."""

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
    """A column was renamed, dropped or given another type since the stream's schema."""

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
    """The next schema does more than add columns, and the user has not allowed that yet."""

    code: ClassVar[str] = "DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION"
    table: str
    version: int
    change: str
    options: tuple[str, ...]

    def __str__(self) -> str:
        wanted = " and ".join(self.options)
        return (
            f"version {self.version} of {self.table} changed its columns: {self.change}\n"
            f"hint: check that the query and its sink can handle this, then set {wanted} to "
            f"{self.version}, or to always"
        )


@dataclass(eq=False, kw_only=True)
class SchemaLocationError(DeltaError):
    """A schema log must be below the checkpoint, so that the two stay together."""

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
    """A schema log needs every commit, so failOnDataLoss cannot be false."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"

    def __str__(self) -> str:
        return (
            "schemaTrackingLocation is set, and failOnDataLoss is false\n"
            "hint: leave out failOnDataLoss, because a stream with a schema log needs all commits"
        )


@dataclass(eq=False, kw_only=True)
class SchemaLogConflictError(DeltaError):
    """Two sources of one query share a schema log."""

    code: ClassVar[str] = "DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT"
    location: str

    def __str__(self) -> str:
        return (
            f"two streams of one table share the schema log {self.location}\n"
            "hint: give each its own streamingSourceTrackingId"
        )


@dataclass(eq=False, kw_only=True)
class SchemaLogOfBatchReadError(DeltaError):
    """A schema log was given to a batch read."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set, but a batch read does not use a schema log\n"
            f"hint: leave out {self.option}, or read with readStream"
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
