"""Refused changes of a table's columns, constraints and properties."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class ConstraintExistsError(
    DeltaError, code="DELTA_CONSTRAINT_ALREADY_EXISTS", state="42710", spark="AnalysisException"
):
    """A constraint of this name already exists."""

    name: str
    expression: str
    text = "constraint {name} already exists: {expression}"
    hint = "drop it first, or choose another name"


class ConstraintNotFoundError(
    DeltaError, code="DELTA_CONSTRAINT_DOES_NOT_EXIST", state="42704", spark="AnalysisException"
):
    """There is no constraint of this name."""

    name: str
    known: tuple[str, ...]
    text = "there is no constraint {name} among [{known}]"
    hint = "pass ifExists to drop it only if it exists"


class ConstraintNotBooleanError(
    DeltaError, code="DELTA_NON_BOOLEAN_CHECK_CONSTRAINT", state="42621", spark="AnalysisException"
):
    """The expression of a constraint is not a condition on a row."""

    name: str
    expression: str
    reason: str
    text = "constraint {name} ({expression}) is not a condition on a row: {reason}"
    hint = "compare columns of the table, so that the result is boolean"


class ConstraintAlreadyViolatedError(
    DeltaError,
    code="DELTA_NEW_CHECK_CONSTRAINT_VIOLATION",
    state="23512",
    spark="AnalysisException",
):
    """Existing rows of the table violate a new constraint."""

    name: str
    expression: str
    rows: int
    text = (
        "constraint {name} ({expression}) does not hold for {rows} existing row{rows!p} of the "
        "table"
    )
    hint = "delete or update what violates it first; null does not satisfy it either"


class ConstraintPropertyError(
    DeltaError, code="DELTA_ADD_CONSTRAINTS", state="0A000", spark="AnalysisException"
):
    """A constraint was set or unset as a property, which would skip the check of the rows."""

    key: str
    text = "{key} is a constraint, which cannot be set or unset as a property"
    hint = "use addConstraint and dropConstraint, which check the rows"


class PropertyNotFoundError(
    DeltaError, code="DELTA_UNSET_NON_EXISTENT_PROPERTY", state="42616", spark="AnalysisException"
):
    """The property to unset is not set."""

    key: str
    table: str
    text = "the table {table} has no property {key}"
    hint = "pass ifExists to unset it only if it is set"


class ColumnMappingModeChangeError(
    DeltaError,
    code="DELTA_UNSUPPORTED_COLUMN_MAPPING_MODE_CHANGE",
    state="0AKDC",
    spark="UnsupportedOperationException",
):
    """The data files do not allow this change of the column mapping mode."""

    old: str
    new: str
    text = "the column mapping mode is {old} and cannot become {new}"
    hint = (
        "a table can go from none to name, and back if its files may be rewritten "
        "(spark.databricks.delta.columnMapping.allowRemoval); mode id is chosen when a table is "
        "created"
    )


class RowTrackingSuspendedError(
    DeltaError, code="DELTA_ROW_TRACKING_ILLEGAL_PROPERTY_COMBINATION", state="55000"
):
    """Row tracking cannot be both on and suspended."""

    text = (
        "the properties delta.enableRowTracking and delta.rowTrackingSuspended cannot both be "
        "true: one needs ids for all rows, and the other keeps new rows from getting any"
    )
    hint = "set one of them to false"


class ColumnMappingRequiredError(
    DeltaError, code="DELTA_UNSUPPORTED_RENAME_COLUMN", state="0AKDC", spark="AnalysisException"
):
    """Columns can be renamed or dropped only with column mapping."""

    action: str
    text = "columns can be {action} only with column mapping"
    hint = "set the table property 'delta.columnMapping.mode' to 'name' first"


class DropNeedsColumnMappingError(ColumnMappingRequiredError, code="DELTA_UNSUPPORTED_DROP_COLUMN"):
    """A column can be dropped only with column mapping."""


class ColumnNotFoundError(
    DeltaError, code="DELTA_COLUMN_NOT_FOUND_IN_SCHEMA", state="42703", spark="AnalysisException"
):
    """The table does not have this column."""

    column: str
    columns: tuple[str, ...]
    text = "the table has no column {column}; it has [{columns}]"
    hint = "name one of these, or a field of a struct as s.x"


class ColumnExistsError(
    DeltaError, code="DELTA_DUPLICATE_COLUMNS_FOUND", state="42711", spark="AnalysisException"
):
    """A column would be added, or renamed, to a name that is taken."""

    column: str
    text = "the table already has a column {column}"
    hint = "choose another name; names are not case-sensitive"


class DependentColumnError(
    DeltaError,
    code="DELTA_CONSTRAINT_DEPENDENT_COLUMN_CHANGE",
    state="42K09",
    spark="AnalysisException",
):
    """A column cannot be renamed, dropped or changed, because something depends on it."""

    action: str
    column: str
    dependents: tuple[str, ...]
    text = "column {column} cannot be {action}, because it is used by {dependents}"
    hint = "drop what depends on the column first"


class GeneratedFromColumnError(
    DependentColumnError, code="DELTA_GENERATED_COLUMNS_DEPENDENT_COLUMN_CHANGE"
):
    """A column from which a generated column is computed cannot be changed."""


class PartitionColumnDropError(
    DependentColumnError, code="DELTA_UNSUPPORTED_DROP_PARTITION_COLUMN", state="0AKDC"
):
    """A column by which the table is partitioned cannot be dropped."""


class ClusteringColumnDropError(
    DependentColumnError, code="DELTA_UNSUPPORTED_DROP_CLUSTERING_COLUMN", state="0AKDC"
):
    """A column by which the table is clustered cannot be dropped."""


class ColumnChangeError(
    DeltaError,
    code="DELTA_ALTER_TABLE_CHANGE_COL_NOT_SUPPORTED",
    state="42837",
    spark="AnalysisException",
):
    """This change of a column is not possible."""

    column: str
    reason: str
    hint: str
    text = "column {column} cannot be changed: {reason}"


class OnlyColumnDropError(
    ColumnChangeError, code="DELTA_DROP_COLUMN_ON_SINGLE_FIELD_SCHEMA", state="0AKDC"
):
    """The only column of a table, or the only field of a struct, cannot be dropped."""


class TypeChangeError(
    ColumnChangeError, code="DELTA_UNSUPPORTED_ALTER_TABLE_CHANGE_COL_OP", state="0AKDC"
):
    """A column cannot become one of this type."""


class NotNullColumnError(ColumnChangeError, code="DELTA_OPERATION_NOT_ALLOWED", state="0AKDC"):
    """A new column cannot be NOT NULL."""

    text = "column {column} cannot be added: {reason}"


class ColumnsNotReplaceableError(
    DeltaError,
    code="DELTA_UNSUPPORTED_ALTER_TABLE_REPLACE_COL_OP",
    state="0AKDC",
    spark="AnalysisException",
):
    """REPLACE COLUMNS with columns that the files of the table do not have."""

    reason: str
    text = "the columns of the table cannot be replaced: {reason}"
    hint = "name all columns of the table, and new ones that may be null"
