"""Refused DELETE, UPDATE and MERGE; nothing was written.

Refused MERGE commands, and target rows that match several source rows.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError
from truckee.errors.commit import AppendOnlyTableError


def is_of_merge(what: str) -> bool:
    """Return whether an error is about MERGE or a clause of it, by how that is called in errors."""
    return "MERGE" in what or "WHEN " in what


class AppendOnlyTargetError(AppendOnlyTableError):
    """A command would change rows of an append-only table."""

    path: str = ""
    text = "This table is configured to only allow appends, not {operation}: {table}"
    hint = "set the table property 'delta.appendOnly' to 'false' to allow it"


class InvalidExpressionError(
    DeltaError, code="DELTA_INVALID_EXPRESSION", state="42000", spark="AnalysisException"
):
    """An expression cannot be used; `what` says which part of the command it is."""

    what: str
    expression: str
    reason: str = ""
    text = "{what} ({expression}) cannot be used: {reason}"


class UnresolvedColumnError(
    InvalidExpressionError, code="DELTA_MERGE_UNRESOLVED_EXPRESSION", state="42601"
):
    """An expression names an unknown column."""

    column: str
    columns: tuple[str, ...]
    text = "{what} ({expression}) names {column}, which is not a column here"
    hint = "use one of [{columns}]{_also}"

    def _also(self) -> str:
        alias = self.column.rpartition("`.`")[0].strip("`")
        if alias:
            return f"; {alias} is no alias here" * all("." not in name for name in self.columns)
        takes_text = self.what.startswith(("the condition", "the value"))
        return "; put strings in single quotes" if takes_text else ""


class MissingColumnError(
    UnresolvedColumnError, code="UNRESOLVED_COLUMN.WITH_SUGGESTION", state="42703"
):
    """The same in DELETE, UPDATE and INSERT, for which Delta has Spark's own error class."""


class AmbiguousColumnError(InvalidExpressionError, code="AMBIGUOUS_REFERENCE", state="42704"):
    """An expression names a column that exists more than once."""

    column: str
    candidates: str
    text = "{what} ({expression}) names {column}, which can be any of {candidates}\nhint: {advice}"

    def advice(self) -> str:
        """Return how to say which of them is meant."""
        if is_of_merge(self.what) and "." not in self.candidates:
            return f'give both sides an alias(), and write "t.{self.column} = s.{self.column}"'
        return "put the alias of the table before the name"


class ForeignColumnError(InvalidExpressionError, code="MISSING_ATTRIBUTES", state="XX000"):
    """An expression has a Column that belongs to another DataFrame."""

    column: str
    columns: tuple[str, ...]
    text = "{what} ({expression}) has {column} of a DataFrame that is not part of the command"
    hint = (
        "name one of [{columns}] by text or with functions.col, or take it from toDF() of this "
        "table"
    )


class SubqueryNotSupportedError(
    InvalidExpressionError, code="DELTA_UNSUPPORTED_SUBQUERY", state="0AKDC"
):
    """A condition has a subquery."""

    text = "Subqueries are not supported in the {place} (condition = {expression})"
    hint = "use merge with the subquery as its source"

    def place(self) -> str:
        """Return the statement or the clause, without the word condition."""
        return self.what.removeprefix("the condition of ")


class NonDeterministicError(
    InvalidExpressionError, code="DELTA_NON_DETERMINISTIC_FUNCTION_NOT_SUPPORTED", state="0AKDC"
):
    """A condition is not deterministic, but is evaluated more than once."""

    text = "{what} ({expression}) is not deterministic"
    hint = "write the values to a table first, and compare with those"


class AggregateNotSupportedError(
    InvalidExpressionError, code="DELTA_AGGREGATION_NOT_SUPPORTED", state="42903"
):
    """A condition on one row has an aggregate or window function."""

    text = (
        "{what} ({expression}) has an aggregate or window function, but it is about one row at a "
        "time"
    )
    hint = "compute the value first, and compare with that"


class AssignmentError(
    DeltaError, code="DELTA_INVALID_ASSIGNMENT", state="42846", spark="AnalysisException"
):
    """A value cannot be assigned to a column; `what` says which clause assigns it."""

    what: str
    column: str


class UnknownTargetColumnError(
    AssignmentError, code="DELTA_MERGE_UNRESOLVED_EXPRESSION", state="42601"
):
    """An assignment to a column that the table does not have."""

    columns: tuple[str, ...]
    text = "Cannot resolve {column} in {clause} clause given columns {columns}"
    hint = "{what} assigns to it; use one of these columns"

    def clause(self) -> str:
        """Return the kind of the clause."""
        return "INSERT" if "INSERT" in self.what else "UPDATE"


class MissingTargetColumnError(
    UnknownTargetColumnError, code="UNRESOLVED_COLUMN.WITH_SUGGESTION", state="42703"
):
    """The same in UPDATE, for which Delta has Spark's own error class."""


class ConflictingAssignmentsError(AssignmentError, code="DELTA_CONFLICT_SET_COLUMN", state="42701"):
    """Two assignments to one column, or to a struct and one of its fields."""

    other: str
    text = "{what} assigns to both {other} and {column}"
    hint = "assign to each column once; a struct is set as a whole or field by field"


class DuplicateInsertColumnError(
    ConflictingAssignmentsError, code="DELTA_DUPLICATE_COLUMNS_ON_INSERT"
):
    """The same in an INSERT of MERGE, for which Delta has another error class."""


class AssignmentTypeError(AssignmentError, code="DELTA_UPDATE_SCHEMA_MISMATCH_EXPRESSION"):
    """The type of a value cannot be stored in its column."""

    found: str
    expected: str
    text = "{what} assigns a value of type {found} to {column}, but the column is {expected}"
    hint = "cast the value"


class IdentityUpdateError(
    AssignmentError, code="DELTA_IDENTITY_COLUMNS_UPDATE_NOT_SUPPORTED", state="42808"
):
    """An assignment to an identity column."""

    text = "{what} assigns to {column}, which is GENERATED AS IDENTITY"
    hint = "leave {column} out"


class RowIdsNotKeptError(
    DeltaError,
    code="DELTA_ROW_TRACKING_ILLEGAL_OPERATION",
    state="0A000",
    spark="UnsupportedOperationException",
):
    """Rows would move to another file, and the table has no columns to store their ids in."""

    table: str
    operation: str
    text = (
        "{operation} rewrites rows, but row tracking is on for the table {table} and it has no "
        "columns to store their ids in"
    )
    hint = "switch row tracking off and on again, which gives the table such columns"


class RowCountMismatchError(DeltaError, code="DELTA_NUM_RECORDS_MISMATCH", state="XXKDS"):
    """The number of written rows is not the expected one."""

    table: str
    operation: str
    expected: int
    written: int
    text = (
        "{operation} of the table {table} wrote {written} rows, but {expected} were expected; "
        "nothing was changed"
    )
    hint = "make sure that the conditions give the same result each time they are evaluated"


class GeneratedColumnViewError(
    DeltaError, code="DELTA_OPERATION_ON_TEMP_VIEW_WITH_GENERATED_COLS_NOT_SUPPORTED", state="0A000"
):
    """Rows of a table with generated columns were to be changed through a view."""

    operation: str
    text = "{operation} through a view of a table that has generated columns is not supported"
    hint = "name the table itself in {operation}"


class MergeWithoutClauseError(
    DeltaError, code="DELTA_MERGE_MISSING_WHEN", state="42601", spark="AnalysisException"
):
    """A merge without any WHEN clause."""

    text = "There must be at least one WHEN clause in a MERGE statement"
    hint = "add a clause, for example whenMatchedUpdateAll() or whenNotMatchedInsertAll()"


class ClauseOrderError(
    DeltaError,
    code="DELTA_NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION",
    state="42601",
    spark="AnalysisException",
):
    """A clause without a condition makes later clauses of its kind unreachable."""

    clause: str
    text = "{clause} has no condition, so the clauses of its kind that follow are never reached"
    hint = "give it a condition, or make it the last one"


class NonLastMatchedClauseError(ClauseOrderError):
    """A WHEN MATCHED clause without a condition that is not the last one."""


class NonLastNotMatchedClauseError(
    ClauseOrderError, code="DELTA_NON_LAST_NOT_MATCHED_CLAUSE_OMIT_CONDITION"
):
    """A WHEN NOT MATCHED clause without a condition that is not the last one."""


class NonLastNotMatchedBySourceClauseError(
    ClauseOrderError, code="DELTA_NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION"
):
    """A WHEN NOT MATCHED BY SOURCE clause without a condition that is not the last one."""


class StreamingSourceError(
    DeltaError, code="DELTA_MERGE_STREAMING_SOURCE", state="0A000", spark="AnalysisException"
):
    """The source of a merge is a stream."""

    text = "the source of the merge is a streaming DataFrame"
    hint = "merge each batch of it with writeStream.foreachBatch"


class NestedInsertError(
    AssignmentError, code="DELTA_UNSUPPORTED_NESTED_FIELD_IN_OPERATION", state="0AKDC"
):
    """An INSERT assigns to a field of a struct."""

    text = "{what} assigns to {column}, which is a field of a struct"
    hint = "assign to the whole column, with struct or named_struct"


class MultipleMatchesError(
    DeltaError,
    code="DELTA_MULTIPLE_SOURCE_ROW_MATCHING_TARGET_ROW_IN_MERGE",
    state="21506",
    spark="UnsupportedOperationException",
):
    """One row of the target matches several rows of the source.

    `row` shows the target row's values in the columns that the condition reads.
    """

    table: str
    condition: str
    row: str
    matches: int
    text = (
        "Cannot perform Merge as multiple source rows matched: {matches} rows of the source match "
        "the row ({row}) of the table {table} by {condition}; nothing was changed"
    )
    hint = "keep only one source row per key, regardless of the clause conditions"
