"""Errors of conditions that are evaluated without Spark."""

from __future__ import annotations

from truckee.errors.base import DeltaError

_LONGEST = 500


def shortened(text: str) -> str:
    """Return a text in quotes, without its middle if it is long."""
    if len(text) > _LONGEST:
        text = f"{text[: _LONGEST // 2]} ... {text[-_LONGEST // 2 :]}"
    return repr(text)


class ConditionError(DeltaError):
    """A condition is not valid."""

    condition: str

    @property
    def shown(self) -> str:
        """The condition in quotes, shortened if a program wrote it."""
        return shortened(self.condition)


class ConditionSyntaxError(ConditionError, code="PARSE_SYNTAX_ERROR", state="42601"):
    """The text of a condition cannot be parsed."""

    near: str
    expected: str
    text = "the condition {shown} cannot be parsed: expected {expected} {near}"
    hint = "write it as in SQL, such as \"id > 5 AND name LIKE 'a%'\""


class ConditionTooDeepError(ConditionError, code="FAILED_TO_PARSE_TOO_COMPLEX", state="54001"):
    """The condition has more brackets inside each other than are supported."""

    limit: int
    text = "the condition {shown} has more than {limit} brackets inside each other"
    hint = "leave out brackets between conditions of the same kind, as in a OR b OR c, or use IN"


class UnsupportedConditionError(ConditionError, code="DELTA_UNSUPPORTED_EXPRESSION", state="0A000"):
    """The condition uses more than comparisons, AND, OR, NOT, IN, BETWEEN, LIKE and IS NULL."""

    what: str
    text = "the condition {shown} has {what}, which only Spark understands"
    hint = (
        "compare columns with values, or read the table through Spark (on the command line: "
        "--engine spark)"
    )


class ConditionColumnError(
    ConditionError,
    code="UNRESOLVED_COLUMN.WITH_SUGGESTION",
    state="42703",
    spark="AnalysisException",
):
    """A condition names an unknown column."""

    column: str
    columns: tuple[str, ...]
    text = "the condition {shown} names {column}, which is not a column here"
    hint = "use one of [{columns}]; put strings in single quotes"


class ConditionTypeError(
    ConditionError,
    code="DATATYPE_MISMATCH.BINARY_OP_DIFF_TYPES",
    state="42K09",
    spark="AnalysisException",
):
    """A condition compares values of types that SQL cannot compare."""

    left: str
    right: str
    text = "the condition {shown} compares {left} with {right}"
    hint = "compare values of the same type"


class ConditionValueError(ConditionError, code="CAST_INVALID_INPUT", state="22018"):
    """A condition has a string that is not a value of the type it is compared with."""

    value: str
    type: str

    @property
    def value_shown(self) -> str:
        """The value in quotes, shortened if it is long."""
        return shortened(self.value)

    text = "the condition {shown} compares {value_shown} as {type}, which it is not"
    hint = "write a value of type {type}"
