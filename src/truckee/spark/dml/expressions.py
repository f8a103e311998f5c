"""Conditions and values as Spark resolves them, checked before they are used.

Before any row is read, these are refused with an error of ours: unknown names, aggregates, and in
conditions subqueries and functions that are not deterministic.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType as SparkStruct

from truckee.errors.base import DeltaError
from truckee.errors.commands.dml import (
    NonDeterministicError,
    SubqueryNotSupportedError,
    is_of_merge,
)
from truckee.errors.commands.expressions import NonDeterministicRowError
from truckee.errors.options import ArgumentTypeError
from truckee.protocol.schema import VOID, DataType, DecimalType, PrimitiveType
from truckee.spark.jvm.bridge import java_class, java_half, to_column
from truckee.spark.jvm.jvm_errors import quiet_errors
from truckee.spark.schema_conversion import from_spark, spark_type
from truckee.spark.write.expression_errors import expression_error
from truckee.spark.write.store_assignment import (
    StoreAssignment,
    assigned_value,
    can_be_cast,
    check_up_cast,
    store_assignment,
)

_CATALYST = "org.apache.spark.sql.catalyst"
_BOOLEAN = PrimitiveType("boolean")
_VARIANT = PrimitiveType("variant")
_EXISTS = "Exists"
_QUOTES_BRACKETS_WHERE = re.compile(
    r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|`[^`]*`|[()]|\bWHERE\b""",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True)
class Expression:
    """A resolved condition: `column` can be used on the frame that it was resolved for.

    `columns` are the names of the columns that it reads. `constant` is its value if that is the
    same for every row, else `VARIES`.
    """

    column: Column
    sql: str
    columns: frozenset[str]
    constant: object
    has_subquery: bool = False


VARIES = object()


@dataclass(frozen=True)
class Value:
    """A resolved value computed from a row: `column` can be used on the frame it is for."""

    column: Column
    type: DataType
    columns: frozenset[str]


def resolved_condition(
    rows: DataFrame,
    given: str | Column,
    *,
    what: str,
    hidden: Iterable[str] = (),
    allows_exists: bool = False,
) -> Expression:
    """Return a condition on rows, or raise what is wrong with it.

    `what` names it in errors, as in `the condition of DELETE`. Errors do not suggest the columns
    in `hidden`. Subqueries are refused; with `allows_exists` those of EXISTS are not.
    """
    checked_type(given, what=what)
    plan = _analyzed(rows, given, given, what=what, hidden=hidden)
    found = _settled(rows, plan, "ComputeCurrentTime", "ConstantFolding").condition()
    kinds = _subqueries(found) if _has_subquery(rows, found) else frozenset()
    if kinds and not (allows_exists and kinds == {_EXISTS}):
        raise SubqueryNotSupportedError(what=what, expression=as_written(given))
    if not found.deterministic():
        kind = NonDeterministicError if is_of_merge(what) else NonDeterministicRowError
        raise kind(what=what, expression=as_written(given))
    return Expression(
        column=to_column(rows.sparkSession, found),
        sql=as_written(given) if kinds else str(found.sql()),
        columns=_names(rows, found),
        constant=found.eval(None) if found.foldable() else VARIES,
        has_subquery=bool(kinds),
    )


def resolved_value(
    rows: DataFrame,
    given: str | Column,
    *,
    what: str,
    hidden: Iterable[str] = (),
    stored_as: DataType | None = None,
) -> Value:
    """Return a value computed from each of the rows, or raise what is wrong with it.

    A text for a column of numbers, times or truth values, of type `stored_as`, is cast to it here,
    as the time zone of the session decides what a text means; so is a truth value for a number, a
    number for a truth value, and a value for a variant or a variant for a value. A text that is no
    such value is an error when the row is read, in Spark's ANSI mode and without it, unless the
    session has another policy (see `store_assignment`).
    """
    checked_type(given, what=what)
    column = F.expr(given) if isinstance(given, str) else given
    # Inside a condition, Spark refuses aggregates and functions that generate rows.
    condition = column.isNull() | F.lit(True)
    plan = _analyzed(rows, condition, given, what=what, hidden=hidden)
    found = _settled(rows, plan, "ComputeCurrentTime").condition().left().child()
    kind = from_spark(_struct(found.dataType().json())).fields[0].type
    if stored_as is not None and kind != stored_as:
        policy = store_assignment(rows.sparkSession)
        if policy is StoreAssignment.STRICT:
            check_up_cast(rows.sparkSession, spark_type(kind), spark_type(stored_as), what=what)
        if _is_cast_here(rows.sparkSession, kind, stored_as, policy):
            stored = spark_type(stored_as)
            found = assigned_value(rows.sparkSession, found, stored, policy)
            kind = stored_as
    return Value(column=to_column(rows.sparkSession, found), type=kind, columns=_names(rows, found))


def _is_cast_here(
    spark: SparkSession, kind: DataType, stored_as: DataType, policy: StoreAssignment
) -> bool:
    """Return whether a value is cast to its column's type when it is computed, not by the writer.

    The writer casts numbers, dates and timestamps, with an error for what does not fit.
    """
    if _VARIANT in (kind, stored_as) and kind != VOID:
        return can_be_cast(spark, spark_type(kind), spark_type(stored_as))
    if not is_simple(kind) or not is_simple(stored_as):
        return False
    if policy is StoreAssignment.LEGACY:
        return True
    if _BOOLEAN in (kind, stored_as):
        return can_be_cast(spark, spark_type(kind), spark_type(stored_as))
    return _is_text(kind) and not _is_text(stored_as)


def _is_text(data_type: DataType) -> bool:
    """Return whether a type is that of texts."""
    return data_type == PrimitiveType("string")


def is_simple(data_type: DataType) -> bool:
    """Return whether a type is that of single values: numbers, texts, times, truth values."""
    return isinstance(data_type, PrimitiveType | DecimalType) and data_type != VOID


def checked_type(given: object, *, what: str) -> None:
    """Raise unless an expression is given as SQL or as a Column."""
    if not isinstance(given, str | Column):
        raise ArgumentTypeError(
            what=what, needs="be a Spark SQL Column or a string", found=type(given).__name__
        )


def as_written(given: str | Column) -> str:
    """Return an expression as people read it."""
    if isinstance(given, str):
        return given
    source = _source(given)
    if source:
        return source
    return str(given).removeprefix("Column<'").removesuffix("'>")


def _source(column: Column) -> str:
    """Return the part of a SQL statement that a Column was parsed from, empty if it was not."""
    native: Any = column._jc
    node = native.node()
    if node.getClass().getSimpleName() != "ExpressionColumnNode":
        return ""
    expression = node.expression()
    origin = expression.origin()
    text = origin.sqlText()
    places = list(_places(expression)) if text.isDefined() else []
    if not places:
        return ""
    statement = str(text.get())
    start, end = min(first for first, _ in places), max(last for _, last in places)
    if statement[:start].strip():
        return statement[start : end + 1]
    # Some expressions, EXISTS among them, have the place of the whole statement.
    return _after_where(statement)


def _places(expression: Any) -> Iterator[tuple[int, int]]:
    """Yield where the parts of an expression begin and end in the text of their statement."""
    origin, children = expression.origin(), expression.children()
    if origin.startIndex().isDefined() and origin.stopIndex().isDefined():
        yield int(origin.startIndex().get()), int(origin.stopIndex().get())
    for index in range(children.size()):
        yield from _places(children.apply(index))


def _after_where(statement: str) -> str:
    """Return what follows the WHERE of a DELETE or an UPDATE, empty if there is none."""
    depth = 0
    for found in _QUOTES_BRACKETS_WHERE.finditer(statement):
        depth += (found[0] == "(") - (found[0] == ")")
        if depth == 0 and found[0].upper() == "WHERE":
            return statement[found.end() :].strip()
    return ""


def _analyzed(
    rows: DataFrame,
    condition: str | Column,
    given: str | Column,
    *,
    what: str,
    hidden: Iterable[str],
) -> Any:
    try:
        with quiet_errors():
            return rows.where(condition)._jdf.queryExecution().analyzed()
    except DeltaError:  # about a table that the condition names; it says more than Spark's message
        raise
    except (AnalysisException, ParseException) as error:
        names = tuple(dict.fromkeys(name for name in rows.columns if name not in set(hidden)))
        raise expression_error(
            error, what=what, expression=as_written(given), columns=names
        ) from None


def _has_subquery(rows: DataFrame, expression: Any) -> bool:
    subqueries = java_class(rows.sparkSession, f"{_CATALYST}.expressions.SubqueryExpression")
    return bool(subqueries.hasSubquery(expression))


def _subqueries(expression: Any) -> frozenset[str]:
    """Return the kinds of the subqueries in an expression, by the names of Spark's classes."""
    name = str(expression.getClass().getSimpleName())
    children = expression.children()
    below = (_subqueries(children.apply(index)) for index in range(children.size()))
    is_one = name == _EXISTS or name.endswith("Query") or "Subquery" in name
    return frozenset({name} if is_one else ()).union(*below)


def _struct(type_json: str) -> SparkStruct:
    field = f'{{"name":"value","type":{type_json},"nullable":true,"metadata":{{}}}}'
    return SparkStruct.fromJson(json.loads(f'{{"type":"struct","fields":[{field}]}}'))


def pushed_filters(rows: DataFrame) -> list[str]:
    """Return, as JSON, the filters that Spark's optimizer puts right above the first relation.

    Columns have the names that they have in data files.
    """
    plan = rows._jdf.queryExecution().optimizedPlan()
    filters = []
    while not plan.children().isEmpty():
        if plan.nodeName() == "Filter":
            filters.append(java_half(rows.sparkSession).json(plan.condition()))
        plan = plan.children().head()
    return filters[-1:]


def _settled(rows: DataFrame, plan: Any, *rules: str) -> Any:
    """Return the plan after rules of Spark's optimizer.

    They turn the current time, in all its forms, and whatever else is constant into literals.
    """
    for rule in rules:
        plan = java_class(rows.sparkSession, f"{_CATALYST}.optimizer.{rule}").apply(plan)
    return plan


def _names(rows: DataFrame, expression: Any) -> frozenset[str]:
    return frozenset(json.loads(java_half(rows.sparkSession).names(expression)))


def are_of(rows: DataFrame, values: Sequence[Column], *, beside: DataFrame) -> bool:
    """Return whether values over a join of two DataFrames use columns of the first."""
    both = beside.join(rows, F.lit(True), "full").select(*values)
    used = both._jdf.queryExecution().analyzed().references()
    return bool(used.subsetOf(rows._jdf.queryExecution().analyzed().outputSet()))


def true_only(condition: Column) -> Column:
    """Return whether a condition is true; null counts as false."""
    # Not a comparison with true: Spark warns of one if the condition is just `true`.
    return F.coalesce(condition, F.lit(False))
