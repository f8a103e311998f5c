"""Writes that replace the rows which match those of the data, and are refused.

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
