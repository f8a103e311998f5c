"""Errors of conditions that are evaluated without Spark.

DeltaError
  ConditionError               the base of these
    ConditionSyntaxError       text that is not a condition
    ConditionTooDeepError      brackets inside each other, more than are supported
    UnsupportedConditionError  SQL that only Spark can evaluate
    ConditionColumnError       an unknown column
    ConditionTypeError         two values that SQL cannot compare
    ConditionValueError        text that is not a value of the column's type
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError

_LONGEST = 500


def shortened(text: str) -> str:
    """Return a text in quotes, without its middle if it is long."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return repr(text)


@dataclass(eq=False, kw_only=True)
class ConditionError(DeltaError):
    """A condition is not valid."""

    condition: str

    @property
    def shown(self) -> str:
        """The condition in quotes, shortened if a program wrote it."""
        return shortened(self.condition)


@dataclass(eq=False, kw_only=True)
class ConditionSyntaxError(ConditionError):
    """The text of a condition cannot be parsed."""

    code: ClassVar[str] = "PARSE_SYNTAX_ERROR"
    near: str
    expected: str

    def __str__(self) -> str:
        return (
            f"the condition {self.shown} cannot be parsed: expected {self.expected} "
            f"{self.near}\n"
            "hint: write it as in SQL, such as \"id > 5 AND name LIKE 'a%'\""
        )


@dataclass(eq=False, kw_only=True)
class ConditionTooDeepError(ConditionError):
    """The condition has more brackets inside each other than are supported."""

    code: ClassVar[str] = "FAILED_TO_PARSE_TOO_COMPLEX"
    limit: int

    def __str__(self) -> str:
        return (
            f"the condition {self.shown} has more than {self.limit} brackets inside each other\n"
            "hint: leave out brackets between conditions of the same kind, as in a OR b OR c, "
            "or use IN"
        )


@dataclass(eq=False, kw_only=True)
class UnsupportedConditionError(ConditionError):
    """The condition uses more than comparisons, AND, OR, NOT, IN, BETWEEN, LIKE and IS NULL."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_EXPRESSION"
    what: str

    def __str__(self) -> str:
        return (
            f"the condition {self.shown} has {self.what}, which only Spark understands\n"
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
            f"the condition {self.shown} names {self.column}, which is not a column here\n"
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
            f"the condition {self.shown} compares {self.left} with {self.right}\n"
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
            f"the condition {self.shown} compares {shortened(self.value)} as {self.type}, "
            "which it is not\n"
            f"hint: write a value of type {self.type}"
        )
