"""Errors of the protocol: features, properties, schema and values in the log."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class InvalidSchemaError(DeltaError):
    """The text of a schema is not the JSON of a struct."""

    code: ClassVar[str] = "INVALID_JSON_DATA_TYPE"
    text: str
    why: str

    def __str__(self) -> str:
        shown = self.text if len(self.text) <= 80 else self.text[:77] + "..."
        return (
            f"the table's schema cannot be read from {shown!r}: {self.why}\n"
            "hint: restore the commit or checkpoint that holds this metaData action"
        )


@dataclass(eq=False, kw_only=True)
class DuplicateColumnsError(DeltaError):
    """Two columns of one struct have the same name, ignoring case."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND"
    column: str

    def __str__(self) -> str:
        return (
            f"column {self.column} is found more than once in the schema, ignoring case\n"
            "hint: rename one of the columns"
        )


@dataclass(eq=False, kw_only=True)
class DuplicateDataColumnsError(DuplicateColumnsError):
    """Two columns of the data to be written have the same name."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND.DATA"


@dataclass(eq=False, kw_only=True)
class DuplicateNewColumnsError(DuplicateColumnsError):
    """Two columns of data whose schema replaces that of the table have the same name."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND.METADATA_UPDATE"


@dataclass(eq=False, kw_only=True)
class DuplicateInsertedColumnsError(DuplicateColumnsError):
    """Two columns of a query that INSERT matches by name have the same name."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND.READ_SCHEMA"


@dataclass(eq=False, kw_only=True)
class DuplicateListedColumnsError(DuplicateColumnsError):
    """A statement lists a column twice."""

    code: ClassVar[str] = "COLUMN_ALREADY_EXISTS"


@dataclass(eq=False, kw_only=True)
class DuplicateClusteringColumnsError(DuplicateColumnsError):
    """CLUSTER BY names a column twice."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY"

    def __str__(self) -> str:
        return f"CLUSTER BY names column {self.column} twice\nhint: name each column once"


@dataclass(eq=False, kw_only=True)
class InvalidTablePropertyError(DeltaError):
    """A table property has a value of the wrong kind."""

    code: ClassVar[str] = "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"
    key: str
    value: str
    needs: str

    def __str__(self) -> str:
        return (
            f"table property {self.key} is {self.value!r}, but needs to be {self.needs}\n"
            f"hint: set {self.key} to a value of that kind"
        )


@dataclass(eq=False, kw_only=True)
class InvalidIntervalError(InvalidTablePropertyError):
    """A table property that is a duration has a value that is not an interval."""

    code: ClassVar[str] = "DELTA_INVALID_INTERVAL"


@dataclass(eq=False, kw_only=True)
class InvalidIsolationLevelError(InvalidTablePropertyError):
    """A table property names an unknown isolation level."""

    code: ClassVar[str] = "DELTA_INVALID_ISOLATION_LEVEL"


@dataclass(eq=False, kw_only=True)
class UnknownTablePropertyError(DeltaError):
    """A property with Delta's prefix `delta.` has a name that Delta does not know."""

    code: ClassVar[str] = "DELTA_UNKNOWN_CONFIGURATION"
    key: str
    nearest: str | None = None

    def __str__(self) -> str:
        spelling = "check the spelling" if self.nearest is None else f"write {self.nearest}"
        return (
            f"{self.key} is not a table property of Delta\n"
            f"hint: {spelling}, or leave out the prefix delta. for a property of your own"
        )


@dataclass(eq=False, kw_only=True)
class UnsettableTablePropertyError(DeltaError):
    """A property that only writers may set was set by a user."""

    code: ClassVar[str] = "DELTA_CANNOT_MODIFY_TABLE_PROPERTY"
    key: str

    def __str__(self) -> str:
        return (
            f"table property {self.key} is maintained by Delta and cannot be set\n"
            "hint: leave it out of the properties"
        )


@dataclass(eq=False, kw_only=True)
class RetentionMismatchError(DeltaError):
    """The log retention is shorter than the retention of deleted files."""

    code: ClassVar[str] = "DELTA_VIOLATE_TABLE_PROPERTY_VALIDATION_FAILED"
    log_retention_ms: int
    deleted_file_retention_ms: int

    def __str__(self) -> str:
        return (
            f"delta.logRetentionDuration ({self.log_retention_ms} ms) is shorter than"
            f" delta.deletedFileRetentionDuration ({self.deleted_file_retention_ms} ms)\n"
            "hint: keep the log at least as long as deleted files"
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedProtocolVersionError(DeltaError):
    """The table's protocol versions are not supported, or contradict its feature lists."""

    code: ClassVar[str] = "DELTA_INVALID_PROTOCOL_VERSION"
    table: str
    reader_version: int
    writer_version: int
    reader_features: tuple[str, ...] = ()
    writer_features: tuple[str, ...] = ()

    def __str__(self) -> str:
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


@dataclass(eq=False, kw_only=True)
class UnsupportedReaderFeaturesError(DeltaError):
    """The table requires reader features that truckee does not support."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_FEATURES_FOR_READ"
    table: str
    features: dict[str, str]

    def __str__(self) -> str:
        return (
            f"{_named(self.table)} cannot be read, because it uses {_listed(self.features)}\n"
            "hint: upgrade truckee, or drop the feature with the engine that wrote the table"
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedWriterFeaturesError(DeltaError):
    """The table requires writer features that truckee does not support."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_FEATURES_FOR_WRITE"
    table: str
    features: dict[str, str]

    def __str__(self) -> str:
        return (
            f"{_named(self.table)} cannot be written to, because it uses {_listed(self.features)}\n"
            "hint: it can still be read; write with an engine that supports the feature"
        )


@dataclass(eq=False, kw_only=True)
class UnknownFeatureRequestError(DeltaError):
    """A table property asks for an unknown feature."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_FEATURES_IN_CONFIG"
    key: str

    def __str__(self) -> str:
        return (
            f"{self.key} asks for a table feature that truckee does not know\n"
            "hint: check the spelling, or leave the property out"
        )


@dataclass(eq=False, kw_only=True)
class FeatureStatusError(DeltaError):
    """A feature was requested with a status other than `supported`."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_FEATURE_STATUS"
    feature: str
    status: str

    def __str__(self) -> str:
        return (
            f"the status of table feature {self.feature} is {self.status!r}, but needs to be"
            f" 'supported'\nhint: set delta.feature.{self.feature} to supported"
        )


@dataclass(eq=False, kw_only=True)
class ColumnDefaultsNotEnabledError(DeltaError):
    """A column has a default, but the table does not support column defaults."""

    code: ClassVar[str] = "WRONG_COLUMN_DEFAULTS_FOR_DELTA_FEATURE_NOT_ENABLED"

    def __str__(self) -> str:
        return (
            "a column has a DEFAULT, but the table feature allowColumnDefaults is not enabled\n"
            "hint: set the table property delta.feature.allowColumnDefaults to supported"
        )


@dataclass(eq=False, kw_only=True)
class InvalidPartitionValueError(DeltaError):
    """A partition value cannot be read as its column's type."""

    code: ClassVar[str] = "DELTA_PARTITION_COLUMN_CAST_FAILED"
    value: str
    type: str

    def __str__(self) -> str:
        return (
            f"partition value {self.value!r} cannot be read as {self.type}\n"
            "hint: the value in the log does not fit the type of the partition column"
        )


def _named(table: str) -> str:
    return f"the table {table}" if table else "the table"


def _listed(features: dict[str, str]) -> str:
    return ", ".join(f"{name} ({why})" for name, why in features.items())


@dataclass(eq=False, kw_only=True)
class StatsOfPartitionColumnError(DeltaError):
    """A partition column is listed for statistics; its values are in the log already."""

    code: ClassVar[str] = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_PARTITIONED_COLUMN"
    column: str

    def __str__(self) -> str:
        return (
            f"delta.dataSkippingStatsColumns lists {self.column}, which the table is partitioned "
            "by: files are skipped by its values without statistics\n"
            "hint: take it off the list"
        )


@dataclass(eq=False, kw_only=True)
class StatsTypeError(DeltaError):
    """A column is listed for statistics whose type has none."""

    code: ClassVar[str] = "DELTA_COLUMN_DATA_SKIPPING_NOT_SUPPORTED_TYPE"
    column: str
    type: str

    def __str__(self) -> str:
        return (
            f"delta.dataSkippingStatsColumns lists {self.column}, but columns of type {self.type} "
            "have no statistics\n"
            "hint: list columns of numbers, strings, dates or times"
        )


@dataclass(eq=False, kw_only=True)
class DuplicateStatsColumnsError(DeltaError):
    """Columns are listed for statistics more than once."""

    code: ClassVar[str] = "DELTA_DUPLICATE_DATA_SKIPPING_COLUMNS"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"delta.dataSkippingStatsColumns lists [{', '.join(self.columns)}] more than once\n"
            "hint: a struct stands for all of its fields; list each column once"
        )
