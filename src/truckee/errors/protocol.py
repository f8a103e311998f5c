"""Errors of the protocol: features, properties, schema and values in the log."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class InvalidSchemaError(DeltaError, code="INVALID_JSON_DATA_TYPE", state="2203G"):
    """The text of a schema is not the JSON of a struct."""

    text: str
    why: str

    def sentence(self) -> str:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        return (
            f"the table's schema cannot be read from {shown!r}: {self.why}\n"
            "hint: restore the commit or checkpoint that holds this metaData action"
        )


class DuplicateColumnsError(
    DeltaError, code="DELTA_DUPLICATE_COLUMNS_FOUND", state="42711", spark="AnalysisException"
):
    """Two columns of one struct have the same name, ignoring case."""

    column: str
    text = "column {column} is found more than once in the schema, ignoring case"
    hint = "rename one of the columns"


class DuplicateDataColumnsError(DuplicateColumnsError, code="DELTA_DUPLICATE_COLUMNS_FOUND.DATA"):
    """Two columns of the data to be written have the same name."""


class DuplicateNewColumnsError(
    DuplicateColumnsError, code="DELTA_DUPLICATE_COLUMNS_FOUND.METADATA_UPDATE"
):
    """Two columns of data whose schema replaces that of the table have the same name."""


class DuplicateInsertedColumnsError(
    DuplicateColumnsError, code="DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA"
):
    """Two columns of a query that INSERT matches by name have the same name."""


class DuplicateListedColumnsError(DuplicateColumnsError, code="COLUMN_ALREADY_EXISTS"):
    """A statement lists a column twice."""


class DuplicateClusteringColumnsError(
    DuplicateColumnsError, code="DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY"
):
    """CLUSTER BY names a column twice."""

    text = "CLUSTER BY names column {column} twice"
    hint = "name each column once"


class InvalidTablePropertyError(
    DeltaError,
    code="DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED",
    state="0A000",
    spark="IllegalArgumentException",
):
    """A table property has a value of the wrong kind."""

    key: str
    value: str
    needs: str
    text = "table property {key} is {value!r}, but needs to be {needs}"
    hint = "set {key} to a value of that kind"


class InvalidIntervalError(InvalidTablePropertyError, code="DELTA_INVALID_INTERVAL", state="22006"):
    """A table property that is a duration has a value that is not an interval."""


class InvalidIsolationLevelError(
    InvalidTablePropertyError, code="DELTA_INVALID_ISOLATION_LEVEL", state="25000"
):
    """A table property names an unknown isolation level."""


class UnknownTablePropertyError(
    DeltaError, code="DELTA_UNKNOWN_CONFIGURATION", state="F0000", spark="AnalysisException"
):
    """A property with Delta's prefix `delta.` has a name that Delta does not know."""

    key: str
    nearest: str | None = None

    def sentence(self) -> str:
        spelling = "check the spelling" if self.nearest is None else f"write {self.nearest}"
        return (
            f"{self.key} is not a table property of Delta\n"
            f"hint: {spelling}, or leave out the prefix delta. for a property of your own"
        )


class UnsettableTablePropertyError(
    DeltaError,
    code="DELTA_CANNOT_MODIFY_TABLE_PROPERTY",
    state="42939",
    spark="UnsupportedOperationException",
):
    """A property that only writers may set was set by a user."""

    key: str
    text = "table property {key} is maintained by Delta and cannot be set"
    hint = "leave it out of the properties"


class RetentionMismatchError(
    DeltaError,
    code="DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED",
    state="0A000",
    spark="IllegalArgumentException",
):
    """The log retention is shorter than the retention of deleted files."""

    log_retention_ms: int
    deleted_file_retention_ms: int
    text = (
        "delta.logRetentionDuration ({log_retention_ms} ms) is shorter than "
        "delta.deletedFileRetentionDuration ({deleted_file_retention_ms} ms)"
    )
    hint = "keep the log at least as long as deleted files"


class UnsupportedProtocolVersionError(
    DeltaError, code="DELTA_INVALID_PROTOCOL_VERSION", state="KD004"
):
    """The table's protocol versions are not supported, or contradict its feature lists."""

    table: str
    reader_version: int
    writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()

    def sentence(self) -> str:
        return (
            f"{_named(self.table)} requires reader version {self.reader_version} and writer version"
            f" {self.writer_version}, but truckee supports reader versions 1 to 3 and writer"
            f" versions 1 to 7{self._contradiction()}\n"
            "hint: upgrade truckee, or use the engine that wrote the table"
        )

    def _contradiction(self) -> str:
        if self.reader_features and self.reader_version != 3:
            return ", and lists of reader features only with reader version 3"
        if self.writer_features and self.writer_version != 7:
            return ", and lists of writer features only with writer version 7"
        return ""


class UnsupportedReaderFeaturesError(
    DeltaError, code="DELTA_UNSUPPORTED_FEATURES_FOR_READ", state="56038"
):
    """The table requires reader features that truckee does not support."""

    table: str
    features: dict[str, str]

    def sentence(self) -> str:
        return (
            f"{_named(self.table)} cannot be read, because it uses {_listed(self.features)}\n"
            "hint: upgrade truckee, or drop the feature with the engine that wrote the table"
        )


class UnsupportedWriterFeaturesError(
    DeltaError, code="DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", state="56038"
):
    """The table requires writer features that truckee does not support."""

    table: str
    features: dict[str, str]

    def sentence(self) -> str:
        return (
            f"{_named(self.table)} cannot be written to, because it uses {_listed(self.features)}\n"
            "hint: it can still be read; write with an engine that supports the feature"
        )


class UnknownFeatureRequestError(
    DeltaError, code="DELTA_UNSUPPORTED_FEATURES_IN_CONFIG", state="56038"
):
    """A table property asks for an unknown feature."""

    key: str
    text = "{key} asks for a table feature that truckee does not know"
    hint = "check the spelling, or leave the property out"


class FeatureStatusError(DeltaError, code="DELTA_UNSUPPORTED_FEATURE_STATUS", state="0AKDE"):
    """A feature was requested with a status other than `supported`."""

    feature: str
    status: str
    text = "the status of table feature {feature} is {status!r}, but needs to be 'supported'"
    hint = "set delta.feature.{feature} to supported"


class ColumnDefaultsNotEnabledError(
    DeltaError,
    code="WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED",
    state="0AKDE",
    spark="AnalysisException",
):
    """A column has a default, but the table does not support column defaults."""

    text = "a column has a DEFAULT, but the table feature allowColumnDefaults is not enabled"
    hint = "set the table property delta.feature.allowColumnDefaults to supported"


class InvalidPartitionValueError(
    DeltaError, code="DELTA_PARTITION_COLUMN_CAST_FAILED", state="22525"
):
    """A partition value cannot be read as its column's type."""

    value: str
    type: str
    text = "partition value {value!r} cannot be read as {type}"
    hint = "the value in the log does not fit the type of the partition column"


def _named(table: str) -> str:
    return f"the table {table}" if table else "the table"


def _listed(features: dict[str, str]) -> str:
    return ", ".join(f"{name} ({why})" for name, why in features.items())


class StatsOfPartitionColumnError(
    DeltaError,
    code="DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN",
    state="0AKDC",
    spark="IllegalArgumentException",
):
    """A partition column is listed for statistics; its values are in the log already."""

    column: str
    text = (
        "delta.dataSkippingStatsColumns lists {column}, which the table is partitioned by: files "
        "are skipped by its values without statistics"
    )
    hint = "take it off the list"


class StatsTypeError(
    DeltaError,
    code="DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE",
    state="0AKDC",
    spark="IllegalArgumentException",
):
    """A column is listed for statistics whose type has none."""

    column: str
    type: str
    text = (
        "delta.dataSkippingStatsColumns lists {column}, but columns of type {type} have no "
        "statistics"
    )
    hint = "list columns of numbers, strings, dates or times"


class DuplicateStatsColumnsError(
    DeltaError,
    code="DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS",
    state="42701",
    spark="IllegalArgumentException",
):
    """Columns are listed for statistics more than once."""

    columns: tuple[str, ...]
    text = "delta.dataSkippingStatsColumns lists [{columns}] more than once"
    hint = "a struct stands for all of its fields; list each column once"
