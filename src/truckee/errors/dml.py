"""DELETE, UPDATE and MERGE that are refused before anything is written.

DeltaError
├── AppendOnlyTargetError            rows of an append-only table would change
├── InvalidExpressionError           a condition or value that Spark cannot make sense of
│   ├── UnresolvedColumnError          it names a column that is not there
│   ├── AmbiguousColumnError           it names a column that is there twice
│   ├── ForeignColumnError             it holds a column of a DataFrame that takes no part
│   ├── SubqueryNotSupportedError      it holds a query of its own
│   ├── NonDeterministicError          it may be another one each time it is looked at
│   └── AggregateNotSupportedError     it speaks of many rows at once
├── AssignmentError                  a value that cannot be given to a column
│   ├── UnknownTargetColumnError       there is no such column
│   ├── ConflictingAssignmentsError    two values for one column
│   ├── AssignmentTypeError            a value of another type
│   └── IdentityUpdateError            a column that numbers rows itself
├── RowIdsNotKeptError               rows have ids, and there is no place to write them to
└── RowCountMismatchError            rows would appear from nowhere, or be lost
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError
from truckee.errors.commit import AppendOnlyTableError


@dataclass(eq=False, kw_only=True)
class AppendOnlyTargetError(AppendOnlyTableError):
    """A command that would change rows of a table which only ever grows."""

    path: str = ""

    def __str__(self) -> str:
        return (
            f"{self.operation} changes rows, but the table {self.table} is append-only\n"
            "hint: set the table property 'delta.appendOnly' to 'false' to allow it"
        )


@dataclass(eq=False, kw_only=True)
class InvalidExpressionError(DeltaError):
    """An expression that cannot be used; `what` says which one of the command it is."""

    code: ClassVar[str] = "DELTA_INVALID_EXPRESSION"
    what: str
    expression: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.what} ({self.expression}) cannot be used: {self.reason}"


@dataclass(eq=False, kw_only=True)
class UnresolvedColumnError(InvalidExpressionError):
    """An expression that names a column which is not there."""

    code: ClassVar[str] = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) names {self.column}, which is not a column here\n"
            f"hint: use one of [{', '.join(self.columns)}]"
        )


@dataclass(eq=False, kw_only=True)
class AmbiguousColumnError(InvalidExpressionError):
    """An expression that names a column which is there more than once."""

    code: ClassVar[str] = "AMBIGUOUS_REFERENCE"
    column: str
    candidates: str

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) names {self.column}, which may be any of "
            f"{self.candidates}\nhint: put the alias of the table before the name"
        )


@dataclass(eq=False, kw_only=True)
class ForeignColumnError(InvalidExpressionError):
    """An expression with a Column that was taken from a DataFrame of something else."""

    code: ClassVar[str] = "MISSING_ATTRIBUTES"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) holds {self.column} of a DataFrame that takes no "
            "part in the command\n"
            f"hint: name one of [{', '.join(self.columns)}] by text or with functions.col, or take "
            "it from toDF() of this very table"
        )


@dataclass(eq=False, kw_only=True)
class SubqueryNotSupportedError(InvalidExpressionError):
    """A condition with a query of its own."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_SUBQUERY"

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) has a subquery, which is not supported\n"
            "hint: use merge with the subquery as its source"
        )


@dataclass(eq=False, kw_only=True)
class NonDeterministicError(InvalidExpressionError):
    """A condition that may come out otherwise the next time, while rows are looked at twice."""

    code: ClassVar[str] = "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED"

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) is not deterministic\n"
            "hint: write the values to a table first, and compare with those"
        )


@dataclass(eq=False, kw_only=True)
class AggregateNotSupportedError(InvalidExpressionError):
    """A condition on one row that speaks of many."""

    code: ClassVar[str] = "DELTA_AGGREGATION_NOT_SUPPORTED"

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) has an aggregate or window function, but it is about "
            "one row at a time\n"
            "hint: compute the value first, and compare with that"
        )


@dataclass(eq=False, kw_only=True)
class AssignmentError(DeltaError):
    """A value that cannot be given to a column; `what` says which clause gives it."""

    code: ClassVar[str] = "DELTA_INVALID_ASSIGNMENT"
    what: str
    column: str


@dataclass(eq=False, kw_only=True)
class UnknownTargetColumnError(AssignmentError):
    """A value for a column that the table does not have."""

    code: ClassVar[str] = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.what} gives a value to {self.column}, which is not a column of the table\n"
            f"hint: use one of [{', '.join(self.columns)}]"
        )


@dataclass(eq=False, kw_only=True)
class ConflictingAssignmentsError(AssignmentError):
    """Two values for one column, or for a struct and a field of it."""

    code: ClassVar[str] = "DELTA_CONFLICT_SET_COLUMN"
    other: str

    def __str__(self) -> str:
        return (
            f"{self.what} gives values to both {self.other} and {self.column}\n"
            "hint: give each column one value; a struct is set as a whole or field by field"
        )


@dataclass(eq=False, kw_only=True)
class AssignmentTypeError(AssignmentError):
    """A value whose type cannot be stored in its column."""

    code: ClassVar[str] = "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"
    found: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.what} gives {self.column} a value of type {self.found}, but the column is "
            f"{self.expected}\nhint: cast the value"
        )


@dataclass(eq=False, kw_only=True)
class IdentityUpdateError(AssignmentError):
    """A new value for a column that numbers rows itself."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED"

    def __str__(self) -> str:
        return (
            f"{self.what} gives a value to {self.column}, which is GENERATED AS IDENTITY\n"
            f"hint: leave {self.column} out"
        )


@dataclass(eq=False, kw_only=True)
class RowIdsNotKeptError(DeltaError):
    """Rows would have to be moved to another file, where their ids could not be written."""

    code: ClassVar[str] = "DELTA_ROW_TRACKING_ILLEGAL_OPERATION"
    table: str
    operation: str

    def __str__(self) -> str:
        return (
            f"{self.operation} writes rows anew, but row tracking is on for the table {self.table} "
            "and it has no columns to keep their ids in\n"
            "hint: switch row tracking off and on again, which gives the table such columns"
        )


@dataclass(eq=False, kw_only=True)
class RowCountMismatchError(DeltaError):
    """The rows that were written are not as many as those that they stand for."""

    code: ClassVar[str] = "DELTA_NUM_RECORDS_MISMATCH"
    table: str
    operation: str
    expected: int
    written: int

    def __str__(self) -> str:
        return (
            f"{self.operation} of the table {self.table} wrote {self.written} rows where "
            f"{self.expected} were to be written; nothing was changed\n"
            "hint: see that the conditions give the same answer each time they are asked"
        )
