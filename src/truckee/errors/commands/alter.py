"""Refused changes of a table's columns, constraints and properties.

DeltaError
├── ConstraintExistsError           a constraint of this name exists
├── ConstraintNotFoundError         there is no constraint of this name
├── ConstraintNotBooleanError       its expression is not boolean
├── ConstraintAlreadyViolatedError  rows of the table break it
├── ConstraintPropertyError         constraints cannot be set as properties
├── PropertyNotFoundError           the property to unset is not set
├── ColumnMappingModeChangeError    a mode that the table cannot change to
├── RowTrackingSuspendedError       rows that are to get ids, and are not to get any
├── ColumnMappingRequiredError      rename and drop need column mapping
├── ColumnNotFoundError             a column that the table does not have
├── ColumnExistsError               a column that the table already has
├── DependentColumnError            something else depends on the column
│   ├── GeneratedFromColumnError      a generated column
│   ├── PartitionColumnDropError      the partitioning of the table
│   └── ClusteringColumnDropError     its clustering
├── ColumnChangeError               a change that data files do not allow
│   ├── OnlyColumnDropError           no column would be left
│   ├── TypeChangeError               to another type
│   └── NotNullColumnError            a new column that is NOT NULL
└── ColumnsNotReplaceableError      a list of columns that data files do not allow
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
            "hint: a table can go from none to name, and back if its files may be rewritten "
            "(spark.databricks.delta.columnMapping.allowRemoval); mode id is chosen when a table "
            "is created"
        )


@dataclass(eq=False, kw_only=True)
class RowTrackingSuspendedError(DeltaError):
    """Row tracking cannot be both on and suspended."""

    code: ClassVar[str] = "DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION"

    def __str__(self) -> str:
        return (
            "the properties delta.enableRowTracking and delta.rowTrackingSuspended cannot both be "
            "true: one needs ids for all rows, and the other keeps new rows from getting any\n"
            "hint: set one of them to false"
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


@dataclass(eq=False, kw_only=True)
class GeneratedFromColumnError(DependentColumnError):
    """A column from which a generated column is computed cannot be changed."""

    code: ClassVar[str] = "DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"


@dataclass(eq=False, kw_only=True)
class PartitionColumnDropError(DependentColumnError):
    """A column by which the table is partitioned cannot be dropped."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN"


@dataclass(eq=False, kw_only=True)
class ClusteringColumnDropError(DependentColumnError):
    """A column by which the table is clustered cannot be dropped."""

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
class OnlyColumnDropError(ColumnChangeError):
    """The only column of a table, or the only field of a struct, cannot be dropped."""

    code: ClassVar[str] = "DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA"


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
