"""Errors of a stream's columns, and of the schema log that tracks them."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class GivenSchemaError(
    DeltaError, code="DELTA_READ_SOURCE_SCHEMA_CONFLICT", state="42K07", spark="AnalysisException"
):
    """The schema given for a read is not the table's."""

    table: str
    given: str
    found: str
    text = "the read was given the schema {given}, but that of {table} is {found}"
    hint = "leave out schema(), and choose columns with select()"


class SchemaNotSetError(
    DeltaError, code="DELTA_SCHEMA_NOT_SET", state="KD008", spark="AnalysisException"
):
    """The table's metadata has no columns yet, so there is nothing to read."""

    table: str
    text = "{table} has no columns yet, so its rows cannot be read"
    hint = "read it again after a commit has set its schema"


class StreamSchemaChangedError(DeltaError, code="DELTA_SCHEMA_CHANGED_WITH_VERSION", state="KD007"):
    """A commit's columns cannot be read as those of the stream.

    `is_retryable` says that a restart of the query is enough, because it then has the new schema.
    """

    table: str
    version: int
    stream_schema: str
    schema: str
    is_retryable: bool
    text = "{_found}"
    hint = "{_hint}"

    def _found(self) -> str:
        return (
            f"version {self.version} of {self.table} has the schema {self.schema}, which cannot "
            f"be read as {self.stream_schema}, the schema of the stream"
        )

    def _hint(self) -> str:
        if self.is_retryable:
            return "load the stream again and restart the query; it then has the new schema"
        return "start the query with a new checkpoint"


class StreamSchemaChangedSinceStartError(
    StreamSchemaChangedError, code="DELTA_SCHEMA_CHANGED_WITH_STARTING_OPTIONS"
):
    """A commit's columns cannot be read as those of a stream with a given start."""

    def _hint(self) -> str:
        if self.is_retryable:
            return super()._hint()
        return (
            "start the query with a new checkpoint, and with startingVersion or startingTimestamp "
            f"after version {self.version}"
        )


class NonAdditiveSchemaChangeError(
    DeltaError,
    code="DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG",
    state="42KD4",
    spark="UnsupportedOperationException",
):
    """A column was renamed, dropped or given another type since the stream's schema."""

    table: str
    version: int
    stream_schema: str
    schema: str
    reason: str
    text = (
        "version {version} of {table} has the schema {schema}, and the stream {stream_schema}: "
        "{reason}"
    )
    hint = (
        "set schemaTrackingLocation to a folder below the checkpoint, so that the stream follows "
        "such changes, or start the query with a new checkpoint"
    )


class MetadataEvolvedError(DeltaError, code="DELTA_STREAMING_METADATA_EVOLUTION", state="22000"):
    """The schema log has a new entry; the query goes on with it when it is started again."""

    table: str
    version: int
    schema: str
    text = (
        "the stream of {table} has reached the change of its metadata at version {version}; from "
        "there on the schema is {schema}"
    )
    hint = "load the stream again and restart the query"


class SchemaChangeNotAllowedError(
    DeltaError,
    code="DELTA_STREAMING_CANNOT_CONTINUE_PROCESSING_POST_SCHEMA_EVOLUTION",
    state="KD002",
):
    """The next schema does more than add columns, and the user has not allowed that yet."""

    table: str
    version: int
    change: str
    options: tuple[str, ...]

    def sentence(self) -> str:
        wanted = " and ".join(self.options)
        return (
            f"version {self.version} of {self.table} changed its columns: {self.change}\n"
            f"hint: check that the query and its sink can handle this, then set {wanted} to "
            f"{self.version}, or to always"
        )


class SchemaLocationError(
    DeltaError,
    code="DELTA_STREAMING_SCHEMA_LOCATION_NOT_UNDER_CHECKPOINT",
    state="22000",
    spark="AnalysisException",
):
    """A schema log must be below the checkpoint, so that the two stay together."""

    location: str
    checkpoint: str
    text = (
        "schemaTrackingLocation is {location}, which is not below the query's checkpoint "
        "{checkpoint}"
    )
    hint = "set it to {checkpoint}/_schemas, or to another folder there"


class SchemaLogNeedsDataLossCheckError(
    DeltaError, code="DELTA_ILLEGAL_OPTION", state="42616", spark="IllegalArgumentException"
):
    """A schema log needs every commit, so failOnDataLoss cannot be false."""

    text = "schemaTrackingLocation is set, and failOnDataLoss is false"
    hint = "leave out failOnDataLoss, because a stream with a schema log needs all commits"


class SchemaLogConflictError(
    DeltaError,
    code="DELTA_STREAMING_SCHEMA_LOCATION_CONFLICT",
    state="22000",
    spark="AnalysisException",
):
    """Two sources of one query share a schema log."""

    location: str
    text = "two streams of one table share the schema log {location}"
    hint = "give each its own streamingSourceTrackingId"


class SchemaLogOfBatchReadError(
    DeltaError, code="DELTA_ILLEGAL_OPTION", state="42616", spark="IllegalArgumentException"
):
    """A schema log was given to a batch read."""

    option: str
    text = "option {option} is set, but a batch read does not use a schema log"
    hint = "leave out {option}, or read with readStream"


class CorruptSchemaLogError(
    DeltaError, code="DELTA_STREAMING_SCHEMA_LOG_DESERIALIZE_FAILED", state="22000"
):
    """An entry of a schema log that cannot be read."""

    path: str
    reason: str
    text = "the entry {path} of the schema log cannot be read: {reason}"
    hint = "start the query with a new checkpoint and a new schema log"
