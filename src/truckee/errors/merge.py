"""Refused MERGE commands, and target rows that match several source rows.

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
from truckee.errors.dml import AssignmentError


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

    code: ClassVar[str] = "DELTA_NESTED_FIELD_IN_INSERT"

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
            f"{self.matches} rows of the source match the row ({self.row}) of the table "
            f"{self.table} by {self.condition}; nothing was changed\n"
            "hint: keep only one source row per key, regardless of the clause conditions"
        )
