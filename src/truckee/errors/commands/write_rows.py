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

Writes that replace the rows which match those of the data, and are refused.

DeltaError
├── ReplaceOptionsError          replaceOn or replaceUsing with an option that says otherwise
├── ReplaceWithFilterError       with replaceWhere, or an overwrite by a condition
├── ReplaceWithDynamicError      with dynamic partition overwrite
├── ReplaceWhileCreatingError    with a write that creates or replaces the table
├── ReplaceOnAmbiguousError      replaceOn with a name that both sides have
├── ReplaceOnUnresolvedError     replaceOn with a name that neither side has
├── ReplaceUsingColumnError      replaceUsing with a column that one side lacks
└── ReplaceUsingPositionError    replaceUsing with a column at another place, where places count
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
            f"NOT NULL constraint violated for column: {self.column}, for which the row "
            f"({self.row}) has no value\n"
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
            f"CHECK constraint {self.name} ({self.expression}) violated by row with values: "
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


@dataclass(eq=False, kw_only=True)
class ReplaceOptionsError(DeltaError):
    """Two options of a write that do not go together."""

    code: ClassVar[str] = "DELTA_INCOMPATIBLE_DATAFRAME_OPTIONS"
    first: str
    second: str

    def __str__(self) -> str:
        return f"options {self.first} and {self.second} exclude each other\nhint: leave one out"


@dataclass(eq=False, kw_only=True)
class ReplaceWithFilterError(DeltaError):
    """Two ways of saying which rows to replace."""

    code: ClassVar[str] = "DELTA_OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set beside a condition on the rows of the table\n"
            f"hint: {self.option} takes the rows from the data, a condition names them; choose one"
        )


@dataclass(eq=False, kw_only=True)
class ReplaceWithDynamicError(DeltaError):
    """Two ways of taking from the data which rows to replace."""

    code: ClassVar[str] = "DELTA_DYNAMIC_PARTITION_OVERWRITE_INCOMPATIBLE_REPLACE_ON_OR_USING"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set beside partitionOverwriteMode\n"
            f"hint: {self.option} replaces rows, the other replaces partitions; choose one"
        )


@dataclass(eq=False, kw_only=True)
class ReplaceWhileCreatingError(DeltaError):
    """Rows were to be replaced in a table that is made anew."""

    code: ClassVar[str] = "DELTA_DFV2_CREATE_REPLACE_INCOMPATIBLE_REPLACE_ON_OR_USING"
    option: str

    def __str__(self) -> str:
        return (
            f"option {self.option} is set for a table that is created or replaced as a whole\n"
            'hint: use df.write.mode("overwrite") for a table that is there'
        )


@dataclass(eq=False, kw_only=True)
class ReplaceOnAmbiguousError(DeltaError):
    """A name in replaceOn that may be a column of the table or of the data."""

    code: ClassVar[str] = "DELTA_INSERT_REPLACE_ON_AMBIGUOUS_COLUMNS_IN_CONDITION"
    column: str
    condition: str

    def __str__(self) -> str:
        return (
            f"{self.column} in replaceOn, {self.condition}, may be of the table or of the data\n"
            'hint: set targetAlias for the table, and use df.alias("s") for the data'
        )


@dataclass(eq=False, kw_only=True)
class ReplaceOnUnresolvedError(DeltaError):
    """A name in replaceOn that is a column of neither."""

    code: ClassVar[str] = "DELTA_INSERT_REPLACE_ON_UNRESOLVED_COLUMNS_IN_CONDITION"
    column: str
    condition: str

    def __str__(self) -> str:
        return (
            f"{self.column} in replaceOn, {self.condition}, is a column of neither the table nor "
            "the data\nhint: set targetAlias if the condition calls the table by an alias"
        )


@dataclass(eq=False, kw_only=True)
class ReplaceUsingColumnError(DeltaError):
    """A column of replaceUsing that the table or the data lacks."""

    code: ClassVar[str] = "UNRESOLVED_INSERT_REPLACE_USING_COLUMN"
    column: str
    side: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"{self.column} in replaceUsing is not a column of the {self.side}\n"
            f"hint: it has [{', '.join(self.columns)}]"
        )


@dataclass(eq=False, kw_only=True)
class ReplaceUsingPositionError(DeltaError):
    """A column of replaceUsing that is at another place in the data, which goes by places."""

    code: ClassVar[str] = "INSERT_REPLACE_USING_DISALLOW_MISALIGNED_COLUMNS"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"[{', '.join(self.columns)}] in replaceUsing are at other places in the data than in "
            "the table\nhint: select the columns of the data in the order of the table"
        )
