"""Tables that cannot be created, replaced, converted or found by name.

DeltaError
├── TableAlreadyExistsError     create, but there is a table
│   └── CloneTargetExistsError    clone, but there is a table
├── TableNotFoundError          replace, or a name, but there is no table
│   └── CloneTargetNotFoundError  replace by a clone, but there is no table
├── NotATruckeeTableError       a name of something that is not a Delta table
│   ├── ViewNamedError            of a view
│   ├── FeedOfOtherTableError     in table_changes
│   ├── ReorgOfOtherTableError    in REORG
│   ├── ReplacementOfOtherTableError  in REPLACE TABLE
│   ├── RestoreOfOtherTableError  in RESTORE
│   └── IdentityOfOtherTableError in SYNC IDENTITY
├── TableSchemaMismatchError    create with columns that the existing table does not have
│   ├── TablePartitioningMismatchError  or with other partitions
│   ├── TableClusteringMismatchError    or with other clustering
│   └── TablePropertiesMismatchError    or with other properties
├── TableLocationMismatchError  replace, but at another location
├── LocationSchemaError         set a location whose table has other columns
├── PathLocationError           set the location of a table that is named by its path
├── AmbiguousTablePathError     create by a path, with another one as its location
├── PartitionedAndClusteredError  create with both partitions and clustering
├── NoTableLocationError        create with neither a name nor a location
│   └── NoPathGivenError          a read, a write or a stream without a path
├── InvalidTableNameError       a name that Spark's catalog does not allow
├── TypeTextError               a type name that is not SQL
└── ConversionError             a folder that cannot be made a table
    ├── NotParquetError           of another format
    ├── NoFormatError             a path without a format
    ├── ViewConversionError       a view
    ├── EmptyFolderError          without files
    ├── PartitionCountError       partitioned by more or fewer columns
    ├── PartitionNameError        partitioned by other columns
    └── PartitionValueError       with values of another type
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class TableAlreadyExistsError(DeltaError):
    """The table to create already exists."""

    code: ClassVar[str] = "TABLE_OR_VIEW_ALREADY_EXISTS"
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} already exists\n"
            "hint: use DeltaTable.createIfNotExists to keep it, or DeltaTable.createOrReplace"
        )


@dataclass(eq=False, kw_only=True)
class CloneTargetExistsError(TableAlreadyExistsError):
    """The target of a clone already exists."""

    code: ClassVar[str] = "DELTA_TABLE_ALREADY_EXISTS"


@dataclass(eq=False, kw_only=True)
class TableNotFoundError(DeltaError):
    """The table to replace, or to use by name, does not exist."""

    code: ClassVar[str] = "TABLE_OR_VIEW_NOT_FOUND"
    table: str
    hint: str

    def __str__(self) -> str:
        return f"the table {self.table} cannot be found\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class CloneTargetNotFoundError(TableNotFoundError):
    """The table to replace by a clone does not exist."""

    code: ClassVar[str] = "DELTA_CANNOT_REPLACE_MISSING_TABLE"


@dataclass(eq=False, kw_only=True)
class NotATruckeeTableError(DeltaError):
    """A name in Spark's catalog belongs to something other than a Delta table."""

    code: ClassVar[str] = "DELTA_ONLY_OPERATION"
    table: str
    provider: str

    def __str__(self) -> str:
        return (
            f"{self.table} is not a Delta table, but a {self.provider} table\n"
            "hint: name a table that was created USING delta"
        )


@dataclass(eq=False, kw_only=True)
class ViewNamedError(NotATruckeeTableError):
    """A name belongs to a view, where a table is needed."""

    code: ClassVar[str] = "EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE"
    provider: str = "view"

    def __str__(self) -> str:
        return f"{self.table} is a view, but a table is expected\nhint: name the table itself"


@dataclass(eq=False, kw_only=True)
class FeedOfOtherTableError(NotATruckeeTableError):
    """table_changes names something other than a Delta table."""

    code: ClassVar[str] = "DELTA_TABLE_ONLY_OPERATION"


@dataclass(eq=False, kw_only=True)
class ReorgOfOtherTableError(NotATruckeeTableError):
    """REORG names a table of another format."""

    code: ClassVar[str] = "DELTA_NOT_A_DELTA_TABLE"


@dataclass(eq=False, kw_only=True)
class ReplacementOfOtherTableError(NotATruckeeTableError):
    """A table of another format was to be replaced by a Delta table."""

    code: ClassVar[str] = "DELTA_NOT_A_DELTA_TABLE"

    def __str__(self) -> str:
        return (
            f"{self.table} is not a Delta table, but a {self.provider} table\n"
            "hint: drop it first, or make it one with CONVERT TO DELTA if it is of Parquet files"
        )


@dataclass(eq=False, kw_only=True)
class RestoreOfOtherTableError(NotATruckeeTableError):
    """RESTORE names a table of another format."""

    code: ClassVar[str] = "TABLE_OR_VIEW_NOT_FOUND"


@dataclass(eq=False, kw_only=True)
class IdentityOfOtherTableError(NotATruckeeTableError):
    """SYNC IDENTITY names a table of another format."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_ALTER_NON_DELTA_FORMAT"


@dataclass(eq=False, kw_only=True)
class TableSchemaMismatchError(DeltaError):
    """A table would be registered with columns other than its own."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_SCHEME_MISMATCH"
    table: str
    path: str
    expected: str
    found: str

    def __str__(self) -> str:
        return (
            f"{self.table} cannot be created with the {self.expected}, because the table at "
            f"{self.path} has the {self.found}\n"
            "hint: leave the columns out to take those of the table"
        )


@dataclass(eq=False, kw_only=True)
class TablePartitioningMismatchError(TableSchemaMismatchError):
    """A table would be registered with partitions other than its own."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING"


@dataclass(eq=False, kw_only=True)
class TableClusteringMismatchError(TableSchemaMismatchError):
    """A table would be registered with clustering columns other than its own."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING"


@dataclass(eq=False, kw_only=True)
class TablePropertiesMismatchError(TableSchemaMismatchError):
    """A table would be registered with properties other than its own."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"

    def __str__(self) -> str:
        return (
            f"{self.table} cannot be created with the {self.expected}, because the table at "
            f"{self.path} has the {self.found}\n"
            "hint: leave the properties out, and set them with ALTER TABLE ... SET TBLPROPERTIES"
        )


@dataclass(eq=False, kw_only=True)
class TableLocationMismatchError(DeltaError):
    """A table was to be replaced at a location that is not its own."""

    code: ClassVar[str] = "DELTA_TABLE_LOCATION_MISMATCH"
    table: str
    location: str
    found: str

    def __str__(self) -> str:
        return (
            f"{self.table} is at {self.found}, and cannot be replaced at {self.location}\n"
            "hint: leave the location out, or drop the table first"
        )


@dataclass(eq=False, kw_only=True)
class LocationSchemaError(DeltaError):
    """A name was to stand for a table with other columns or partitions."""

    code: ClassVar[str] = "DELTA_SET_LOCATION_SCHEMA_MISMATCH"
    table: str
    location: str
    expected: str
    found: str

    def __str__(self) -> str:
        return (
            f"{self.table} has the {self.expected}, but the table at {self.location} has the "
            f"{self.found}, or others of their types\n"
            "hint: drop the name, and create it with the new LOCATION"
        )


@dataclass(eq=False, kw_only=True)
class PathLocationError(DeltaError):
    """A table that is named by its path was to lie somewhere else."""

    code: ClassVar[str] = "DELTA_CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER"
    path: str

    def __str__(self) -> str:
        return (
            f"the location of the table at {self.path} cannot be set, since its path is its name\n"
            "hint: use the other path in its place"
        )


@dataclass(eq=False, kw_only=True)
class AmbiguousTablePathError(DeltaError):
    """A table is named by a path, but its location is another path."""

    code: ClassVar[str] = "DELTA_AMBIGUOUS_PATHS_IN_CREATE_TABLE"
    path: str
    location: str

    def __str__(self) -> str:
        return (
            f"the table is named by the path {self.path}, but its location is {self.location}\n"
            "hint: leave out LOCATION, or give the table a name"
        )


@dataclass(eq=False, kw_only=True)
class PartitionedAndClusteredError(DeltaError):
    """The table to create has partition columns and clustering columns."""

    code: ClassVar[str] = "DELTA_CLUSTER_BY_WITH_PARTITIONED_BY"

    def __str__(self) -> str:
        return (
            "a table cannot have both partitions and clustering\n"
            "hint: call partitionedBy or clusterBy, not both"
        )


@dataclass(eq=False, kw_only=True)
class NoTableLocationError(DeltaError):
    """The table to create has neither a name nor a location."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION"

    def __str__(self) -> str:
        return (
            "the table has neither a name nor a location\nhint: call tableName or location, or both"
        )


@dataclass(eq=False, kw_only=True)
class NoPathGivenError(NoTableLocationError):
    """A read, a write or a stream gives no path."""

    code: ClassVar[str] = "DELTA_TABLE_LOCATION_MISSING"

    def __str__(self) -> str:
        return (
            "no path is given\n"
            "hint: give it to load, save or start, or as option path; a table by name is read with "
            "table, and written with saveAsTable or toTable"
        )


@dataclass(eq=False, kw_only=True)
class InvalidTableNameError(DeltaError):
    """A name that Spark's session catalog does not allow."""

    code: ClassVar[str] = "DELTA_INVALID_TABLE_NAME"
    table: str

    def __str__(self) -> str:
        hint = "write table or database.table, with backquotes around unusual characters"
        if "/" in self.table:
            hint = "name a table; one by its path is opened with forPath, and written with save"
        return (
            f"{self.table!r} is not a table name that Spark's session catalog allows\nhint: {hint}"
        )


@dataclass(eq=False, kw_only=True)
class TypeTextError(DeltaError):
    """A text is not the name of a SQL type."""

    code: ClassVar[str] = "PARSE_SYNTAX_ERROR"
    argument: str
    text: str

    def __str__(self) -> str:
        return (
            f"{self.argument} is {self.text!r}, which is not a SQL type\n"
            "hint: give a type such as 'bigint' or 'date', or one of PySpark's"
        )


@dataclass(eq=False, kw_only=True)
class ConversionError(DeltaError):
    """The Parquet files cannot be converted to a table."""

    code: ClassVar[str] = "DELTA_CONVERSION_FAILED"
    path: str
    reason: str
    hint: str

    def __str__(self) -> str:
        return f"the files in {self.path} cannot be converted: {self.reason}\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class NotParquetError(ConversionError):
    """The files to be converted are said to be of another format."""

    code: ClassVar[str] = "DELTA_CONVERT_NON_PARQUET_TABLE"


@dataclass(eq=False, kw_only=True)
class NoFormatError(ConversionError):
    """The path to be converted is given without its format."""

    code: ClassVar[str] = "DELTA_MISSING_PROVIDER_FOR_CONVERT"


@dataclass(eq=False, kw_only=True)
class ViewConversionError(ConversionError):
    """A view was to be converted."""

    code: ClassVar[str] = "DELTA_OPERATION_NOT_ALLOWED_DETAIL"


@dataclass(eq=False, kw_only=True)
class EmptyFolderError(ConversionError):
    """There are no files to be converted."""

    code: ClassVar[str] = "DELTA_EMPTY_DIRECTORY"


@dataclass(eq=False, kw_only=True)
class PartitionCountError(ConversionError):
    """The folders are partitioned by more or fewer columns than was said."""

    code: ClassVar[str] = "DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME"


@dataclass(eq=False, kw_only=True)
class PartitionNameError(ConversionError):
    """The folders are partitioned by other columns than was said."""

    code: ClassVar[str] = "DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME"


@dataclass(eq=False, kw_only=True)
class PartitionValueError(ConversionError):
    """The name of a folder has a value that is not of the type of its column."""

    code: ClassVar[str] = "DELTA_FAILED_CAST_PARTITION_VALUE"
