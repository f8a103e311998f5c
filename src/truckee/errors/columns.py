"""Columns that a table cannot have, or cannot be partitioned by."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class InvalidColumnNamesError(
    DeltaError,
    code="DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES",
    state="42K05",
    spark="AnalysisException",
):
    """Column names with characters that are only allowed with column mapping."""

    columns: tuple[str, ...]
    text = (
        "the column names [{columns}] contain characters out of ' ,;{{}}()\\n\\t=', which need "
        "column mapping"
    )
    hint = "rename the columns, or set the table property 'delta.columnMapping.mode' to 'name'"


class UnmappedColumnNamesError(
    InvalidColumnNamesError, code="DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING"
):
    """Column mapping cannot be removed while columns have such names."""

    text = (
        "column mapping cannot be removed: the column names [{columns}] contain characters out of "
        "' ,;{{}}()\\n\\t=', which need it"
    )
    hint = "rename the columns first: ALTER TABLE ... RENAME COLUMN"


class UnsupportedTypesError(
    DeltaError,
    code="DELTA_UNSUPPORTED_DATA_TYPES",
    state="0AKDC",
    spark="UnsupportedOperationException",
):
    """Columns of types that a table cannot store."""

    columns: tuple[str, ...]
    text = "a table cannot store columns of these types: {columns}"
    hint = "cast them to another type, or leave them out"


class NoColumnsError(
    DeltaError, code="DELTA_SCHEMA_NOT_PROVIDED", state="42908", spark="AnalysisException"
):
    """A table cannot be replaced, or made of data, without columns."""

    table: str
    text = "the table {table} cannot be created without columns"
    hint = "add one with addColumn"


class TableWithoutColumnsError(
    DeltaError, code="DELTA_READ_TABLE_WITHOUT_COLUMNS", state="428GU", spark="AnalysisException"
):
    """A table that was created without columns has none yet, so it cannot be read."""

    table: str
    text = "the table {table} has no columns yet, so it cannot be read"
    hint = "add columns with ALTER TABLE ... ADD COLUMNS, or write rows with mergeSchema"


class SchemaChangedSinceAnalysisError(
    DeltaError, code="DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS", state="KD007", spark="AnalysisException"
):
    """The columns of a table have changed since a DataFrame of it was made."""

    table: str
    analyzed: int
    latest: int
    text = (
        "the columns of the table {table} were renamed, dropped or given other types between "
        "version {analyzed}, of which this DataFrame was made, and version {latest}"
    )
    hint = "make the DataFrame again, or read that version with the option versionAsOf"


class AllVoidColumnsError(
    DeltaError,
    code="DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS",
    state="428GU",
    spark="AnalysisException",
):
    """A data file would have no columns, since all of them are of type VOID."""

    text = "rows cannot be written where all columns are of type VOID"
    hint = "give a column another type, with ALTER COLUMN ... TYPE or a cast"


class AllVoidFieldsError(
    DeltaError,
    code="DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_ALL_VOID_FIELDS",
    state="428GU",
    spark="AnalysisException",
):
    """A struct would have no fields in data files, since all of them are of type VOID."""

    column: str
    text = "rows cannot be written with the struct {column}, all fields of which are of type VOID"
    hint = "give a field another type, or leave the struct out"


class MergedVoidColumnError(
    DeltaError, code="DELTA_MERGE_ADD_VOID_COLUMN", state="42K09", spark="AnalysisException"
):
    """MERGE adds no column whose type nobody has said."""

    column: str
    text = "MERGE does not add the column {column}, which is of type VOID"
    hint = "cast it in the source, as in CAST(NULL AS STRING)"


class PartitionColumnNotFoundError(
    DeltaError, code="DELTA_PARTITION_COLUMN_NOT_FOUND", state="42703", spark="AnalysisException"
):
    """A partition column is not a column of the table."""

    column: str
    columns: tuple[str, ...]
    text = "partition column {column} is not one of the columns [{columns}]"
    hint = "name columns of the data"


class PartitionColumnTypeError(
    DeltaError, code="DELTA_INVALID_PARTITION_COLUMN_TYPE", state="42996", spark="AnalysisException"
):
    """A table cannot be partitioned by a column of this type."""

    column: str
    type: str
    text = "column {column} has the type {type}, which a partition column cannot have"
    hint = "partition by a date, a number or a string"


class CatalogPartitionTypeError(
    PartitionColumnTypeError, code="INVALID_PARTITION_COLUMN_DATA_TYPE", state="0A000"
):
    """The catalog was to create a table that is partitioned by a column of this type."""


class AllColumnsPartitionedError(
    DeltaError,
    code="DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION",
    state="428FT",
    spark="AnalysisException",
):
    """Every column is a partition column, or one is named twice."""

    columns: tuple[str, ...]
    text = "all columns are partition columns: [{columns}]"
    hint = "leave at least one column for the data files"


class CatalogPartitionsError(
    AllColumnsPartitionedError, code="ALL_PARTITION_COLUMNS_NOT_ALLOWED", state="KD005"
):
    """The catalog was to create a table that is partitioned by all its columns."""


class ClusteringColumnError(
    DeltaError,
    code="DELTA_CLUSTERING_COLUMN_MISSING_STATS",
    state="22000",
    spark="AnalysisException",
):
    """A table cannot be clustered by this column."""

    column: str
    reason: str
    text = "the table cannot be clustered by {column}: {reason}"
    hint = "cluster by at most four columns that have statistics, of an unpartitioned table"


class ClusteringTypeError(
    ClusteringColumnError, code="DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED", state="0A000"
):
    """A table cannot be clustered by a column of this type."""


class ClusteringCountError(
    ClusteringColumnError, code="DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS", state="54000"
):
    """A table cannot be clustered by so many columns."""


class ClusteringOfPartitionedTableError(
    DeltaError,
    code="DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED",
    state="42000",
    spark="AnalysisException",
):
    """A partitioned table cannot be clustered."""

    partition_columns: tuple[str, ...]
    text = "the table is partitioned by [{partition_columns}], and cannot be clustered"
    hint = "write its rows to a new table that is clustered"


class PartitionsForClusteredTableError(
    DeltaError,
    code="DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE",
    state="42000",
    spark="AnalysisException",
):
    """A clustered table cannot be replaced by a partitioned one."""

    table: str
    text = "{table} is clustered, and cannot be replaced by a table with partitions"
    hint = "drop the table first, or cluster the new one"


class ClusteringFeatureError(
    DeltaError,
    code="DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED",
    state="42000",
    spark="AnalysisException",
):
    """The feature clustering was requested without columns to cluster by."""

    text = "the feature clustering comes with clustering columns, not with a property"
    hint = "use CLUSTER BY"


class ClusteringFeatureSetError(
    ClusteringFeatureError, code="DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED"
):
    """The feature clustering was requested for a table that is there."""


class NotAnIdentityColumnError(
    DeltaError,
    code="DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN",
    state="429BQ",
    spark="AnalysisException",
):
    """SYNC IDENTITY names a column that is not an identity column."""

    column: str
    text = "ALTER TABLE ALTER COLUMN SYNC IDENTITY needs an identity column, which {column} is not"
    hint = "see the columns with DESCRIBE TABLE"


class InvalidIdentityColumnError(
    DeltaError,
    code="DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE",
    state="428H2",
    spark="UnsupportedOperationException",
):
    """An identity column with a wrong type or definition."""

    column: str
    reason: str
    text = "column {column} cannot be an identity column: {reason}"
    hint = (
        "an identity column is a bigint, not used by partitions or expressions, with a step other "
        "than 0"
    )


class IdentityPartitionError(
    InvalidIdentityColumnError,
    code="DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED",
    state="42601",
    spark="AnalysisException",
):
    """An identity column that a table is partitioned by."""

    reason: str = "the table is partitioned by it"


class IdentityExhaustedError(
    DeltaError, code="ARITHMETIC_OVERFLOW", state="22003", spark="ArithmeticException"
):
    """An identity column has given out all numbers that a bigint can hold."""

    column: str
    last: int
    text = "the identity column {column} has no number left after {last}"
    hint = "replace the table by one with another start or step"


class InvalidGeneratedColumnError(
    DeltaError,
    code="DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH",
    state="42K09",
    spark="AnalysisException",
):
    """A generated column has an expression that is not allowed."""

    column: str
    expression: str
    reason: str
    text = "column {column} cannot be generated as ({expression}): {reason}"
    hint = (
        "use other columns of the table that are not generated themselves, and functions that give "
        "the same result each time"
    )


class GeneratedColumnTypeError(
    InvalidGeneratedColumnError,
    code="DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN",
    state="42621",
):
    """A generated column of a type whose values cannot be compared."""

    text = "column {column} cannot be generated as ({expression}): {reason}"
    hint = "generate a column of another type, as with variant_get, or give the column a default"


class NonDeterministicGenerationError(
    InvalidGeneratedColumnError,
    code="DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN",
    state="42621",
):
    """A generated column has an expression whose result is not the same each time."""

    reason: str = "its result is not the same each time"
