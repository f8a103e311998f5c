"""The type in which SQL compares two values: Spark's rules, with ANSI mode on, its default.

| left                | right               | are compared as                          |
|---------------------|---------------------|------------------------------------------|
| integers, decimals  | integers, decimals  | numbers, exactly                         |
| float, double       | any other number    | double                                   |
| text                | an integer          | bigint                                   |
| text                | any other number    | double                                   |
| text                | any other type      | that type                                |
| date                | timestamp           | timestamp, at midnight UTC               |
| timestamp_ntz       | timestamp           | timestamp, in UTC                        |

Here, text means a literal. A string column is only compared with text: whether each of its values
is a number is known only when its row is read, and Spark fails on the first one that is not.
"""

from __future__ import annotations

from truckee.conditions.literals import (
    DOUBLE,
    INTEGERS,
    LONG,
    STRING,
    TIMESTAMP,
    TIMESTAMP_NTZ,
)
from truckee.protocol.schema import VOID, DataType, DecimalType, PrimitiveType

_DIGITS = {"byte": 3, "short": 5, "integer": 10, "long": 20}
_MOST_DIGITS = 38
_ATOMIC = frozenset({"boolean", "binary", "date", "timestamp", "timestamp_ntz"})


def common_type(*types: DataType) -> DataType | None:
    """Return the type in which values of these types are compared, None if they cannot be."""
    found: DataType | None = VOID
    for each in types:
        if found is None:
            return None
        found = _of_two(found, each)
    return found


def is_exact(data_type: DataType) -> bool:
    """Return whether a type has exact numbers: integers and decimals."""
    return isinstance(data_type, DecimalType) or is_integer(data_type)


def is_integer(data_type: DataType) -> bool:
    """Return whether a type is an integer type."""
    return isinstance(data_type, PrimitiveType) and data_type.name in INTEGERS


def is_floating(data_type: DataType) -> bool:
    """Return whether a type is float or double."""
    return isinstance(data_type, PrimitiveType) and data_type.name in ("float", "double")


def _of_two(left: DataType, right: DataType) -> DataType | None:
    if left == right or right == VOID:
        return left
    if left == VOID:
        return right
    if is_exact(left) and is_exact(right):
        return _exact(left, right)
    if _is_number(left) and _is_number(right):
        return DOUBLE
    if STRING in (left, right):
        return _of_text(right if left == STRING else left)
    moments = {left, right} - {PrimitiveType("date")}
    if moments == {TIMESTAMP} or moments == {TIMESTAMP, TIMESTAMP_NTZ}:
        return TIMESTAMP
    return TIMESTAMP_NTZ if moments == {TIMESTAMP_NTZ} else None


def _is_number(data_type: DataType) -> bool:
    return is_exact(data_type) or is_floating(data_type)


def _of_text(other: DataType) -> DataType | None:
    if is_integer(other):
        return LONG
    if _is_number(other):
        return DOUBLE
    return other if isinstance(other, PrimitiveType) and other.name in _ATOMIC else None


def _exact(left: DataType, right: DataType) -> DataType:
    if is_integer(left) and is_integer(right):
        assert isinstance(left, PrimitiveType)
        assert isinstance(right, PrimitiveType)
        return max(left, right, key=lambda each: INTEGERS[each.name])
    one, two = _as_decimal(left), _as_decimal(right)
    scale = max(one.scale, two.scale)
    whole = max(one.precision - one.scale, two.precision - two.scale)
    return DecimalType(min(_MOST_DIGITS, whole + scale), scale)


def _as_decimal(data_type: DataType) -> DecimalType:
    if isinstance(data_type, DecimalType):
        return data_type
    assert isinstance(data_type, PrimitiveType)
    return DecimalType(_DIGITS[data_type.name], 0)
