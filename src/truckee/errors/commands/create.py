"""Tables that cannot be created, replaced, converted or found by name."""

from __future__ import annotations

from truckee.errors.base import DeltaError


class TableAlreadyExistsError(
    DeltaError, code="TABLE_OR_VIEW_ALREADY_EXISTS", state="42P07", spark="AnalysisException"
):
    """The table to create already exists."""

    table: str
    text = "the table {table} already exists"
    hint = "use DeltaTable.createIfNotExists to keep it, or DeltaTable.createOrReplace"


class CloneTargetExistsError(TableAlreadyExistsError, code="DELTA_TABLE_ALREADY_EXISTS"):
    """The target of a clone already exists."""


class TableNotFoundError(
    DeltaError, code="TABLE_OR_VIEW_NOT_FOUND", state="42P01", spark="AnalysisException"
):
    """The table to replace, or to use by name, does not exist."""

    table: str
    hint: str
    text = "the table {table} cannot be found"


class CloneTargetNotFoundError(TableNotFoundError, code="DELTA_CANNOT_REPLACE_MISSING_TABLE"):
    """The table to replace by a clone does not exist."""


class NotATruckeeTableError(
    DeltaError, code="DELTA_ONLY_OPERATION", state="0AKDD", spark="AnalysisException"
):
    """A name in Spark's catalog belongs to something other than a Delta table."""

    table: str
    provider: str
    text = "{table} is not a Delta table, but a {provider} table"
    hint = "name a table that was created USING delta"


class ViewNamedError(
    NotATruckeeTableError, code="EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE", state="42809"
):
    """A name belongs to a view, where a table is needed."""

    provider: str = "view"
    text = "{table} is a view, but a table is expected"
    hint = "name the table itself"


class FeedOfOtherTableError(NotATruckeeTableError, code="DELTA_TABLE_ONLY_OPERATION"):
    """table_changes names something other than a Delta table."""


class ReorgOfOtherTableError(NotATruckeeTableError, code="DELTA_NOT_A_DELTA_TABLE"):
    """REORG names a table of another format."""


class ReplacementOfOtherTableError(NotATruckeeTableError, code="DELTA_NOT_A_DELTA_TABLE"):
    """A table of another format was to be replaced by a Delta table."""

    text = "{table} is not a Delta table, but a {provider} table"
    hint = "drop it first, or make it one with CONVERT TO DELTA if it is of Parquet files"


class RestoreOfOtherTableError(
    NotATruckeeTableError, code="TABLE_OR_VIEW_NOT_FOUND", state="42P01"
):
    """RESTORE names a table of another format."""


class IdentityOfOtherTableError(
    NotATruckeeTableError, code="DELTA_IDENTITY_COLUMNS_ALTER_NON_DELTA_FORMAT"
):
    """SYNC IDENTITY names a table of another format."""


class TableSchemaMismatchError(
    DeltaError, code="DELTA_CREATE_TABLE_SCHEME_MISMATCH", state="42KD7", spark="AnalysisException"
):
    """A table would be registered with columns other than its own."""

    table: str
    path: str
    expected: str
    found: str
    text = (
        "{table} cannot be created with the {expected}, because the table at {path} has the {found}"
    )
    hint = "leave the columns out to take those of the table"


class TablePartitioningMismatchError(
    TableSchemaMismatchError, code="DELTA_CREATE_TABLE_WITH_DIFFERENT_PARTITIONING"
):
    """A table would be registered with partitions other than its own."""


class TableClusteringMismatchError(
    TableSchemaMismatchError, code="DELTA_CREATE_TABLE_WITH_DIFFERENT_CLUSTERING"
):
    """A table would be registered with clustering columns other than its own."""


class TablePropertiesMismatchError(
    TableSchemaMismatchError, code="DELTA_CREATE_TABLE_WITH_DIFFERENT_PROPERTY"
):
    """A table would be registered with properties other than its own."""

    text = (
        "{table} cannot be created with the {expected}, because the table at {path} has the {found}"
    )
    hint = "leave the properties out, and set them with ALTER TABLE ... SET TBLPROPERTIES"


class TableLocationMismatchError(
    DeltaError, code="DELTA_TABLE_LOCATION_MISMATCH", state="42613", spark="AnalysisException"
):
    """A table was to be replaced at a location that is not its own."""

    table: str
    location: str
    found: str
    text = "{table} is at {found}, and cannot be replaced at {location}"
    hint = "leave the location out, or drop the table first"


class LocationSchemaError(DeltaError, code="DELTA_SET_LOCATION_SCHEMA_MISMATCH", state="42KD7"):
    """A name was to stand for a table with other columns or partitions."""

    table: str
    location: str
    expected: str
    found: str
    text = (
        "{table} has the {expected}, but the table at {location} has the {found}, or others of "
        "their types"
    )
    hint = "drop the name, and create it with the new LOCATION"


class PathLocationError(
    DeltaError, code="DELTA_CANNOT_SET_LOCATION_ON_PATH_IDENTIFIER", state="42613"
):
    """A table that is named by its path was to lie somewhere else."""

    path: str
    text = "the location of the table at {path} cannot be set, since its path is its name"
    hint = "use the other path in its place"


class AmbiguousTablePathError(
    DeltaError,
    code="DELTA_AMBIGUOUS_PATHS_IN_CREATE_TABLE",
    state="42613",
    spark="AnalysisException",
):
    """A table is named by a path, but its location is another path."""

    path: str
    location: str
    text = "the table is named by the path {path}, but its location is {location}"
    hint = "leave out LOCATION, or give the table a name"


class PartitionedAndClusteredError(
    DeltaError,
    code="DELTA_CLUSTER_BY_WITH_PARTITIONED_BY",
    state="42613",
    spark="AnalysisException",
):
    """The table to create has partition columns and clustering columns."""

    text = "a table cannot have both partitions and clustering"
    hint = "call partitionedBy or clusterBy, not both"


class NoTableLocationError(
    DeltaError,
    code="DELTA_CREATE_TABLE_MISSING_TABLE_NAME_OR_LOCATION",
    state="42601",
    spark="AnalysisException",
):
    """The table to create has neither a name nor a location."""

    text = "the table has neither a name nor a location"
    hint = "call tableName or location, or both"


class NoPathGivenError(
    NoTableLocationError, code="DELTA_TABLE_LOCATION_MISSING", spark="IllegalArgumentException"
):
    """A read, a write or a stream gives no path."""

    text = "no path is given"
    hint = (
        "give it to load, save or start, or as option path; a table by name is read with table, "
        "and written with saveAsTable or toTable"
    )


class InvalidTableNameError(
    DeltaError, code="DELTA_INVALID_TABLE_NAME", state="42602", spark="ParseException"
):
    """A name that Spark's session catalog does not allow."""

    table: str

    def sentence(self) -> str:
        hint = "write table or database.table, with backquotes around unusual characters"
        if "/" in self.table:
            hint = "name a table; one by its path is opened with forPath, and written with save"
        return (
            f"{self.table!r} is not a table name that Spark's session catalog allows\nhint: {hint}"
        )


class TypeTextError(DeltaError, code="PARSE_SYNTAX_ERROR", state="42601", spark="ParseException"):
    """A text is not the name of a SQL type."""

    argument: str
    value: str
    text = "{argument} is {value!r}, which is not a SQL type"
    hint = "give a type such as 'bigint' or 'date', or one of PySpark's"


class ConversionError(
    DeltaError, code="DELTA_CONVERSION_FAILED", state="0A000", spark="AnalysisException"
):
    """The Parquet files cannot be converted to a table."""

    path: str
    reason: str
    hint: str
    text = "the files in {path} cannot be converted: {reason}"


class NotParquetError(ConversionError, code="DELTA_CONVERT_NON_PARQUET_TABLE", state="0AKDC"):
    """The files to be converted are said to be of another format."""


class NoFormatError(ConversionError, code="DELTA_MISSING_PROVIDER_FOR_CONVERT", state="0AKDC"):
    """The path to be converted is given without its format."""


class ViewConversionError(
    ConversionError, code="DELTA_OPERATION_NOT_ALLOWED_DETAIL", state="0AKDC"
):
    """A view was to be converted."""


class EmptyFolderError(ConversionError, code="DELTA_EMPTY_DIRECTORY", state="42K03"):
    """There are no files to be converted."""


class PartitionCountError(
    ConversionError, code="DELTA_UNEXPECTED_NUM_PARTITION_COLUMNS_FROM_FILE_NAME", state="KD009"
):
    """The folders are partitioned by more or fewer columns than was said."""


class PartitionNameError(
    ConversionError, code="DELTA_UNEXPECTED_PARTITION_COLUMN_FROM_FILE_NAME", state="KD009"
):
    """The folders are partitioned by other columns than was said."""


class PartitionValueError(ConversionError, code="DELTA_FAILED_CAST_PARTITION_VALUE", state="22018"):
    """The name of a folder has a value that is not of the type of its column."""
