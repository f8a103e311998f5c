"""Filters that Spark pushes into a Python data source, as what pruning understands."""

from __future__ import annotations

from collections.abc import Iterable

from pyspark.sql import datasource as spark

from truckee.protocol.predicates import (
    UNKNOWN,
    Column,
    Comparison,
    In,
    IsNotNull,
    IsNull,
    Not,
    Predicate,
    StartsWith,
    all_of,
)

_OPERATORS: dict[type[spark.Filter], str] = {
    spark.EqualTo: "=",
    spark.EqualNullSafe: "<=>",
    spark.GreaterThan: ">",
    spark.GreaterThanOrEqual: ">=",
    spark.LessThan: "<",
    spark.LessThanOrEqual: "<=",
}


def pushed_predicate(filters: Iterable[spark.Filter]) -> Predicate:
    """Return the conjunction of those filters that can be checked against files."""
    return all_of(*(_predicate(pushed) for pushed in filters))


def _predicate(pushed: spark.Filter) -> Predicate:
    match pushed:
        case spark.Not(child):
            return Not(_predicate(child))
        case spark.IsNull(path):
            return IsNull(Column(tuple(path)))
        case spark.IsNotNull(path):
            return IsNotNull(Column(tuple(path)))
        case spark.In(path, values):
            return In(Column(tuple(path)), tuple(values))
        case spark.StringStartsWith(path, prefix):
            return StartsWith(Column(tuple(path)), prefix)
    operator = _OPERATORS.get(type(pushed))
    if operator is None:
        return UNKNOWN
    return Comparison(operator, Column(tuple(pushed.attribute)), pushed.value)  # type: ignore[attr-defined]
