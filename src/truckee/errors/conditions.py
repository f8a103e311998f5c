"""Errors of conditions that are read without Spark: SQL text that is not understood, or wrong.

DeltaError
  ConditionError               anything that is wrong with a condition
    ConditionSyntaxError       text that is no condition
    UnsupportedConditionError  SQL that Spark may know, but that is not known here
    ConditionColumnError       a column that is not there
    ConditionTypeError         two values that SQL does not compare
    ConditionValueError        a text that is no value of the type it is compared as
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class ConditionError(DeltaError):
    """Something is wrong with a condition."""

    condition: str


@dataclass(eq=False, kw_only=True)
class ConditionSyntaxError(ConditionError):
    """Text that cannot be read as a condition."""

    code: ClassVar[str] = "PARSE_SYNTAX_ERROR"
    near: str
    expected: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} cannot be read: {self.expected} is expected "
            f"{self.near}\n"
            "hint: write it as in SQL, such as \"id > 5 AND name LIKE 'a%'\""
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedConditionError(ConditionError):
    """SQL that is more than comparisons, AND, OR, NOT, IN, BETWEEN, LIKE and IS NULL."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_EXPRESSION"
    what: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} has {self.what}, which only Spark understands\n"
            "hint: compare columns with values, or read the table through Spark"
        )


@dataclass(eq=False, kw_only=True)
class ConditionColumnError(ConditionError):
    """A condition names a column that is not there."""

    code: ClassVar[str] = "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} names {self.column}, which is not a column here\n"
            f"hint: use one of [{', '.join(self.columns)}]; texts stand in single quotes"
        )


@dataclass(eq=False, kw_only=True)
class ConditionTypeError(ConditionError):
    """A condition compares values of types that SQL does not compare."""

    code: ClassVar[str] = "DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES"
    left: str
    right: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} compares {self.left} with {self.right}\n"
            "hint: compare values of one type"
        )


@dataclass(eq=False, kw_only=True)
class ConditionValueError(ConditionError):
    """A condition has a text that is no value of the type that it is compared as."""

    code: ClassVar[str] = "CAST_INVALID_INPUT"
    value: str
    type: str

    def __str__(self) -> str:
        return (
            f"the condition {self.condition!r} compares {self.value!r} as {self.type}, "
            "which it is not\n"
            f"hint: write a value of type {self.type}"
        )
