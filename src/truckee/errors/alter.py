"""Changes of a table's columns, constraints, properties and features that are refused.

DeltaError
├── ConstraintExistsError           a constraint of this name is there
├── ConstraintNotFoundError         there is no constraint of this name
├── ConstraintNotBooleanError       its expression is not true or false
├── ConstraintAlreadyViolatedError  rows of the table break it
├── ConstraintPropertyError         constraints are not set as properties
├── PropertyNotFoundError           a property to be unset is not set
├── ColumnMappingModeChangeError    a mode that a table cannot be brought to
├── RowTrackingBackfillError        rows that have no ids yet
├── ColumnMappingRequiredError      rename and drop need column mapping
├── ColumnNotFoundError             a column that the table does not have
├── ColumnExistsError               a column that the table has
├── DependentColumnError            something else depends on the column
├── ColumnChangeError               a change that data files do not allow
├── ColumnsNotReplaceableError      a list of columns that data files do not allow
├── HistoryTruncationError          history is cut off for features of readers only
├── CheckpointProtectionDropError   history has to be cut off to drop this one
├── FeatureRetentionError           a version that needs the feature is too young to be deleted
├── HistoricalVersionsError         the same, and nothing is left to do but wait
├── CheckpointProtectionWaitError   protected versions are too young to be deleted
└── FeatureDropError                a feature that cannot be dropped
    ├── UnknownFeatureDropError     one that is not known here
    └── AbsentFeatureDropError      one that the table does not have
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class ConstraintExistsError(DeltaError):
    """A constraint of this name is there already."""

    code: ClassVar[str] = "DELTA_CONSTRAINT_ALREADY_EXISTS"
    name: str
    expression: str

    def __str__(self) -> str:
        return (
            f"there is a constraint {self.name} already: {self.expression}\n"
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
            "hint: pass ifExists to drop it only if it is there"
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
    """Rows that the table has already would break a new constraint."""

    code: ClassVar[str] = "DELTA_NEW_CHECK_CONSTRAINT_VIOLATION"
    name: str
    expression: str
    rows: int

    def __str__(self) -> str:
        return (
            f"constraint {self.name} ({self.expression}) does not hold for {self.rows} rows that "
            "the table has\nhint: delete or update these rows first; null does not satisfy it "
            "either"
        )


@dataclass(eq=False, kw_only=True)
class ConstraintPropertyError(DeltaError):
    """A constraint was to be set or unset as a property, with no look at the rows."""

    code: ClassVar[str] = "DELTA_ADD_CONSTRAINTS"
    key: str

    def __str__(self) -> str:
        return (
            f"{self.key} is a constraint, and not set or unset as a property\n"
            "hint: use addConstraint and dropConstraint, which look at the rows"
        )


@dataclass(eq=False, kw_only=True)
class PropertyNotFoundError(DeltaError):
    """A property was to be unset that is not set."""

    code: ClassVar[str] = "DELTA_UNSET_NON_EXISTENT_PROPERTY"
    key: str
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} has no property {self.key}\n"
            "hint: pass ifExists to unset it only if it is there"
        )


@dataclass(eq=False, kw_only=True)
class ColumnMappingModeChangeError(DeltaError):
    """A change of the column mapping mode that data files do not allow."""

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
    """Row tracking was to be switched on for a table whose rows have no ids."""

    code: ClassVar[str] = "DELTA_ROW_TRACKING_BACKFILL_REQUIRED"
    table: str
    files: int

    def __str__(self) -> str:
        return (
            f"row tracking cannot be switched on: the rows of {self.files} files of the table "
            f"{self.table} have no ids yet\n"
            "hint: switch it on when the table is created, or write its rows anew"
        )


@dataclass(eq=False, kw_only=True)
class ColumnMappingRequiredError(DeltaError):
    """Columns can only be renamed or dropped where data files do not know their names."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_RENAME_COLUMN"
    action: str

    def __str__(self) -> str:
        return (
            f"columns can be {self.action} only with column mapping\n"
            "hint: set the table property 'delta.columnMapping.mode' to 'name' first"
        )


@dataclass(eq=False, kw_only=True)
class DropNeedsColumnMappingError(ColumnMappingRequiredError):
    """A column was to be dropped, and data files know it by its name."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_DROP_COLUMN"


@dataclass(eq=False, kw_only=True)
class ColumnNotFoundError(DeltaError):
    """A column that the table does not have."""

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
    """A column was to be added or renamed to a name that is taken."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_FOUND"
    column: str

    def __str__(self) -> str:
        return (
            f"the table has a column {self.column} already\n"
            "hint: choose another name; names that differ in case only are the same"
        )


@dataclass(eq=False, kw_only=True)
class DependentColumnError(DeltaError):
    """A column was to be renamed, dropped or changed that something else depends on."""

    code: ClassVar[str] = "DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE"
    action: str
    column: str
    dependents: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"column {self.column} cannot be {self.action}, for it is used by "
            f"{', '.join(self.dependents)}\nhint: drop what depends on the column first"
        )


@dataclass(eq=False, kw_only=True)
class ColumnChangeError(DeltaError):
    """A column cannot become what it was to become."""

    code: ClassVar[str] = "DELTA_ALTER_TABLE_CHANGE_COL_NOT_SUPPORTED"
    column: str
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"column {self.column} cannot be changed: {self.reason}\nhint: {self.hint}"


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
    """History need not be cut off to drop this feature."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_HISTORY_TRUNCATION_NOT_ALLOWED"
    feature: str

    def __str__(self) -> str:
        return (
            f"the feature {self.feature} asks nothing of readers, so that history need not be "
            "truncated\nhint: drop it without truncateHistory"
        )


@dataclass(eq=False, kw_only=True)
class CheckpointProtectionDropError(DeltaError):
    """Older versions depend on the protection of checkpoints."""

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
            f"hint: history is kept for {self.hours} hours; try again when they are over"
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
    """A feature that is not known here."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE"


@dataclass(eq=False, kw_only=True)
class AbsentFeatureDropError(FeatureDropError):
    """A feature that the table does not have."""

    code: ClassVar[str] = "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT"
