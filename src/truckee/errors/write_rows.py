"""Rows that violate a rule of the table: each error names the rule and shows one such row.

    DeltaError
    └── RowViolationError
        ├── NotNullViolationError          null in a column that is NOT NULL
        ├── InvariantViolationError        a column's invariant is not true
        ├── CheckConstraintViolationError  a CHECK constraint is not true
        ├── GeneratedColumnViolationError  a given value is not what the column's expression gives
        ├── ReplaceWhereViolationError     a row outside the replaceWhere condition
        └── TextTooLongError               text longer than char(n) or varchar(n)

Nothing of the write is in the table when one of these is raised.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class RowViolationError(DeltaError):
    """A row violates a rule of the table; `row` shows its values."""

    code: ClassVar[str] = "DELTA_VIOLATE_CONSTRAINT_WITH_VALUES"
    row: str


@dataclass(eq=False, kw_only=True)
class NotNullViolationError(RowViolationError):
    """Null in a NOT NULL column, or in a NOT NULL field of one."""

    code: ClassVar[str] = "DELTA_NOT_NULL_CONSTRAINT_VIOLATED"
    column: str

    def __str__(self) -> str:
        return (
            f"column {self.column} is NOT NULL, but the row ({self.row}) has no value for it\n"
            "hint: leave such rows out, give them a value, or drop the column's NOT NULL"
        )


@dataclass(eq=False, kw_only=True)
class InvariantViolationError(RowViolationError):
    """The invariant of a column is not true of a row."""

    column: str
    expression: str

    def __str__(self) -> str:
        return (
            f"the invariant ({self.expression}) of column {self.column} does not hold for the row "
            f"({self.row})\nhint: leave such rows out; null does not satisfy an invariant either"
        )


@dataclass(eq=False, kw_only=True)
class CheckConstraintViolationError(RowViolationError):
    """A CHECK constraint is not true of a row."""

    name: str
    expression: str

    def __str__(self) -> str:
        return (
            f"CHECK constraint {self.name} ({self.expression}) does not hold for the row "
            f"({self.row})\n"
            "hint: leave such rows out, or drop the constraint; null does not satisfy it either"
        )


@dataclass(eq=False, kw_only=True)
class GeneratedColumnViolationError(RowViolationError):
    """The given value of a generated column differs from the generated one."""

    column: str
    expression: str

    def __str__(self) -> str:
        return (
            f"column {self.column} is generated as ({self.expression}), but the row ({self.row}) "
            "gives it another value\n"
            f"hint: leave column {self.column} out of the data, so that it is computed"
        )


@dataclass(eq=False, kw_only=True)
class ReplaceWhereViolationError(RowViolationError):
    """A row does not satisfy the replaceWhere condition."""

    code: ClassVar[str] = "DELTA_REPLACE_WHERE_MISMATCH"
    condition: str

    def __str__(self) -> str:
        return (
            f"replaceWhere ({self.condition}) does not hold for the row ({self.row})\n"
            "hint: filter the data with the same condition, or widen the condition"
        )


@dataclass(eq=False, kw_only=True)
class TextTooLongError(RowViolationError):
    """Text that does not fit into a column of type char(n) or varchar(n)."""

    code: ClassVar[str] = "DELTA_EXCEED_CHAR_VARCHAR_LIMIT"
    column: str
    type: str

    def __str__(self) -> str:
        return (
            f"column {self.column} is {self.type}, but the row ({self.row}) has a longer text\n"
            "hint: shorten the text; only spaces at its end are cut off"
        )
