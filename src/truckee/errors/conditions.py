"""Errors of conditions that are evaluated without Spark.

DeltaError
  ConditionError               the base of these
    ConditionSyntaxError       text that is not a condition
    UnsupportedConditionError  SQL that only Spark can evaluate
    ConditionColumnError       an unknown column
    ConditionTypeError         two values that SQL cannot compare
    ConditionValueError        text that is not a value of the column's type
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class ConditionError(DeltaError):
    """A condition is not valid."""

    condition: str


@dataclass(eq=False, kw_only=True)
class ConditionSyntaxError(ConditionError):
    """The text of a condition cannot be parsed."""

    code: ClassVar[str] = "PARSE_SYNTAX_ERROR"
    near: str
    expected: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} cannot be parsed: expected {self.expected} "
            f"{self.near}\n"
            "hint: write it as in SQL, such as \"id > 5 AND name LIKE 'a%'\""
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedConditionError(ConditionError):
    """The condition uses more than comparisons, AND, OR, NOT, IN, BETWEEN, LIKE and IS NULL."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_EXPRESSION"
    what: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} has {self.what}, which only Spark understands\n"
            "hint: compare columns with values, or read the table through Spark "
            "(on the command line: --engine spark)"
        )


@dataclass(eq=False, kw_only=True)
class ConditionColumnError(ConditionError):
    """A condition names an unknown column."""

    code: ClassVar[str] = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} names {self.column}, which is not a column here\n"
            f"hint: use one of [{', '.join(self.columns)}]; put strings in single quotes"
        )


@dataclass(eq=False, kw_only=True)
class ConditionTypeError(ConditionError):
    """A condition compares values of types that SQL cannot compare."""

    code: ClassVar[str] = "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"
    left: str
    right: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} compares {self.left} with {self.right}\n"
            "hint: compare values of the same type"
        )


@dataclass(eq=False, kw_only=True)
class ConditionValueError(ConditionError):
    """A condition has a string that is not a value of the type it is compared with."""

    code: ClassVar[str] = "CAST_INVALID_INPUT"
    value: str
    type: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} compares {self.value!r} as {self.type}, "
            "which it is not\n"
            f"hint: write a value of type {self.type}"
        )
