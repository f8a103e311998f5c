"""Conditions and values as Spark resolves them, looked at before they are used.

What is checked here is said as an error of ours before any row is read: names that are not there,
subqueries, aggregates, functions that never say the same thing twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from truckee.errors.dml import (
    AggregateNotSupportedError,
    AmbiguousColumnError,
    ArgumentTypeError,
    InvalidExpressionError,
    NonDeterministicError,
    SubqueryNotSupportedError,
    UnresolvedColumnError,
)
from truckee.spark.jvm import gateway, index_maker, to_column

_AGGREGATES = ("INVALID_WHERE_CONDITION", "UNSUPPORTED_EXPR_FOR_OPERATOR", "MISSING_AGGREGATION")


@dataclass(frozen=True)
class Expression:
    """A condition, resolved: `column` can be used on the frame that it was resolved for.

    `columns` are the names of the columns that it reads; `constant` is its value, if it has one
    that is the same for every row, else `VARIES`.
    """

    column: Column
    sql: str
    columns: frozenset[str]
    constant: object


VARIES = object()


def resolved_condition(
    rows: DataFrame, given: str | Column, *, what: str, hidden: Iterable[str] = ()
) -> Expression:
    """Return a condition on rows, or raise what is wrong with it.

    `what` names it in errors, as in `the condition of DELETE`, where the columns in `hidden` are
    not offered.
    """
    if not isinstance(given, str | Column):
        raise ArgumentTypeError(what=what, found=type(given).__name__, expected="text or a Column")
    shown = given if isinstance(given, str) else column_text(given)
    try:
        plan = rows.where(given)._jdf.queryExecution().analyzed()
    except AnalysisException as error:
        names = tuple(name for name in rows.columns if name not in set(hidden))
        raise explained(error, what=what, expression=shown, columns=names) from None
    spark = rows.sparkSession
    found = _settled(rows, plan).condition()
    jvm = gateway(spark).jvm
    if jvm.org.apache.spark.sql.catalyst.expressions.SubqueryExpression.hasSubquery(found):
        raise SubqueryNotSupportedError(what=what, expression=shown)
    if not found.deterministic():
        raise NonDeterministicError(what=what, expression=shown)
    return Expression(
        column=to_column(spark, found),
        sql=str(found.sql()),
        columns=_names(found.references()),
        constant=found.eval(None) if found.foldable() else VARIES,
    )


def explained(
    error: AnalysisException, *, what: str, expression: str, columns: tuple[str, ...]
) -> InvalidExpressionError:
    """Return what Spark has against an expression as an error of ours."""
    condition = error.getCondition() or ""
    words = error.getMessageParameters() or {}
    if condition.startswith(("UNRESOLVED_COLUMN", "UNRESOLVED_FIELD")):
        name = words.get("objectName") or words.get("fieldName") or ""
        return UnresolvedColumnError(what=what, expression=expression, column=name, columns=columns)
    if condition.startswith("AMBIGUOUS_REFERENCE"):
        return AmbiguousColumnError(
            what=what,
            expression=expression,
            column=words.get("name", ""),
            candidates=words.get("referenceNames", ""),
        )
    if condition.startswith(_AGGREGATES):
        return AggregateNotSupportedError(what=what, expression=expression)
    return InvalidExpressionError(what=what, expression=expression, reason=_reason(error))


def _reason(error: AnalysisException) -> str:
    first_line = str(error).strip().splitlines()[0]
    return first_line.partition(" SQLSTATE:")[0]


def column_text(column: Column) -> str:
    """Return a Column as people read it."""
    return str(column).removeprefix("Column<'").removesuffix("'>")


def pushed_filters(rows: DataFrame) -> list[str]:
    """Return, as JSON, the filters that Spark's optimizer puts right above the first relation.

    Columns go by the names that they have in data files there.
    """
    plan = rows._jdf.queryExecution().optimizedPlan()
    filters = []
    while not plan.children().isEmpty():
        if plan.nodeName() == "Filter":
            filters.append(index_maker(rows.sparkSession).json(plan.condition()))
        plan = plan.children().head()
    return filters[-1:]


_OPTIMIZER = "org.apache.spark.sql.catalyst.optimizer"


def _settled(rows: DataFrame, plan: Any) -> Any:
    """Return the plan with the current time in all its forms, and all constants, as literals."""
    jvm = gateway(rows.sparkSession).jvm
    for rule in ("ComputeCurrentTime", "ConstantFolding"):
        plan = getattr(jvm, f"{_OPTIMIZER}.{rule}$").__getattr__("MODULE$").apply(plan)
    return plan


def _names(references: Any) -> frozenset[str]:
    found = references.toSeq()
    return frozenset(str(found.apply(index).name()) for index in range(found.size()))


def true_only(condition: Column) -> Column:
    """Return whether a condition is true, where null is as good as false."""
    return condition.eqNullSafe(F.lit(True))
