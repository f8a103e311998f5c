"""Evaluates a condition on batches: SQL's three values as Arrow's booleans, with null for NULL.

Comparisons are Spark's: NaN equals itself and is greater than all numbers, 0.0 equals -0.0, and
integers and decimals are compared exactly.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from decimal import ROUND_FLOOR, Context, Decimal
from functools import cached_property, reduce
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from truckee.arrow.columns import arrow_type
from truckee.arrow.file_columns import TableRead
from truckee.arrow.row_groups import kept_row_groups
from truckee.conditions.coercion import is_exact, is_floating
from truckee.conditions.literals import ConstantValue
from truckee.conditions.pruning import condition_predicate
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
    Operand,
    OrTest,
    RowTest,
    columns_of,
    row_test,
)
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import DataType, StructType

_EXACT = Context(prec=100)
_OPERATORS: Mapping[str, Callable[[Any, Any], Any]] = {
    "=": pc.equal,
    "!=": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


def where_condition(condition: str, schema: StructType) -> Where:
    """Return a condition over the columns of a schema; raises the errors of conditions."""
    return Where(row_test(condition, schema))


class Where:
    """A condition on rows, which also selects row groups and files."""

    def __init__(self, test: RowTest) -> None:
        self._test = test

    @property
    def columns(self) -> Sequence[str]:
        """The columns that the condition uses, by their names in the table."""
        return sorted({path[0] for path in columns_of(self._test)})

    @cached_property
    def predicate(self) -> Predicate:
        """The condition as a predicate on files, by partition values and statistics."""
        return condition_predicate(self._test)

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Return the rows of a batch that match the condition."""
        return batch.filter(truth(self._test, batch))

    def row_groups(
        self, file: pq.ParquetFile, read: TableRead, numbers: Sequence[int]
    ) -> Sequence[int]:
        """Return the row groups of a file that may have such a row."""
        return kept_row_groups(file, read, self.predicate, numbers)


def truth(test: RowTest, batch: pa.RecordBatch) -> pa.Array:
    """Return, for each row of a batch, whether a test is true, null if it is NULL."""
    found = _truth(test, batch)
    return pa.repeat(found, batch.num_rows) if isinstance(found, pa.Scalar) else found


def _truth(test: RowTest, batch: pa.RecordBatch) -> Any:
    match test:
        case AndTest(tests):
            return reduce(pc.and_kleene, (truth(each, batch) for each in tests))
        case OrTest(tests):
            return reduce(pc.or_kleene, (truth(each, batch) for each in tests))
        case NotTest(inner):
            return pc.invert(_truth(inner, batch))
        case ConstantTest(value):
            return pa.scalar(value, pa.bool_())
        case IsNullTest(operand):
            return pc.is_null(_values(operand, batch))
        case LikeTest(column, pattern):
            values = _values(column, batch)
            if pattern.is_prefix:
                return pc.starts_with(values, pattern.prefix)
            return pc.match_substring_regex(values, pattern.regex)
        case InTest(column, constants):
            return _is_listed(_values(column, batch), column.type, constants)
        case ComparisonTest(op, left, right, wanted):
            return _comparison(op, left, right, wanted, batch)


def _values(operand: Operand, batch: pa.RecordBatch) -> Any:
    match operand:
        case ColumnValue(path):
            values = batch.column(path[0])
            for name in path[1:]:
                fields = [field.name for field in values.type]
                values = values.flatten()[fields.index(name)]
            return values
        case ConstantValue(value, type):
            return pa.scalar(value, arrow_type(type))
        case test:
            return truth(test, batch)


def _comparison(
    op: str, left: Operand, right: Operand, wanted: DataType, batch: pa.RecordBatch
) -> Any:
    if isinstance(left, ConstantValue) and not isinstance(right, ConstantValue):
        left, right, op = right, left, FLIPPED.get(op, op)
    values = _values(left, batch)
    if isinstance(right, ConstantValue) and is_exact(wanted) and isinstance(left, ColumnValue):
        if op == "<=>":
            return pc.fill_null(_compared_exactly("=", values, right.value), False)
        return _compared_exactly(op, values, right.value)
    one = _as_compared(left, values, wanted)
    other = _as_compared(right, _values(right, batch), wanted)
    if op == "<=>":
        both_null = pc.and_(pc.is_null(one), pc.is_null(other))
        return pc.or_(both_null, pc.fill_null(_compared("=", one, other), False))
    return _compared(op, one, other)


def _as_compared(operand: Operand, values: Any, data_type: DataType) -> Any:
    """Return values in the type in which they are compared."""
    wanted = arrow_type(data_type)
    if values.type == wanted:
        return values
    if isinstance(operand, ConstantValue) and is_floating(data_type):
        return pa.scalar(float(operand.value), wanted)
    if pa.types.is_decimal(values.type) and is_floating(data_type):
        # Through text, because Arrow's own cast is not exact in the last digit.
        return pc.cast(pc.cast(values, pa.string()), wanted)
    if pa.types.is_date(values.type) and pa.types.is_timestamp(wanted):
        return pc.cast(pc.cast(values, pa.timestamp("us")), wanted)
    if pa.types.is_integer(values.type) and pa.types.is_decimal(wanted):
        whole = pc.cast(values, pa.decimal128(19, 0))
        return pc.cast(whole, pa.decimal256(76, wanted.scale))
    if pa.types.is_decimal(values.type) and pa.types.is_decimal(wanted):
        return pc.cast(values, pa.decimal256(76, wanted.scale))
    return pc.cast(values, wanted, safe=False)


def _compared(op: str, left: Any, right: Any) -> Any:
    if pa.types.is_floating(left.type):
        return _compared_floats(op, left, right)
    if pa.types.is_boolean(left.type):
        left, right = pc.cast(left, pa.uint8()), pc.cast(right, pa.uint8())
    if pa.types.is_decimal(left.type):
        wide = pa.decimal256(76, left.type.scale)
        left, right = pc.cast(left, wide), pc.cast(right, wide)
    return _OPERATORS[op](left, right)


def _compared_floats(op: str, left: Any, right: Any) -> Any:
    """Compare floats; NaN is greater than all numbers and equal to itself."""
    found = _OPERATORS[op](left, right)
    left_nan, right_nan = pc.is_nan(left), pc.is_nan(right)
    match op:
        case "=":
            return pc.or_(found, pc.and_(left_nan, right_nan))
        case "!=":
            return pc.and_(found, pc.invert(pc.and_(left_nan, right_nan)))
        case "<":
            return pc.or_(found, pc.and_(pc.invert(left_nan), right_nan))
        case "<=":
            return pc.or_(found, right_nan)
        case ">":
            return pc.or_(found, pc.and_(left_nan, pc.invert(right_nan)))
        case _:
            return pc.or_(found, left_nan)


def _compared_exactly(op: str, values: pa.Array, number: int | Decimal) -> pa.Array:
    """Compare integers or decimals with a number that may not be of their type.

    1.5 is between 1 and 2: x < 1.5 and x <= 1.5 are x <= 1, and no x equals 1.5.
    """
    below, is_same = _largest_below(number, values.type)
    if op in ("=", "!="):
        if is_same:
            return _OPERATORS[op](values, below)
        return _fixed(op == "!=", values)
    if isinstance(below, bool):
        return _fixed(below == (op in ("<", "<=")), values)
    if not is_same:
        op = {"<": "<=", ">=": ">"}.get(op, op)
    return _OPERATORS[op](values, below)


def _largest_below(number: int | Decimal, of: pa.DataType) -> tuple[Any, bool]:
    """Return the largest value of a type that is not above a number, and whether it is equal.

    The value is True if the number is above all values of the type, False if it is below.
    """
    floor: int | Decimal
    if pa.types.is_decimal(of):
        most = Decimal(10) ** (of.precision - of.scale)
        floor = Decimal(number).quantize(Decimal(1).scaleb(-of.scale), ROUND_FLOOR, _EXACT)
        is_inside = -most < floor < most
    else:
        half = 1 << (of.bit_width - 1)
        floor = math.floor(number)
        is_inside = -half <= floor < half
    return (pa.scalar(floor, of), floor == number) if is_inside else (number > 0, False)


def _fixed(value: bool, values: pa.Array) -> pa.Array:
    """Return one result for all values, and null for nulls."""
    return pc.if_else(pc.is_valid(values), pa.scalar(value), pa.scalar(None, pa.bool_()))


def _is_listed(
    values: pa.Array, data_type: DataType, constants: Sequence[ConstantValue]
) -> pa.Array:
    known = [constant.value for constant in constants if constant.value is not None]
    if is_floating(data_type):
        tests = [_compared("=", values, pa.scalar(float(value), values.type)) for value in known]
        found = reduce(pc.or_, tests, _fixed(False, values))
    else:
        if is_exact(data_type):
            floors = (_largest_below(value, values.type) for value in known)
            known = [floor.as_py() for floor, is_same in floors if is_same]
        listed = pc.is_in(values, value_set=pa.array(known, values.type))
        found = pc.if_else(pc.is_valid(values), listed, pa.scalar(None, pa.bool_()))
    if all(constant.value is not None for constant in constants):
        return found
    # With a null in the list, a value that is not found gives NULL.
    return pc.if_else(found, found, pa.scalar(None, pa.bool_()))
