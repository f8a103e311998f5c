"""Writes that are refused before any row is read; nothing was written."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar, NamedTuple

from truckee.errors.base import DeltaError

# Programs look for these words, to write once more with mergeSchema or overwriteSchema.
_SCHEMA_MISMATCH = "A schema mismatch detected when writing to the Delta table"


class UnknownSaveModeError(
    DeltaError, code="INVALID_SAVE_MODE", state="42000", spark="AnalysisException"
):
    """A save mode that does not exist."""

    mode: str
    text = "{mode!r} is not a save mode"
    hint = "use append, overwrite, ignore, or error (which is the default)"


class WriteOptionsError(
    DeltaError, code="DELTA_ILLEGAL_OPTION", state="42616", spark="IllegalArgumentException"
):
    """Options of one write that exclude each other."""


class IdempotentWriteOptionsError(
    WriteOptionsError, code="DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS"
):
    """One of txnAppId and txnVersion without the other."""

    given: str
    missing: str
    text = "option {given} is set without {missing}"
    hint = "set both; together they identify a write, so that a repeated one is skipped"


class DynamicReplaceWhereError(
    WriteOptionsError, code="DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE", state="42613"
):
    """Both replaceWhere and dynamic partition overwrite are set."""

    text = "options replaceWhere and partitionOverwriteMode=dynamic are both set"
    hint = "choose one; replaceWhere names what to replace, dynamic takes it from the data"


class DynamicOverwriteSchemaError(
    WriteOptionsError, code="DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE", state="42613"
):
    """overwriteSchema with a dynamic partition overwrite, which keeps some partitions."""

    text = "options overwriteSchema and partitionOverwriteMode=dynamic are both set"
    hint = "partitions that stay would keep the old schema; overwrite the whole table"


class ReplaceWhereOverwriteSchemaError(WriteOptionsError):
    """overwriteSchema with replaceWhere, which keeps some rows."""

    text = "options replaceWhere and overwriteSchema are both set"
    hint = "rows that stay would keep the old schema; use mergeSchema, or overwrite the whole table"


class OverwriteOptionError(WriteOptionsError):
    """An overwrite option on a write that does not overwrite."""

    option: str
    mode: str
    text = "option {option} is set, but the mode is {mode}, which replaces nothing"
    hint = 'write with mode("overwrite"), or leave the option out'


class TableExistsError(
    DeltaError, code="DELTA_PATH_EXISTS", state="42K04", spark="AnalysisException"
):
    """There is already a table at the path."""

    path: str
    text = "there is already a table at {path}"
    hint = 'write with mode("append") to add rows, or mode("overwrite") to replace them'


class NonEmptyFolderError(
    DeltaError,
    code="DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION",
    state="42601",
    spark="AnalysisException",
):
    """The folder for a new table already has files that are not a table."""

    path: str
    found: str
    text = "{path} is not a Delta table, but not empty either: it has {found}"
    hint = (
        "choose another path, or convert its Parquet files to a table with "
        "DeltaTable.convertToDelta"
    )


class TableAtLocationError(NonEmptyFolderError):
    """The folder for a new table with rows is that of a table already."""

    text = "there is a table at {path} already"
    hint = "choose another path, or give the table a name first: CREATE TABLE ... LOCATION"


class ColumnDifference(NamedTuple):
    """A column that differs between the table and the data; None where it is missing."""

    column: str
    in_table: str | None
    in_data: str | None
    problem: str


class SchemaMismatchError(
    DeltaError, code="DELTA_METADATA_MISMATCH", state="42KDG", spark="AnalysisException"
):
    """The data has columns that the table lacks."""

    opening: ClassVar[str] = _SCHEMA_MISMATCH
    table: str
    differences: tuple[ColumnDifference, ...]
    hint: str

    def sentence(self) -> str:
        rows = (("column", "in the table", "in the data", ""), *map(_diff_row, self.differences))
        return f"{self.opening} {self.table}\n\n{_aligned(rows)}\n\nhint: {self.hint}"


class TypeMismatchError(SchemaMismatchError, code="DELTA_FAILED_TO_MERGE_FIELDS", state="22005"):
    """The data has columns of types that the table cannot hold."""

    opening: ClassVar[str] = "Failed to merge fields of the data with those of the Delta table"


def _diff_row(difference: ColumnDifference) -> tuple[str, str, str, str]:
    return (
        difference.column,
        difference.in_table or "-",
        difference.in_data or "-",
        difference.problem,
    )


def _aligned(rows: Iterable[tuple[str, ...]]) -> str:
    rows = list(rows)
    widths = [max(len(row[index]) for row in rows) for index in range(3)]
    lines = (
        "  ".join((*(cell.ljust(width) for cell, width in zip(row, widths, strict=False)), row[3]))
        for row in rows
    )
    return "\n".join(f"  {line}".rstrip() for line in lines)


class PartitioningMismatchError(
    DeltaError, code="DELTA_METADATA_MISMATCH", state="42KDG", spark="AnalysisException"
):
    """partitionBy names columns other than the table's partition columns."""

    table: str
    expected: tuple[str, ...]
    found: tuple[str, ...]
    text = (
        "Partition columns do not match those of the table {table}: partitionBy names [{found}], "
        "but it is partitioned by [{expected}]"
    )
    hint = (
        'leave partitionBy out, or overwrite the table with option("overwriteSchema", "true") to '
        "repartition it"
    )


class ClusteringMismatchError(
    PartitioningMismatchError, code="DELTA_CLUSTERING_COLUMNS_MISMATCH", state="42P10"
):
    """clusterBy names columns other than those that the table is clustered by."""

    text = "clusterBy names [{found}], but the table {table} is clustered by [{expected}]"
    hint = (
        "leave clusterBy out, use ALTER TABLE ... CLUSTER BY, or overwrite the table with "
        'option("overwriteSchema", "true")'
    )


class MissingNotNullColumnError(
    DeltaError, code="DELTA_MISSING_NOT_NULL_COLUMN_VALUE", state="23502"
):
    """The data lacks a NOT NULL column that has no default."""

    table: str
    column: str
    text = "column {column} of the table {table} is NOT NULL, but is not in the data"
    hint = "add column {column} to the data"


class ColumnCountError(
    DeltaError, code="DELTA_INSERT_COLUMN_ARITY_MISMATCH", state="42802", spark="AnalysisException"
):
    """Columns are matched by position, but the data has more or fewer than the table."""

    table: str
    expected: tuple[str, ...]
    found: tuple[str, ...]

    def sentence(self) -> str:
        return (
            f"the data has {len(self.found)} column{'s' * (len(self.found) != 1)} "
            f"[{', '.join(self.found)}], but the table {self.table} has {len(self.expected)}: "
            f"[{', '.join(self.expected)}]\n"
            "hint: select as many columns in the same order, or match them by name: INSERT INTO "
            "t (a, b) or BY NAME in SQL, saveAsTable in Python"
        )


class FieldCountError(
    DeltaError, code="DELTA_INSERT_COLUMN_ARITY_MISMATCH", state="42802", spark="AnalysisException"
):
    """Fields of a struct are matched by position, but the data has fewer than the table."""

    column: str
    expected: str
    found: str
    text = "the data has {found} for {column}, which has fewer fields than {expected}"
    hint = "give a value for every field, NULL for example"


class StructPlacedError(
    DeltaError, code="DELTA_COLUMN_STRUCT_TYPE_MISMATCH", state="2200G", spark="AnalysisException"
):
    """A struct is in the place of a field that is not a struct."""

    column: str
    type: str
    text = "the data has a struct in the place of the field {column}, which is {type}"
    hint = "fields of structs go by their places here; put them in the order of the table"


class ExtraColumnsError(ColumnCountError, code="DELTA_METADATA_MISMATCH", state="42KDG"):
    """There are more of them than the table has."""

    def sentence(self) -> str:
        return f"{_SCHEMA_MISMATCH}: {super().sentence()}"


class TooManyValuesError(
    ColumnCountError, code="INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS", state="21S01"
):
    """An INSERT has more values than it lists columns."""


class TooFewValuesError(
    ColumnCountError, code="INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS", state="21S01"
):
    """An INSERT has fewer values than it lists columns."""


class IdentityValueGivenError(
    DeltaError,
    code="DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED",
    state="42808",
    spark="AnalysisException",
):
    """Values were given for a column that is GENERATED ALWAYS AS IDENTITY."""

    column: str
    text = "column {column} is GENERATED ALWAYS AS IDENTITY, but the data has values for it"
    hint = "leave column {column} out of the data"


class DataChangeWithMetadataError(
    DeltaError, code="DELTA_DATA_CHANGE_FALSE", state="0AKDE", spark="AnalysisException"
):
    """A write with dataChange=false would change the table's schema."""

    table: str
    text = (
        "option dataChange is false, so rows are only rearranged, but the write would change the "
        "metadata of the table {table}"
    )
    hint = "change the schema in a write of its own, or leave dataChange out"


class StreamingFrameError(
    DeltaError, code="DELTA_UNSUPPORTED_STREAMING_WRITE", state="0A000", spark="AnalysisException"
):
    """A streaming DataFrame was given to a batch write."""

    text = "a streaming DataFrame has no end, so a batch write cannot write it"
    hint = "write its batches, with df.writeStream.foreachBatch"
