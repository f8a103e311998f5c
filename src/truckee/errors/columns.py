"""Columns that a table cannot have, or cannot be partitioned by.

DeltaError
├── InvalidColumnNamesError       characters that need column mapping
│   └── UnmappedColumnNamesError    in a table that is to lose it
├── UnsupportedTypesError         types that a table cannot hold
├── NoColumnsError                a table that is replaced by one without columns
├── TableWithoutColumnsError      a table that has no columns yet
├── SchemaChangedSinceAnalysisError  columns of a DataFrame that the table no longer has
├── AllVoidColumnsError           rows for a table whose columns have no type yet
├── AllVoidFieldsError            the same for a struct
├── MergedVoidColumnError         a column without a type that MERGE would add
├── PartitionColumnNotFoundError  a partition column that is not a column of the table
├── PartitionColumnTypeError      a partition column of a type that is not allowed
│   └── CatalogPartitionTypeError   in a table that is created by the catalog
├── AllColumnsPartitionedError    no column is left for the data files
│   └── CatalogPartitionsError      in a table that is created by the catalog
├── ClusteringColumnError         a column without statistics
│   ├── ClusteringTypeError         of a type without statistics
│   └── ClusteringCountError        too many columns
├── ClusteringOfPartitionedTableError  a partitioned table cannot be clustered
├── PartitionsForClusteredTableError   nor can a clustered one be replaced by a partitioned one
├── ClusteringFeatureError        the feature asked for without columns
│   └── ClusteringFeatureSetError   of a table that is there
├── NotAnIdentityColumnError      SYNC IDENTITY of a column that is not one
├── InvalidIdentityColumnError    a wrong type or step
│   └── IdentityPartitionError      a partition column
├── IdentityExhaustedError        no number is left
└── InvalidGeneratedColumnError   an expression that cannot generate a column
    ├── GeneratedColumnTypeError    a column of a type that is never generated
    └── NonDeterministicGenerationError  whose result is not the same each time
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class InvalidColumnNamesError(DeltaError):
    """Column names with characters that are only allowed with column mapping."""

    code: ClassVar[str] = "DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the column names [{', '.join(self.columns)}] contain characters out of "
            "' ,;{}()\\n\\t=', which need column mapping\n"
            "hint: rename the columns, or set the table property 'delta.columnMapping.mode' to "
            "'name'"
        )


@dataclass(eq=False, kw_only=True)
class UnmappedColumnNamesError(InvalidColumnNamesError):
    """Column mapping cannot be removed while columns have such names."""

    code: ClassVar[str] = "DELTA_INVALID_COLUMN_NAMES_WHEN_REMOVING_COLUMN_MAPPING"

    def __str__(self) -> str:
        return (
            f"column mapping cannot be removed: the column names [{', '.join(self.columns)}] "
            "contain characters out of ' ,;{}()\\n\\t=', which need it\n"
            "hint: rename the columns first: ALTER TABLE ... RENAME COLUMN"
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedTypesError(DeltaError):
    """Columns of types that a table cannot store."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_DATA_TYPES"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"a table cannot store columns of these types: {', '.join(self.columns)}\n"
            "hint: cast them to another type, or leave them out"
        )


@dataclass(eq=False, kw_only=True)
class NoColumnsError(DeltaError):
    """A table cannot be replaced, or made of data, without columns."""

    code: ClassVar[str] = "DELTA_SCHEMA_NOT_PROVIDED"
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} cannot be created without columns\n"
            "hint: add one with addColumn"
        )


@dataclass(eq=False, kw_only=True)
class TableWithoutColumnsError(DeltaError):
    """A table that was created without columns has none yet, so it cannot be read."""

    code: ClassVar[str] = "DELTA_READ_TABLE_WITHOUT_COLUMNS"
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} has no columns yet, so it cannot be read\n"
            "hint: add columns with ALTER TABLE ... ADD COLUMNS, or write rows with mergeSchema"
        )


@dataclass(eq=False, kw_only=True)
class SchemaChangedSinceAnalysisError(DeltaError):
    """The columns of a table have changed since a DataFrame of it was made."""

    code: ClassVar[str] = "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS"
    table: str
    analyzed: int
    latest: int

    def __str__(self) -> str:
        return (
            f"the columns of the table {self.table} were renamed, dropped or given other types "
            f"between version {self.analyzed}, of which this DataFrame was made, and version "
            f"{self.latest}\n"
            "hint: make the DataFrame again, or read that version with the option versionAsOf"
        )


@dataclass(eq=False, kw_only=True)
class AllVoidColumnsError(DeltaError):
    """A data file would have no columns, since all of them are of type VOID."""

    code: ClassVar[str] = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS"

    def __str__(self) -> str:
        return (
            "rows cannot be written where all columns are of type VOID\n"
            "hint: give a column another type, with ALTER COLUMN ... TYPE or a cast"
        )


@dataclass(eq=False, kw_only=True)
class AllVoidFieldsError(DeltaError):
    """A struct would have no fields in data files, since all of them are of type VOID."""

    code: ClassVar[str] = "DELTA_CANNOT_WRITE_EMPTY_SCHEMA.STRUCT_ALL_VOID_FIELDS"
    column: str

    def __str__(self) -> str:
        return (
            f"rows cannot be written with the struct {self.column}, all fields of which are of "
            "type VOID\nhint: give a field another type, or leave the struct out"
        )


@dataclass(eq=False, kw_only=True)
class MergedVoidColumnError(DeltaError):
    """MERGE adds no column whose type nobody has said."""

    code: ClassVar[str] = "DELTA_MERGE_ADD_VOID_COLUMN"
    column: str

    def __str__(self) -> str:
        return (
            f"MERGE does not add the column {self.column}, which is of type VOID\n"
            "hint: cast it in the source, as in CAST(NULL AS STRING)"
        )


@dataclass(eq=False, kw_only=True)
class PartitionColumnNotFoundError(DeltaError):
    """A partition column is not a column of the table."""

    code: ClassVar[str] = "DELTA_PARTITION_COLUMN_NOT_FOUND"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"partition column {self.column} is not one of the columns "
            f"[{', '.join(self.columns)}]\nhint: name columns of the data"
        )


@dataclass(eq=False, kw_only=True)
class PartitionColumnTypeError(DeltaError):
    """A table cannot be partitioned by a column of this type."""

    code: ClassVar[str] = "DELTA_INVALID_PARTITION_COLUMN_TYPE"
    column: str
    type: str

    def __str__(self) -> str:
        return (
            f"column {self.column} has the type {self.type}, which a partition column cannot have\n"
            "hint: partition by a date, a number or a string"
        )


@dataclass(eq=False, kw_only=True)
class CatalogPartitionTypeError(PartitionColumnTypeError):
    """The catalog was to create a table that is partitioned by a column of this type."""

    code: ClassVar[str] = "INVALID_PARTITION_COLUMN_DATA_TYPE"


@dataclass(eq=False, kw_only=True)
class AllColumnsPartitionedError(DeltaError):
    """Every column is a partition column, or one is named twice."""

    code: ClassVar[str] = "DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"all columns are partition columns: [{', '.join(self.columns)}]\n"
            "hint: leave at least one column for the data files"
        )


@dataclass(eq=False, kw_only=True)
class CatalogPartitionsError(AllColumnsPartitionedError):
    """The catalog was to create a table that is partitioned by all its columns."""

    code: ClassVar[str] = "ALL_PARTITION_COLUMNS_NOT_ALLOWED"


@dataclass(eq=False, kw_only=True)
class ClusteringColumnError(DeltaError):
    """A table cannot be clustered by this column."""

    code: ClassVar[str] = "DELTA_CLUSTERING_COLUMN_MISSING_STATS"
    column: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the table cannot be clustered by {self.column}: {self.reason}\n"
            "hint: cluster by at most four columns that have statistics, of an unpartitioned table"
        )


@dataclass(eq=False, kw_only=True)
class ClusteringTypeError(ClusteringColumnError):
    """A table cannot be clustered by a column of this type."""

    code: ClassVar[str] = "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"


@dataclass(eq=False, kw_only=True)
class ClusteringCountError(ClusteringColumnError):
    """A table cannot be clustered by so many columns."""

    code: ClassVar[str] = "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"


@dataclass(eq=False, kw_only=True)
class ClusteringOfPartitionedTableError(DeltaError):
    """A partitioned table cannot be clustered."""

    code: ClassVar[str] = "DELTA_ALTER_TABLE_CLUSTER_BY_ON_PARTITIONED_TABLE_NOT_ALLOWED"
    partition_columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the table is partitioned by [{', '.join(self.partition_columns)}], and cannot be "
            "clustered\nhint: write its rows to a new table that is clustered"
        )


@dataclass(eq=False, kw_only=True)
class PartitionsForClusteredTableError(DeltaError):
    """A clustered table cannot be replaced by a partitioned one."""

    code: ClassVar[str] = "DELTA_CLUSTERING_REPLACE_TABLE_WITH_PARTITIONED_TABLE"
    table: str

    def __str__(self) -> str:
        return (
            f"{self.table} is clustered, and cannot be replaced by a table with partitions\n"
            "hint: drop the table first, or cluster the new one"
        )


@dataclass(eq=False, kw_only=True)
class ClusteringFeatureError(DeltaError):
    """The feature clustering was requested without columns to cluster by."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED"

    def __str__(self) -> str:
        return (
            "the feature clustering comes with clustering columns, not with a property\n"
            "hint: use CLUSTER BY"
        )


@dataclass(eq=False, kw_only=True)
class ClusteringFeatureSetError(ClusteringFeatureError):
    """The feature clustering was requested for a table that is there."""

    code: ClassVar[str] = "DELTA_ALTER_TABLE_SET_CLUSTERING_TABLE_FEATURE_NOT_ALLOWED"


@dataclass(eq=False, kw_only=True)
class NotAnIdentityColumnError(DeltaError):
    """SYNC IDENTITY names a column that is not an identity column."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_ALTER_NON_IDENTITY_COLUMN"
    column: str

    def __str__(self) -> str:
        return (
            f"ALTER TABLE ALTER COLUMN SYNC IDENTITY needs an identity column, which {self.column} "
            "is not\nhint: see the columns with DESCRIBE TABLE"
        )


@dataclass(eq=False, kw_only=True)
class InvalidIdentityColumnError(DeltaError):
    """An identity column with a wrong type or definition."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_UNSUPPORTED_DATA_TYPE"
    column: str
    reason: str

    def __str__(self) -> str:
        return (
            f"column {self.column} cannot be an identity column: {self.reason}\n"
            "hint: an identity column is a bigint, not used by partitions or expressions, with "
            "a step other than 0"
        )


@dataclass(eq=False, kw_only=True)
class IdentityPartitionError(InvalidIdentityColumnError):
    """An identity column that a table is partitioned by."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_PARTITION_NOT_SUPPORTED"
    reason: str = "the table is partitioned by it"


@dataclass(eq=False, kw_only=True)
class IdentityExhaustedError(DeltaError):
    """An identity column has given out all numbers that a bigint can hold."""

    code: ClassVar[str] = "ARITHMETIC_OVERFLOW"
    column: str
    last: int

    def __str__(self) -> str:
        return (
            f"the identity column {self.column} has no number left after {self.last}\n"
            "hint: replace the table by one with another start or step"
        )


@dataclass(eq=False, kw_only=True)
class InvalidGeneratedColumnError(DeltaError):
    """A generated column has an expression that is not allowed."""

    code: ClassVar[str] = "DELTA_GENERATED_COLUMNS_EXPR_TYPE_MISMATCH"
    column: str
    expression: str
    reason: str

    def __str__(self) -> str:
        return (
            f"column {self.column} cannot be generated as ({self.expression}): {self.reason}\n"
            "hint: use other columns of the table that are not generated themselves, and functions "
            "that give the same result each time"
        )


@dataclass(eq=False, kw_only=True)
class GeneratedColumnTypeError(InvalidGeneratedColumnError):
    """A generated column of a type whose values cannot be compared."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_DATA_TYPE_IN_GENERATED_COLUMN"

    def __str__(self) -> str:
        return (
            f"column {self.column} cannot be generated as ({self.expression}): {self.reason}\n"
            "hint: generate a column of another type, as with variant_get, or give the column a "
            "default"
        )


@dataclass(eq=False, kw_only=True)
class NonDeterministicGenerationError(InvalidGeneratedColumnError):
    """A generated column has an expression whose result is not the same each time."""

    code: ClassVar[str] = "DELTA_NON_DETERMINISTIC_EXPRESSION_IN_GENERATED_COLUMN"
    reason: str = "its result is not the same each time"
