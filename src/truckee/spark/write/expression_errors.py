"""Spark's errors about an expression as errors of ours."""

from __future__ import annotations

from pyspark.errors import AnalysisException, ParseException

from truckee.errors.commands.dml import (
    AggregateNotSupportedError,
    AmbiguousColumnError,
    ForeignColumnError,
    InvalidExpressionError,
    MissingColumnError,
    UnresolvedColumnError,
    is_of_merge,
)
from truckee.errors.commands.expressions import (
    AggregateRefusedError,
    MissingFieldError,
    RefusedBySparkError,
    UnparsedExpressionError,
)

_AGGREGATES = (
    "INVALID_WHERE_CONDITION",
    "MISSING_AGGREGATION",
    "UNSUPPORTED_EXPR_FOR_OPERATOR",
    "WINDOW_FUNCTION_NOT_ALLOWED_IN_CLAUSE",
)


def expression_error(
    error: AnalysisException, *, what: str, expression: str, columns: tuple[str, ...]
) -> InvalidExpressionError:
    """Return Spark's error about an expression as an error of ours."""
    condition = error.getCondition() or ""
    words = error.getMessageParameters() or {}
    missing: type[UnresolvedColumnError] = MissingColumnError
    if condition == "FIELD_NOT_FOUND":
        columns = tuple(name.strip("` ") for name in words.get("fields", "").split(","))
        missing = MissingFieldError
    if condition.startswith(("UNRESOLVED_COLUMN", "UNRESOLVED_FIELD", "FIELD_NOT_FOUND")):
        name = words.get("objectName") or words.get("fieldName") or ""
        columns = _with_aliases(words.get("proposal", ""), columns) or columns
        kind = UnresolvedColumnError if is_of_merge(what) else missing
        return kind(what=what, expression=expression, column=name, columns=columns)
    if condition.startswith("AMBIGUOUS_REFERENCE"):
        return AmbiguousColumnError(
            what=what,
            expression=expression,
            column=words.get("name", ""),
            candidates=words.get("referenceNames", ""),
        )
    if condition.startswith("MISSING_ATTRIBUTES"):
        name = words.get("missingAttributes", "")
        return ForeignColumnError(what=what, expression=expression, column=name, columns=columns)
    state = error.getSqlState()
    if condition == "DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN" and what == "the condition of MERGE":
        condition, state = "JOIN_CONDITION_IS_NOT_BOOLEAN_TYPE", "42K0E"
    is_aggregate = condition.startswith(_AGGREGATES)
    if is_aggregate:  # where delta-spark finds it, it is in no WHERE
        condition, state = "UNSUPPORTED_EXPR_FOR_OPERATOR", "42K0E"
    if is_aggregate and is_of_merge(what):
        return AggregateNotSupportedError(what=what, expression=expression)
    reason = str(error).strip().splitlines()[0].partition(" SQLSTATE:")[0]
    reason = reason.removeprefix(f"[{error.getCondition()}] ")  # it is the class of ours
    if not condition:
        return InvalidExpressionError(what=what, expression=expression, reason=reason)
    refused = AggregateRefusedError if is_aggregate else RefusedBySparkError
    return (UnparsedExpressionError if isinstance(error, ParseException) else refused)(
        what=what,
        expression=expression,
        reason=reason,
        spark_class=condition,
        state=state,
    )


def _with_aliases(proposal: str, columns: tuple[str, ...]) -> tuple[str, ...]:
    """Return the columns that Spark proposes, if they have aliases; `columns` are those to show.

    The proposal for `x.id` may be "`t`.`id`, `s`.`id`".
    """
    named = [name.strip("`").split("`.`") for name in proposal.split(", ")]
    return tuple(".".join(parts[-2:]) for parts in named if len(parts) > 1 and parts[-1] in columns)
