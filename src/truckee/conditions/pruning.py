"""A condition on rows as a predicate on files, which may keep too many files but never too few."""

from __future__ import annotations

from decimal import Decimal

from truckee.conditions.coercion import is_exact, is_floating
from truckee.conditions.literals import DOUBLE, ConstantValue
from truckee.conditions.row_tests import (
    FLIPPED,
    AndTest,
    ColumnValue,
    ComparisonTest,
    ConstantTest,
    InTest,
    IsNullTest,
    LikeTest,
    NotTest,
    OrTest,
    RowTest,
)
from truckee.protocol.predicates import (
    UNKNOWN,
    And,
    Column,
    Comparison,
    In,
    IsNull,
    Literal,
    Not,
    Or,
    Predicate,
    StartsWith,
)
from truckee.protocol.schema import DataType


def condition_predicate(test: RowTest) -> Predicate:
    """Return a test on rows as a predicate on partition values and statistics of files."""
    match test:
        case AndTest(tests):
            return And(tuple(map(condition_predicate, tests)))
        case OrTest(tests):
            return Or(tuple(map(condition_predicate, tests)))
        case NotTest(inner):
            return Not(condition_predicate(inner))
        case ConstantTest(value):
            return Literal(value)
        case IsNullTest(ColumnValue(path)):
            return IsNull(Column(path))
        case IsNullTest():
            return UNKNOWN
        case InTest(column, values):
            return In(Column(column.path), tuple(constant.value for constant in values))
        case LikeTest(column, pattern):
            if not pattern.prefix:
                return UNKNOWN
            begins = StartsWith(Column(column.path), pattern.prefix)
            return begins if pattern.is_prefix else And((begins, UNKNOWN))
        case ComparisonTest(op, ColumnValue() as column, ConstantValue() as constant, wanted):
            return _comparison(op, column, constant, wanted)
        case ComparisonTest(op, ConstantValue() as constant, ColumnValue() as column, wanted):
            return _comparison(FLIPPED.get(op, op), column, constant, wanted)
        case ComparisonTest():
            return UNKNOWN


def _comparison(
    op: str, column: ColumnValue, constant: ConstantValue, wanted: DataType
) -> Predicate:
    if not _keeps_exact_values(column, wanted):
        return UNKNOWN
    value = constant.value
    if is_floating(wanted) and isinstance(value, int | Decimal):
        value = float(value)
    return Comparison(op, Column(column.path), value)


def _keeps_exact_values(column: ColumnValue, wanted: DataType) -> bool:
    """Return whether a column keeps its exact values when it is compared as a type."""
    if column.type == wanted or (is_exact(column.type) and is_exact(wanted)):
        return True
    return is_floating(column.type) and wanted == DOUBLE
