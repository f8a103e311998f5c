"""A condition as what can be told of files: weaker than the condition, never wrong."""

from __future__ import annotations

from decimal import Decimal

from truckee.conditions.coercion import is_exact, is_floating
from truckee.conditions.literals import DOUBLE, ConstantValue
from truckee.conditions.typed import (
    FLIPPED,
    ColumnValue,
    Comparing,
    Every,
    Fixed,
    Lacking,
    Listed,
    Matching,
    Opposite,
    Some,
    Test,
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


def condition_predicate(test: Test) -> Predicate:
    """Return what a test says of files by their partition values and statistics."""
    match test:
        case Every(tests):
            return And(tuple(map(condition_predicate, tests)))
        case Some(tests):
            return Or(tuple(map(condition_predicate, tests)))
        case Opposite(inner):
            return Not(condition_predicate(inner))
        case Fixed(value):
            return Literal(value)
        case Lacking(ColumnValue(path)):
            return IsNull(Column(path))
        case Lacking():
            return UNKNOWN
        case Listed(column, values):
            return In(Column(column.path), tuple(constant.value for constant in values))
        case Matching(column, pattern):
            if not pattern.prefix:
                return UNKNOWN
            begins = StartsWith(Column(column.path), pattern.prefix)
            return begins if pattern.is_prefix else And((begins, UNKNOWN))
        case Comparing(op, ColumnValue() as column, ConstantValue() as constant, wanted):
            return _comparison(op, column, constant, wanted)
        case Comparing(op, ConstantValue() as constant, ColumnValue() as column, wanted):
            return _comparison(FLIPPED.get(op, op), column, constant, wanted)
        case Comparing():
            return UNKNOWN


def _comparison(
    op: str, column: ColumnValue, constant: ConstantValue, wanted: DataType
) -> Predicate:
    if not _is_compared_as_it_is(column, wanted):
        return UNKNOWN
    value = constant.value
    if is_floating(wanted) and isinstance(value, int | Decimal):
        value = float(value)
    return Comparison(op, Column(column.path), value)


def _is_compared_as_it_is(column: ColumnValue, wanted: DataType) -> bool:
    """Return whether no digit of a column is lost when it is compared as a type."""
    if column.type == wanted or (is_exact(column.type) and is_exact(wanted)):
        return True
    return is_floating(column.type) and wanted == DOUBLE
