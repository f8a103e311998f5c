"""Writes that are refused before a row is looked at: nothing of them is left anywhere.

DeltaError
├── UnknownSaveModeError             mode() got a word that is none
├── WriteOptionsError                options that do not go together, one class for each pair
├── TableExistsError                 there is a table already, and the mode says that is wrong
├── NonEmptyFolderError              there are files already, and they are no table
├── SchemaMismatchError              columns that the table does not have, or of other types
├── PartitioningMismatchError        partitionBy says other than the table
├── MissingNotNullColumnError        no values for a column that needs some
├── IdentityValueGivenError          values for a column that numbers rows itself
├── DataChangeWithMetadataError      dataChange=false, and the schema would change
├── InvalidConditionError            replaceWhere that is no condition on the table
└── StreamingFrameError              a streaming DataFrame
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

from truckee.errors.base import DeltaError


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
    """Options of one write that do not go together."""

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
            "hint: set both; together they tell a repeated write from a new one"
        )


@dataclass(eq=False, kw_only=True)
class DynamicReplaceWhereError(WriteOptionsError):
    """Two ways of saying what an overwrite replaces."""

    code: ClassVar[str] = "DELTA_REPLACE_WHERE_WITH_DYNAMIC_PARTITION_OVERWRITE"

    def __str__(self) -> str:
        return (
            "options replaceWhere and partitionOverwriteMode=dynamic are both set\n"
            "hint: replaceWhere says what to replace, dynamic takes it from the data; choose one"
        )


@dataclass(eq=False, kw_only=True)
class DynamicOverwriteSchemaError(WriteOptionsError):
    """A new schema for some partitions only."""

    code: ClassVar[str] = "DELTA_OVERWRITE_SCHEMA_WITH_DYNAMIC_PARTITION_OVERWRITE"

    def __str__(self) -> str:
        return (
            "options overwriteSchema and partitionOverwriteMode=dynamic are both set\n"
            "hint: partitions that stay would keep the old schema; overwrite the whole table"
        )


@dataclass(eq=False, kw_only=True)
class ReplaceWhereOverwriteSchemaError(WriteOptionsError):
    """A new schema for some rows only."""

    def __str__(self) -> str:
        return (
            "options replaceWhere and overwriteSchema are both set\n"
            "hint: rows that stay would keep the old schema; use mergeSchema, or overwrite the "
            "whole table"
        )


@dataclass(eq=False, kw_only=True)
class OverwriteOptionError(WriteOptionsError):
    """An option that says how to overwrite, on a write that does not."""

    option: str
    mode: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set, but the mode is {self.mode}, which replaces nothing\n"
            'hint: write with mode("overwrite"), or leave the option out'
        )


@dataclass(eq=False, kw_only=True)
class TableExistsError(DeltaError):
    """There is a table at the path already."""

    code: ClassVar[str] = "DELTA_PATH_EXISTS"
    path: str

    def __str__(self) -> str:
        return (
            f"there is a table at {self.path} already\n"
            'hint: write with mode("append") to add rows, or mode("overwrite") to replace them'
        )


@dataclass(eq=False, kw_only=True)
class NonEmptyFolderError(DeltaError):
    """There are files where a table is to be created, and they are no table."""

    code: ClassVar[str] = "DELTA_CREATE_TABLE_WITH_NON_EMPTY_LOCATION"
    path: str
    found: str

    def __str__(self) -> str:
        return (
            f"{self.path} is not a Delta table, but not empty either: it has {self.found}\n"
            "hint: choose another path, or make a table of Parquet files that are there with "
            "DeltaTable.convertToDelta"
        )


class ColumnDifference(NamedTuple):
    """A column that is not the same in the table and in the data; None where it is not there."""

    column: str
    in_table: str | None
    in_data: str | None
    problem: str


@dataclass(eq=False, kw_only=True)
class SchemaMismatchError(DeltaError):
    """The data has columns that the table lacks, or of types that the table cannot hold."""

    code: ClassVar[str] = "DELTA_METADATA_MISMATCH"
    table: str
    differences: tuple[ColumnDifference, ...]
    hint: str

    def __str__(self) -> str:
        rows = (("column", "in the table", "in the data", ""), *map(_diff_row, self.differences))
        return (
            f"the data does not fit the schema of the table {self.table}\n\n"
            f"{_aligned(rows)}\n\nhint: {self.hint}"
        )


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
    """partitionBy names other columns than those that the table is partitioned by."""

    code: ClassVar[str] = "DELTA_METADATA_MISMATCH"
    table: str
    expected: tuple[str, ...]
    found: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"partitionBy names [{', '.join(self.found)}], but the table {self.table} is "
            f"partitioned by [{', '.join(self.expected)}]\n"
            'hint: leave partitionBy out, or overwrite the table with option("overwriteSchema", '
            '"true") to partition it anew'
        )


@dataclass(eq=False, kw_only=True)
class MissingNotNullColumnError(DeltaError):
    """The data has no values for a column that takes no null and has no default."""

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
    """Columns that go by their position are more or fewer than those of the table."""

    code: ClassVar[str] = "DELTA_INSERT_COLUMN_ARITY_MISMATCH"
    table: str
    expected: tuple[str, ...]
    found: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the data has {len(self.found)} columns [{', '.join(self.found)}], but the table "
            f"{self.table} has {len(self.expected)}: [{', '.join(self.expected)}]\n"
            "hint: select as many columns in the same order, or use saveAsTable, which goes by name"
        )


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
    """A write that says it only rearranges rows would change the table's schema."""

    code: ClassVar[str] = "DELTA_DATA_CHANGE_FALSE"
    table: str

    def __str__(self) -> str:
        return (
            "option dataChange is false, so rows are only rearranged, but the write would change "
            f"the metadata of the table {self.table}\n"
            "hint: change the schema in a write of its own, or leave dataChange out"
        )


@dataclass(eq=False, kw_only=True)
class InvalidConditionError(DeltaError):
    """Text that is not a condition on the columns of the table."""

    code: ClassVar[str] = "DELTA_CANNOT_EVALUATE_EXPRESSION"
    what: str
    condition: str
    reason: str

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.condition}) is not a condition on the table: {self.reason}\n"
            "hint: use columns of the table, compared so that the result is true or false"
        )


@dataclass(eq=False, kw_only=True)
class StreamingFrameError(DeltaError):
    """A streaming DataFrame was given to a batch write."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_STREAMING_WRITE"

    def __str__(self) -> str:
        return (
            "a streaming DataFrame has no end, so it cannot be written at once\n"
            "hint: write its batches, with df.writeStream.foreachBatch"
        )
