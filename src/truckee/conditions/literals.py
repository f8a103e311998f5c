"""Literals of SQL as values with Spark's types.

| literal                           | type                                           |
|-----------------------------------|------------------------------------------------|
| `5`, `5000000000`, more digits    | int, bigint, decimal(n,0)                      |
| `5Y`, `5S`, `5L`                  | tinyint, smallint, bigint                      |
| `1.50`, `1.5BD`                   | decimal(3,2), decimal(2,1)                     |
| `1e3`, `1.5D`, `1.5F`             | double, double, float                          |
| `'text'`, `X'1F'`, `true`, `NULL` | string, binary, boolean, void                  |
| `DATE '2024-1-31'`                | date                                           |
| `TIMESTAMP '2024-01-31 1:2:3Z'`   | timestamp, in UTC unless it names a zone       |
| `TIMESTAMP_NTZ '2024-01-31 1:2'`  | timestamp_ntz                                  |
"""

from __future__ import annotations

import re
import struct
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

from msgspec import Struct

from truckee.errors.conditions import ConditionValueError, UnsupportedConditionError
from truckee.options.timestamps import parsed_timestamp
from truckee.protocol.schema import VOID, DataType, DecimalType, PrimitiveType, type_text

BOOLEAN = PrimitiveType("boolean")
INTEGERS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
STRING = PrimitiveType("string")
LONG = PrimitiveType("long")
FLOAT = PrimitiveType("float")
DOUBLE = PrimitiveType("double")
BINARY = PrimitiveType("binary")
DATE = PrimitiveType("date")
TIMESTAMP = PrimitiveType("timestamp")
TIMESTAMP_NTZ = PrimitiveType("timestamp_ntz")

_MOST_DIGITS = 38
_DATE = re.compile(r"\s*(\d{4})(?:-(\d{1,2})(?:-(\d{1,2})(?:[ T].*)?)?)?\s*", re.ASCII | re.DOTALL)
_INTEGER = re.compile(r"[+-]?\d+", re.ASCII)
_DOUBLE = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", re.ASCII)
_BOOLEANS = dict.fromkeys(("true", "t", "yes", "y", "1"), True) | dict.fromkeys(
    ("false", "f", "no", "n", "0"), False
)
_SUFFIXES = {"Y": "byte", "S": "short", "L": "long"}


class ConstantValue(Struct, frozen=True):
    """A value: int, float, Decimal, str, bytes, bool, date, datetime (UTC, or without a zone)."""

    value: Any
    type: DataType

    @classmethod
    def of(cls, value: bool | str | bytes) -> ConstantValue:
        """Return the value of a Python object whose type determines the SQL type."""
        if isinstance(value, bool):
            return cls(value, BOOLEAN)
        return cls(value, STRING if isinstance(value, str) else BINARY)


NULL = ConstantValue(None, VOID)
TRUE = ConstantValue.of(True)


def number(text: str, *, condition: str) -> ConstantValue:
    """Return the number of a literal, including its sign."""
    upper = text.upper()
    if upper.endswith("BD"):
        return _decimal(text[:-2], condition)
    if upper[-1] in _SUFFIXES and upper[:-1].lstrip("-").isdecimal():
        return _integer(text[:-1], _SUFFIXES[upper[-1]], condition)
    if upper[-1] in "FD":
        value = float(text[:-1])
        if upper[-1] == "F":
            return ConstantValue(struct.unpack("f", struct.pack("f", value))[0], FLOAT)
        return ConstantValue(value, DOUBLE)
    if "E" in upper:
        return ConstantValue(float(text), DOUBLE)
    if "." in text:
        return _decimal(text, condition)
    value_of_digits = _whole(text)
    for name in ("integer", "long"):
        if _fits(value_of_digits, name):
            return ConstantValue(value_of_digits, PrimitiveType(name))
    return _decimal(text, condition)


def _whole(text: str) -> int:
    # Python's `int` refuses texts of more than 4300 digits.
    return int(Decimal(text))


def _fits(value: int, name: str) -> bool:
    half = 1 << (INTEGERS[name] - 1)
    return -half <= value < half


def _integer(text: str, name: str, condition: str) -> ConstantValue:
    value = _whole(text)
    if not _fits(value, name):
        kind = type_text(PrimitiveType(name))
        raise ConditionValueError(condition=condition, value=text, type=kind)
    return ConstantValue(value, PrimitiveType(name))


def _decimal(text: str, condition: str) -> ConstantValue:
    value = Decimal(text)
    _, digits, exponent = value.as_tuple()
    assert isinstance(exponent, int)
    scale = max(0, -exponent)
    precision = max(len(digits) + max(0, exponent), scale)
    if precision > _MOST_DIGITS:
        raise UnsupportedConditionError(
            condition=condition, what=f"a number of more than {_MOST_DIGITS} digits"
        )
    return ConstantValue(value, DecimalType(max(1, precision), scale))


def typed_text(word: str, text: str, *, condition: str) -> ConstantValue:
    """Return the value of a typed literal such as `DATE '...'`."""
    types = {"DATE": DATE, "TIMESTAMP_NTZ": TIMESTAMP_NTZ}
    return cast_text(text, types.get(word, TIMESTAMP), condition=condition)


def cast_text(text: str, data_type: DataType, *, condition: str) -> ConstantValue:
    """Return a text cast to a type, as CAST does it; `ConditionValueError` if it cannot be."""
    try:
        return ConstantValue(_cast(text, data_type), data_type)
    except (ValueError, OverflowError) as error:
        raise ConditionValueError(
            condition=condition, value=text, type=type_text(data_type)
        ) from error


def _cast(text: str, data_type: DataType) -> Any:
    stripped = text.strip()
    match data_type:
        case PrimitiveType("long") if _INTEGER.fullmatch(stripped):
            value = _whole(stripped)
            if _fits(value, "long"):
                return value
        case PrimitiveType("double") if _DOUBLE.fullmatch(stripped):
            return float(stripped)
        case PrimitiveType("boolean") if stripped.lower() in _BOOLEANS:
            return _BOOLEANS[stripped.lower()]
        case PrimitiveType("date"):
            return _date(text)
        case PrimitiveType("timestamp"):
            return parsed_timestamp(stripped, "UTC").astimezone(timezone.utc)
        case PrimitiveType("timestamp_ntz"):
            return _wall_clock(stripped)
        case PrimitiveType("binary"):
            return text.encode()
    raise ValueError(text)


def _date(text: str) -> date:
    match = _DATE.fullmatch(text)
    if match is None:
        raise ValueError(text)
    return date(int(match[1]), int(match[2] or 1), int(match[3] or 1))


def _wall_clock(text: str) -> datetime:
    # A time that names a zone is the same moment in whichever session zone it is parsed.
    first, second = (parsed_timestamp(text, zone) for zone in ("UTC", "+01:00"))
    if first == second:
        raise ValueError(text)
    return first.replace(tzinfo=None)
