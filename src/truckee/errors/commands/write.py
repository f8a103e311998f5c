"""Writes that are refused before any row is read; nothing was written.

DeltaError
├── UnknownSaveModeError             an unknown save mode
├── WriteOptionsError                options that exclude each other, one class for each pair
├── TableExistsError                 there is already a table, and the mode forbids that
├── NonEmptyFolderError              there are already files that are not a table
├── SchemaMismatchError              columns that the table does not have
│   └── TypeMismatchError              columns of other types
├── PartitioningMismatchError        partitionBy differs from the table's partitioning
│   └── ClusteringMismatchError        clusterBy differs from the table's clustering
├── MissingNotNullColumnError        no values for a NOT NULL column
├── IdentityValueGivenError          values for an identity column
├── FieldCountError                  a struct with fewer fields than the table's
├── StructPlacedError                a struct in the place of a field that is not a struct
├── DataChangeWithMetadataError      dataChange=false, but the schema would change
└── StreamingFrameError              a streaming DataFrame
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from truckee.errors.base import DeltaError

# Programs look for these words, to write once more with mergeSchema or overwriteSchema.
_SCHEMA_MISMATCH = "A schema mismatch detected when writing to the Delta table"


@dataclass(eq=False, kw_only=True)
class UnknownSaveModeError(DeltaError):
    """A save mode that does not exist."""

    code: ClassVar[str] = "INVALID_SAVE_MODE"
    mode: str

    def __str__(self) -> str:
        return (
            f"{self.mode!r} is not a save mode\n"
            "hint: use append, overwrite, ignore, or error (which is the default)"
        )


@dataclass(eq=False, kw_only=True)
class WriteOptionsError(DeltaError):
    """Options of one write that exclude each other."""

    code: ClassVar[str] = "DELTA_ILLEGAL_OPTION"


@dataclass(eq=False, kw_only=True)
class IdempotentWriteOptionsError(WriteOptionsError):
    """One of txnAppId and txnVersion without the other."""

    code: ClassVar[str] = "DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS"
    given: str
    missing: str

    def __str__(self) -> str:
        return (
            f"option {self.given} is set without {self.missing}\n"
            "hint: set both; together they identify a write, so that a repeated one is skipped"
        )


@dataclass(eq=False, kw_only=True)
class DynamicReplaceWhereError(WriteOptionsError):
    """Both replaceWhere and dynamic partition overwrite are set."""

    code: ClassVar[str] = "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE"

    def __str__(self) -> str:
        return (
            "options replaceWhere and partitionOverwriteMode=dynamic are both set\n"
            "hint: choose one; replaceWhere names what to replace, dynamic takes it from the data"
        )


@dataclass(eq=False, kw_only=True)
class DynamicOverwriteSchemaError(WriteOptionsError):
    """overwriteSchema with a dynamic partition overwrite, which keeps some partitions."""

    code: ClassVar[str] = "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE"

    def __str__(self) -> str:
        return (
            "options overwriteSchema and partitionOverwriteMode=dynamic are both set\n"
            "hint: partitions that stay would keep the old schema; overwrite the whole table"
        )


@dataclass(eq=False, kw_only=True)
class ReplaceWhereOverwriteSchemaError(WriteOptionsError):
    """overwriteSchema with replaceWhere, which keeps some rows."""

    def __str__(self) -> str:
        return (
            "options replaceWhere and overwriteSchema are both set\n"
            "hint: rows that stay would keep the old schema; use mergeSchema, or overwrite the "
            "whole table"
        )


@dataclass(eq=False, kw_only=True)
class OverwriteOptionError(WriteOptionsError):
    """An overwrite option on a write that does not overwrite."""

    option: str
    mode: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set, but the mode is {self.mode}, which replaces nothing\n"
            'hint: write with mode("overwrite"), or leave the option out'
        )


@dataclass(eq=False, kw_only=True)
class TableExistsError(DeltaError):
    """There is already a table at the path."""

    code: ClassVar[str] = "DELTA_PATH_EXISTS"
    path: str

    def __str__(self) -> str:
        return (
            f"there is already a table at {self.path}\n"
            'hint: write with mode("append") to add rows, or mode("overwrite") to replace them'
        )


@dataclass(eq=False, kw_only=True)
class NonEmptyFolderError(DeltaError):
    """The folder for a new table already has files that are not a table."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
    path: str
    found: str

    def __str__(self) -> str:
        return (
            f"{self.path} is not a Delta table, but not empty either: it has {self.found}\n"
            "hint: choose another path, or convert its Parquet files to a table with "
            "DeltaTable.convertToDelta"
        )


@dataclass(eq=False, kw_only=True)
class TableAtLocationError(NonEmptyFolderError):
    """The folder for a new table with rows is that of a table already."""

    def __str__(self) -> str:
        return (
            f"there is a table at {self.path} already\n"
            "hint: choose another path, or give the table a name first: CREATE TABLE ... LOCATION"
        )


class ColumnDifference(NamedTuple):
    """A column that differs between the table and the data; None where it is missing."""

    column: str
    in_table: str | None
    in_data: str | None
    problem: str


@dataclass(eq=False, kw_only=True)
class SchemaMismatchError(DeltaError):
    """The data has columns that the table lacks."""

    code: ClassVar[str] = "DELTA_METADATA_MISMATCH"
    opening: ClassVar[str] = _SCHEMA_MISMATCH
    table: str
    differences: tuple[ColumnDifference, ...]
    hint: str

    def __str__(self) -> str:
        rows = (("column", "in the table", "in the data", ""), *map(_diff_row, self.differences))
        return f"{self.opening} {self.table}\n\n{_aligned(rows)}\n\nhint: {self.hint}"


@dataclass(eq=False, kw_only=True)
class TypeMismatchError(SchemaMismatchError):
    """The data has columns of types that the table cannot hold."""

    code: ClassVar[str] = "DELTA_FAILED_TO_MERGE_FIELDS"
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


@dataclass(eq=False, kw_only=True)
class PartitioningMismatchError(DeltaError):
    """partitionBy names columns other than the table's partition columns."""

    code: ClassVar[str] = "DELTA_METADATA_MISMATCH"
    table: str
    expected: tuple[str, ...]
    found: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"Partition columns do not match those of the table {self.table}: partitionBy names "
            f"[{', '.join(self.found)}], but it is partitioned by [{', '.join(self.expected)}]\n"
            'hint: leave partitionBy out, or overwrite the table with option("overwriteSchema", '
            '"true") to repartition it'
        )


@dataclass(eq=False, kw_only=True)
class ClusteringMismatchError(PartitioningMismatchError):
    """clusterBy names columns other than those that the table is clustered by."""

    code: ClassVar[str] = "DELTA_CLUSTERING_COLUMNS_MISMATCH"

    def __str__(self) -> str:
        return (
            f"clusterBy names [{', '.join(self.found)}], but the table {self.table} is "
            f"clustered by [{', '.join(self.expected)}]\n"
            "hint: leave clusterBy out, use ALTER TABLE ... CLUSTER BY, or overwrite the table "
            'with option("overwriteSchema", "true")'
        )


@dataclass(eq=False, kw_only=True)
class MissingNotNullColumnError(DeltaError):
    """The data lacks a NOT NULL column that has no default."""

    code: ClassVar[str] = "DELTA_MISSING_NOT_NULL_COLUMN_VALUE"
    table: str
    column: str

    def __str__(self) -> str:
        return (
            f"column {self.column} of the table {self.table} is NOT NULL, but is not in the data\n"
            f"hint: add column {self.column} to the data"
        )


@dataclass(eq=False, kw_only=True)
class ColumnCountError(DeltaError):
    """Columns are matched by position, but the data has more or fewer than the table."""

    code: ClassVar[str] = "DELTA_INSERT_COLUMN_ARITY_MISMATCH"
    table: str
    expected: tuple[str, ...]
    found: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the data has {len(self.found)} column{'s' * (len(self.found) != 1)} "
            f"[{', '.join(self.found)}], but the table {self.table} has {len(self.expected)}: "
            f"[{', '.join(self.expected)}]\n"
            "hint: select as many columns in the same order, or match them by name: INSERT INTO "
            "t (a, b) or BY NAME in SQL, saveAsTable in Python"
        )


@dataclass(eq=False, kw_only=True)
class FieldCountError(DeltaError):
    """Fields of a struct are matched by position, but the data has fewer than the table."""

    code: ClassVar[str] = "DELTA_INSERT_COLUMN_ARITY_MISMATCH"
    column: str
    expected: str
    found: str

    def __str__(self) -> str:
        return (
            f"the data has {self.found} for {self.column}, which has fewer fields than "
            f"{self.expected}\nhint: give a value for every field, NULL for example"
        )


@dataclass(eq=False, kw_only=True)
class StructPlacedError(DeltaError):
    """A struct is in the place of a field that is not a struct."""

    code: ClassVar[str] = "DELTA_COLUMN_STRUCT_TYPE_MISMATCH"
    column: str
    type: str

    def __str__(self) -> str:
        return (
            f"the data has a struct in the place of the field {self.column}, which is "
            f"{self.type}\nhint: fields of structs go by their places here; put them in the order "
            "of the table"
        )


@dataclass(eq=False, kw_only=True)
class ExtraColumnsError(ColumnCountError):
    """There are more of them than the table has."""

    code: ClassVar[str] = "DELTA_METADATA_MISMATCH"

    def __str__(self) -> str:
        return f"{_SCHEMA_MISMATCH}: {super().sentence()}"


@dataclass(eq=False, kw_only=True)
class TooManyValuesError(ColumnCountError):
    """An INSERT has more values than it lists columns."""

    code: ClassVar[str] = "INSERT_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS"


@dataclass(eq=False, kw_only=True)
class TooFewValuesError(ColumnCountError):
    """An INSERT has fewer values than it lists columns."""

    code: ClassVar[str] = "INSERT_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"


@dataclass(eq=False, kw_only=True)
class IdentityValueGivenError(DeltaError):
    """Values were given for a column that is GENERATED ALWAYS AS IDENTITY."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_EXPLICIT_INSERT_NOT_SUPPORTED"
    column: str

    def __str__(self) -> str:
        return (
            f"column {self.column} is GENERATED ALWAYS AS IDENTITY, but the data has values for "
            f"it\nhint: leave column {self.column} out of the data"
        )


@dataclass(eq=False, kw_only=True)
class DataChangeWithMetadataError(DeltaError):
    """A write with dataChange=false would change the table's schema."""

    code: ClassVar[str] = "DELTA_DATA_CHANGE_FALSE"
    table: str

    def __str__(self) -> str:
        return (
            "option dataChange is false, so rows are only rearranged, but the write would change "
            f"the metadata of the table {self.table}\n"
            "hint: change the schema in a write of its own, or leave dataChange out"
        )


@dataclass(eq=False, kw_only=True)
class StreamingFrameError(DeltaError):
    """A streaming DataFrame was given to a batch write."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_STREAMING_WRITE"

    def __str__(self) -> str:
        return (
            "a streaming DataFrame has no end, so a batch write cannot write it\n"
            "hint: write its batches, with df.writeStream.foreachBatch"
        )
