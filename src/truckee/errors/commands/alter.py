"""Refused changes of a table's columns, constraints, properties and features.

DeltaError
├── ConstraintExistsError           a constraint of this name exists
├── ConstraintNotFoundError         there is no constraint of this name
├── ConstraintNotBooleanError       its expression is not boolean
├── ConstraintAlreadyViolatedError  rows of the table break it
├── ConstraintPropertyError         constraints cannot be set as properties
├── PropertyNotFoundError           the property to unset is not set
├── ColumnMappingModeChangeError    a mode that the table cannot change to
├── RowTrackingBackfillError        rows that have no ids yet
├── ColumnMappingRequiredError      rename and drop need column mapping
├── ColumnNotFoundError             a column that the table does not have
├── ColumnExistsError               a column that the table already has
├── DependentColumnError            something else depends on the column
│   ├── GeneratedFromColumnError    by a generated column
│   ├── PartitionColumnDropError    by the partitions of the table
│   └── ClusteringColumnDropError   by its clustering
├── ColumnChangeError               a change that data files do not allow
│   ├── TypeChangeError               to another type
│   └── NotNullColumnError            a new column that is NOT NULL
├── ColumnsNotReplaceableError      a list of columns that data files do not allow
├── HistoryTruncationError          history needs truncation only for reader features
├── CheckpointProtectionDropError   history must be truncated to drop this feature
├── FeatureRetentionError           a version that needs the feature is too young to be deleted
├── HistoricalVersionsError         the same, on a later attempt
├── CheckpointProtectionWaitError   protected versions are too young to be deleted
└── FeatureDropError                a feature that cannot be dropped
    ├── UnknownFeatureDropError     a feature that truckee does not know
    └── AbsentFeatureDropError      a feature that the table does not have
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class ConstraintExistsError(DeltaError):
    """A constraint of this name already exists."""

    code: ClassVar[str] = "DELTA_CONSTRAINT_ALREADY_EXISTS"
    name: str
    expression: str

    def __str__(self) -> str:
        return (
            f"constraint {self.name} already exists: {self.expression}\n"
            "hint: drop it first, or choose another name"
        )


@dataclass(eq=False, kw_only=True)
class ConstraintNotFoundError(DeltaError):
    """There is no constraint of this name."""

    code: ClassVar[str] = "DELTA_CONSTRAINT_DOES_NOT_EXIST"
    name: str
    known: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"there is no constraint {self.name} among [{', '.join(self.known)}]\n"
            "hint: pass ifExists to drop it only if it exists"
        )


@dataclass(eq=False, kw_only=True)
class ConstraintNotBooleanError(DeltaError):
    """The expression of a constraint is not a condition on a row."""

    code: ClassVar[str] = "DELTA_NON_BOOLEAN_CHECK_CONSTRAINT"
    name: str
    expression: str
    reason: str

    def __str__(self) -> str:
        return (
            f"constraint {self.name} ({self.expression}) is not a condition on a row: "
            f"{self.reason}\nhint: compare columns of the table, so that the result is boolean"
        )


@dataclass(eq=False, kw_only=True)
class ConstraintAlreadyViolatedError(DeltaError):
    """Existing rows of the table violate a new constraint."""

    code: ClassVar[str] = "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"
    name: str
    expression: str
    rows: int

    def __str__(self) -> str:
        return (
            f"constraint {self.name} ({self.expression}) does not hold for {self.rows} existing "
            f"row{'s' * (self.rows != 1)} of the table\n"
            "hint: delete or update what violates it first; null does not satisfy it either"
        )


@dataclass(eq=False, kw_only=True)
class ConstraintPropertyError(DeltaError):
    """A constraint was set or unset as a property, which would skip the check of the rows."""

    code: ClassVar[str] = "DELTA_ADD_CONSTRAINTS"
    key: str

    def __str__(self) -> str:
        return (
            f"{self.key} is a constraint, which cannot be set or unset as a property\n"
            "hint: use addConstraint and dropConstraint, which check the rows"
        )


@dataclass(eq=False, kw_only=True)
class PropertyNotFoundError(DeltaError):
    """The property to unset is not set."""

    code: ClassVar[str] = "DELTA_UNSET_NON_EXISTENT_PROPERTY"
    key: str
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} has no property {self.key}\n"
            "hint: pass ifExists to unset it only if it is set"
        )


@dataclass(eq=False, kw_only=True)
class ColumnMappingModeChangeError(DeltaError):
    """The data files do not allow this change of the column mapping mode."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE"
    old: str
    new: str

    def __str__(self) -> str:
        return (
            f"the column mapping mode is {self.old} and cannot become {self.new}\n"
            "hint: a table can go from none to name; mode id is chosen when a table is created"
        )


@dataclass(eq=False, kw_only=True)
class RowTrackingBackfillError(DeltaError):
    """Row tracking cannot be switched on, because existing rows have no ids."""

    code: ClassVar[str] = "DELTA_ROW_TRACKING_BACKFILL_REQUIRED"
    table: str
    files: int

    def __str__(self) -> str:
        return (
            f"row tracking cannot be switched on: the rows of {self.files} files of the table "
            f"{self.table} have no ids yet\n"
            "hint: switch it on when the table is created, or rewrite its rows"
        )


@dataclass(eq=False, kw_only=True)
class ColumnMappingRequiredError(DeltaError):
    """Columns can be renamed or dropped only with column mapping."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_RENAME_COLUMN"
    action: str

    def __str__(self) -> str:
        return (
            f"columns can be {self.action} only with column mapping\n"
            "hint: set the table property 'delta.columnMapping.mode' to 'name' first"
        )


@dataclass(eq=False, kw_only=True)
class DropNeedsColumnMappingError(ColumnMappingRequiredError):
    """A column can be dropped only with column mapping."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_DROP_COLUMN"


@dataclass(eq=False, kw_only=True)
class ColumnNotFoundError(DeltaError):
    """The table does not have this column."""

    code: ClassVar[str] = "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the table has no column {self.column}; it has [{', '.join(self.columns)}]\n"
            "hint: name one of these, or a field of a struct as s.x"
        )


@dataclass(eq=False, kw_only=True)
class ColumnExistsError(DeltaError):
    """A column would be added, or renamed, to a name that is taken."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND"
    column: str

    def __str__(self) -> str:
        return (
            f"the table already has a column {self.column}\n"
            "hint: choose another name; names are not case-sensitive"
        )


@dataclass(eq=False, kw_only=True)
class DependentColumnError(DeltaError):
    """A column cannot be renamed, dropped or changed, because something depends on it."""

    code: ClassVar[str] = "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"
    action: str
    column: str
    dependents: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"column {self.column} cannot be {self.action}, because it is used by "
            f"{', '.join(self.dependents)}\nhint: drop what depends on the column first"
        )


class GeneratedFromColumnError(DependentColumnError):
    """The same: a generated column is computed from it."""

    code: ClassVar[str] = "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"


class PartitionColumnDropError(DependentColumnError):
    """The same: the table is partitioned by it."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN"


class ClusteringColumnDropError(DependentColumnError):
    """The same: the table is clustered by it."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN"


@dataclass(eq=False, kw_only=True)
class ColumnChangeError(DeltaError):
    """This change of a column is not possible."""

    code: ClassVar[str] = "DELTA_ALTER_TABLE_CHANGE_COL_NOT_SUPPORTED"
    column: str
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"column {self.column} cannot be changed: {self.reason}\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class TypeChangeError(ColumnChangeError):
    """A column cannot become one of this type."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP"


@dataclass(eq=False, kw_only=True)
class NotNullColumnError(ColumnChangeError):
    """A new column cannot be NOT NULL."""

    code: ClassVar[str] = "DELTA_OPERATION_NOT_ALLOWED"

    def __str__(self) -> str:
        return f"column {self.column} cannot be added: {self.reason}\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class ColumnsNotReplaceableError(DeltaError):
    """REPLACE COLUMNS with columns that the files of the table do not have."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP"
    reason: str

    def __str__(self) -> str:
        return (
            f"the columns of the table cannot be replaced: {self.reason}\n"
            "hint: name all columns of the table, and new ones that may be null"
        )


@dataclass(eq=False, kw_only=True)
class HistoryTruncationError(DeltaError):
    """History need not be truncated to drop this feature."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED"
    feature: str

    def __str__(self) -> str:
        return (
            f"the feature {self.feature} does not affect readers, so history need not be "
            "truncated\nhint: drop it without truncateHistory"
        )


@dataclass(eq=False, kw_only=True)
class CheckpointProtectionDropError(DeltaError):
    """Older versions of the table depend on checkpoint protection."""

    code: ClassVar[str] = (
        "DELTA_FEATURE_CAN_ONLY_DROP_CHECKPOINT_PROTECTION_WITH_HISTORY_TRUNCATION"
    )

    def __str__(self) -> str:
        return (
            "the feature checkpointProtection cannot be dropped, since older versions of the table "
            "depend on it\nhint: pass truncateHistory=True to delete these versions"
        )


@dataclass(eq=False, kw_only=True)
class FeatureRetentionError(DeltaError):
    """A version that needs the feature is too young to be deleted; the table is prepared."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_WAIT_FOR_RETENTION_PERIOD"
    feature: str
    version: int
    hours: int

    def __str__(self) -> str:
        return (
            f"the feature {self.feature} cannot be dropped yet: version {self.version} needs it, "
            f"and history is kept for {self.hours} hours\n"
            f"hint: the table is prepared; try again in {self.hours} hours"
        )


@dataclass(eq=False, kw_only=True)
class HistoricalVersionsError(DeltaError):
    """A version that needs the feature is still too young to be deleted."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_HISTORICAL_VERSIONS_EXIST"
    feature: str
    version: int
    hours: int

    def __str__(self) -> str:
        return (
            f"the feature {self.feature} cannot be dropped yet: version {self.version} needs it, "
            f"and history is kept for {self.hours} hours\n"
            "hint: try again when that version is older, or lower the table property "
            "'delta.dropFeatureTruncateHistory.retentionDuration'"
        )


@dataclass(eq=False, kw_only=True)
class CheckpointProtectionWaitError(DeltaError):
    """Protected versions are too young to be deleted."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_CHECKPOINT_PROTECTION_WAIT_FOR_RETENTION_PERIOD"
    before: int
    earliest: int
    hours: int

    def __str__(self) -> str:
        return (
            "the feature checkpointProtection cannot be dropped yet: it protects the versions "
            f"before {self.before}, and the log still has version {self.earliest}\n"
            f"hint: history is kept for {self.hours} hours; try again after that"
        )


@dataclass(eq=False, kw_only=True)
class FeatureDropError(DeltaError):
    """A feature that the table does not have, still uses, or cannot lose."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_NONREMOVABLE_FEATURE"
    feature: str
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"the feature {self.feature} cannot be dropped: {self.reason}\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class UnknownFeatureDropError(FeatureDropError):
    """truckee does not know the feature to drop."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"


@dataclass(eq=False, kw_only=True)
class AbsentFeatureDropError(FeatureDropError):
    """The table does not have the feature to drop."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"
