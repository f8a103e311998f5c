"""Refused DELETE, UPDATE and MERGE; nothing was written.

DeltaError
├── AppendOnlyTargetError            rows of an append-only table would change
├── InvalidExpressionError           a condition or value that cannot be used
│   ├── UnresolvedColumnError          it names an unknown column
│   │   └── MissingColumnError           in a command that is no MERGE
│   ├── AmbiguousColumnError           it names a column that exists twice
│   ├── ForeignColumnError             it has a column of another DataFrame
│   ├── SubqueryNotSupportedError      it has a subquery
│   ├── NonDeterministicError          it may give another result each time
│   └── AggregateNotSupportedError     it is about many rows at once
├── AssignmentError                  a value that cannot be assigned to a column
│   ├── UnknownTargetColumnError       there is no such column
│   │   └── MissingTargetColumnError     in a command that is no MERGE
│   ├── ConflictingAssignmentsError    two values for one column
│   │   └── DuplicateInsertColumnError   in an INSERT of MERGE
│   ├── AssignmentTypeError            a value of another type
│   └── IdentityUpdateError            an identity column
├── GeneratedColumnViewError         through a view of a table with generated columns
├── RowIdsNotKeptError               rows have ids, but no column to store them
└── RowCountMismatchError            a wrong number of rows was written

Refused MERGE commands, and target rows that match several source rows.

DeltaError
├── MergeWithoutClauseError                   no WHEN at all
├── ClauseOrderError                          a clause that is never reached
│   ├── NonLastMatchedClauseError
│   ├── NonLastNotMatchedClauseError
│   └── NonLastNotMatchedBySourceClauseError
├── StreamingSourceError                      the source is a stream
├── NestedInsertError                         a value for a field of a struct in an INSERT
└── MultipleMatchesError                      several source rows match one target row
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError
from truckee.errors.commit import AppendOnlyTableError


def is_of_merge(what: str) -> bool:
    """Return whether an error is about MERGE or a clause of it, by how that is called in errors."""
    return "MERGE" in what or "WHEN " in what


@dataclass(eq=False, kw_only=True)
class AppendOnlyTargetError(AppendOnlyTableError):
    """A command would change rows of an append-only table."""

    path: str = ""

    def __str__(self) -> str:
        return (
            f"{self.operation} changes rows, but the table {self.table} is append-only\n"
            "hint: set the table property 'delta.appendOnly' to 'false' to allow it"
        )


@dataclass(eq=False, kw_only=True)
class InvalidExpressionError(DeltaError):
    """An expression cannot be used; `what` says which part of the command it is."""

    code: ClassVar[str] = "DELTA_INVALID_EXPRESSION"
    what: str
    expression: str
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.what} ({self.expression}) cannot be used: {self.reason}"


@dataclass(eq=False, kw_only=True)
class UnresolvedColumnError(InvalidExpressionError):
    """An expression names an unknown column."""

    code: ClassVar[str] = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) names {self.column}, which is not a column here\n"
            f"hint: use one of [{', '.join(self.columns)}]{self._also()}"
        )

    def _also(self) -> str:
        alias = self.column.rpartition("`.`")[0].strip("`")
        if alias:
            return f"; {alias} is no alias here" * all("." not in name for name in self.columns)
        takes_text = self.what.startswith(("the condition", "the value"))
        return "; put strings in single quotes" if takes_text else ""


@dataclass(eq=False, kw_only=True)
class MissingColumnError(UnresolvedColumnError):
    """The same in DELETE, UPDATE and INSERT, for which Delta has Spark's own error class."""

    code: ClassVar[str] = "UNRESOLVED_COLUMN.WITH_SUGGESTION"


@dataclass(eq=False, kw_only=True)
class AmbiguousColumnError(InvalidExpressionError):
    """An expression names a column that exists more than once."""

    code: ClassVar[str] = "AMBIGUOUS_REFERENCE"
    column: str
    candidates: str

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) names {self.column}, which can be any of "
            f"{self.candidates}\nhint: put the alias of the table before the name"
        )


@dataclass(eq=False, kw_only=True)
class ForeignColumnError(InvalidExpressionError):
    """An expression has a Column that belongs to another DataFrame."""

    code: ClassVar[str] = "MISSING_ATTRIBUTES"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) has {self.column} of a DataFrame that is not part of "
            "the command\n"
            f"hint: name one of [{', '.join(self.columns)}] by text or with functions.col, or take "
            "it from toDF() of this table"
        )


@dataclass(eq=False, kw_only=True)
class SubqueryNotSupportedError(InvalidExpressionError):
    """A condition has a subquery."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_SUBQUERY"

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) has a subquery, which is not supported\n"
            "hint: use merge with the subquery as its source"
        )


@dataclass(eq=False, kw_only=True)
class NonDeterministicError(InvalidExpressionError):
    """A condition is not deterministic, but is evaluated more than once."""

    code: ClassVar[str] = "DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED"

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) is not deterministic\n"
            "hint: write the values to a table first, and compare with those"
        )


@dataclass(eq=False, kw_only=True)
class AggregateNotSupportedError(InvalidExpressionError):
    """A condition on one row has an aggregate or window function."""

    code: ClassVar[str] = "DELTA_AGGREGATION_NOT_SUPPORTED"

    def __str__(self) -> str:
        return (
            f"{self.what} ({self.expression}) has an aggregate or window function, but it is about "
            "one row at a time\n"
            "hint: compute the value first, and compare with that"
        )


@dataclass(eq=False, kw_only=True)
class AssignmentError(DeltaError):
    """A value cannot be assigned to a column; `what` says which clause assigns it."""

    code: ClassVar[str] = "DELTA_INVALID_ASSIGNMENT"
    what: str
    column: str


@dataclass(eq=False, kw_only=True)
class UnknownTargetColumnError(AssignmentError):
    """An assignment to a column that the table does not have."""

    code: ClassVar[str] = "DELTA_MERGE_UNRESOLVED_EXPRESSION"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.what} assigns to {self.column}, which is not a column of the table\n"
            f"hint: use one of [{', '.join(self.columns)}]"
        )


@dataclass(eq=False, kw_only=True)
class MissingTargetColumnError(UnknownTargetColumnError):
    """The same in UPDATE, for which Delta has Spark's own error class."""

    code: ClassVar[str] = "UNRESOLVED_COLUMN.WITH_SUGGESTION"


@dataclass(eq=False, kw_only=True)
class ConflictingAssignmentsError(AssignmentError):
    """Two assignments to one column, or to a struct and one of its fields."""

    code: ClassVar[str] = "DELTA_CONFLICT_SET_COLUMN"
    other: str

    def __str__(self) -> str:
        return (
            f"{self.what} assigns to both {self.other} and {self.column}\n"
            "hint: assign to each column once; a struct is set as a whole or field by field"
        )


@dataclass(eq=False, kw_only=True)
class DuplicateInsertColumnError(ConflictingAssignmentsError):
    """The same in an INSERT of MERGE, for which Delta has another error class."""

    code: ClassVar[str] = "DELTA_DUPLICATE_COLUMNS_ON_INSERT"


@dataclass(eq=False, kw_only=True)
class AssignmentTypeError(AssignmentError):
    """The type of a value cannot be stored in its column."""

    code: ClassVar[str] = "DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"
    found: str
    expected: str

    def __str__(self) -> str:
        return (
            f"{self.what} assigns a value of type {self.found} to {self.column}, but the column is "
            f"{self.expected}\nhint: cast the value"
        )


@dataclass(eq=False, kw_only=True)
class IdentityUpdateError(AssignmentError):
    """An assignment to an identity column."""

    code: ClassVar[str] = "DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED"

    def __str__(self) -> str:
        return (
            f"{self.what} assigns to {self.column}, which is GENERATED AS IDENTITY\n"
            f"hint: leave {self.column} out"
        )


@dataclass(eq=False, kw_only=True)
class RowIdsNotKeptError(DeltaError):
    """Rows would move to another file, and the table has no columns to store their ids in."""

    code: ClassVar[str] = "DELTA_ROW_TRACKING_ILLEGAL_OPERATION"
    table: str
    operation: str

    def __str__(self) -> str:
        return (
            f"{self.operation} rewrites rows, but row tracking is on for the table {self.table} "
            "and it has no columns to store their ids in\n"
            "hint: switch row tracking off and on again, which gives the table such columns"
        )


@dataclass(eq=False, kw_only=True)
class RowCountMismatchError(DeltaError):
    """The number of written rows is not the expected one."""

    code: ClassVar[str] = "DELTA_NUM_RECORDS_MISMATCH"
    table: str
    operation: str
    expected: int
    written: int

    def __str__(self) -> str:
        return (
            f"{self.operation} of the table {self.table} wrote {self.written} rows, but "
            f"{self.expected} were expected; nothing was changed\n"
            "hint: make sure that the conditions give the same result each time they are evaluated"
        )


@dataclass(eq=False, kw_only=True)
class GeneratedColumnViewError(DeltaError):
    """Rows of a table with generated columns were to be changed through a view."""

    code: ClassVar[str] = "DELTA_OPERATION_ON_TEMP_VIEW_WITH_GENERATED_COLS_NOT_SUPPORTED"
    operation: str

    def __str__(self) -> str:
        return (
            f"{self.operation} through a view of a table that has generated columns is not "
            f"supported\nhint: name the table itself in {self.operation}"
        )


@dataclass(eq=False, kw_only=True)
class MergeWithoutClauseError(DeltaError):
    """A merge without any WHEN clause."""

    code: ClassVar[str] = "DELTA_MERGE_MISSING_WHEN"

    def __str__(self) -> str:
        return (
            "the merge has no WHEN clause\n"
            "hint: add a clause, for example whenMatchedUpdateAll() or "
            "whenNotMatchedInsertAll()"
        )


@dataclass(eq=False, kw_only=True)
class ClauseOrderError(DeltaError):
    """A clause without a condition makes later clauses of its kind unreachable."""

    code: ClassVar[str] = "DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION"
    clause: str

    def __str__(self) -> str:
        return (
            f"{self.clause} has no condition, so the clauses of its kind that follow are never "
            "reached\nhint: give it a condition, or make it the last one"
        )


@dataclass(eq=False, kw_only=True)
class NonLastMatchedClauseError(ClauseOrderError):
    """A WHEN MATCHED clause without a condition that is not the last one."""


@dataclass(eq=False, kw_only=True)
class NonLastNotMatchedClauseError(ClauseOrderError):
    """A WHEN NOT MATCHED clause without a condition that is not the last one."""

    code: ClassVar[str] = "DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION"


@dataclass(eq=False, kw_only=True)
class NonLastNotMatchedBySourceClauseError(ClauseOrderError):
    """A WHEN NOT MATCHED BY SOURCE clause without a condition that is not the last one."""

    code: ClassVar[str] = "DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"


@dataclass(eq=False, kw_only=True)
class StreamingSourceError(DeltaError):
    """The source of a merge is a stream."""

    code: ClassVar[str] = "DELTA_MERGE_STREAMING_SOURCE"

    def __str__(self) -> str:
        return (
            "the source of the merge is a streaming DataFrame\n"
            "hint: merge each batch of it with writeStream.foreachBatch"
        )


@dataclass(eq=False, kw_only=True)
class NestedInsertError(AssignmentError):
    """An INSERT assigns to a field of a struct."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION"

    def __str__(self) -> str:
        return (
            f"{self.what} assigns to {self.column}, which is a field of a struct\n"
            "hint: assign to the whole column, with struct or named_struct"
        )


@dataclass(eq=False, kw_only=True)
class MultipleMatchesError(DeltaError):
    """One row of the target matches several rows of the source.

    `row` shows the target row's values in the columns that the condition reads.
    """

    code: ClassVar[str] = "DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE"
    table: str
    condition: str
    row: str
    matches: int

    def __str__(self) -> str:
        return (
            "Cannot perform Merge as multiple source rows matched: "
            f"{self.matches} rows of the source match the row ({self.row}) of the table "
            f"{self.table} by {self.condition}; nothing was changed\n"
            "hint: keep only one source row per key, regardless of the clause conditions"
        )
