"""Partition values: a typed value and its text in the log (`add.partitionValues`).

| type                   | text                                                                  |
|------------------------|-----------------------------------------------------------------------|
| numbers                | `12`, `-0.50`, `1.5`                                                  |
| boolean                | `true`, `false`                                                       |
| date                   | `2024-01-02`                                                          |
| timestamp              | `2024-01-02T03:04:05.123456Z`, without a zone from older writers  |
| timestamp_ntz          | `2024-01-02 03:04:05.123456`, without trailing zeros                  |
| string, char, varchar  | itself                                                                |
| binary                 | its bytes taken as UTF-8                                              |

NULL is null in the log, and so is the empty string: the log cannot distinguish the two.
"""

from __future__ import annotations

import math
import struct
from collections.abc import Callable, Mapping
from datetime import date, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any

import pyarrow as pa

from truckee.errors.protocol import InvalidPartitionValueError
from truckee.protocol.schema import DataType, DecimalType, PrimitiveType, type_text
from truckee.protocol.temporal import (
    EPOCH_DATE,
    clock_text,
    date_at,
    date_text,
    days_of,
    micros_of,
    micros_since_epoch,
    timestamp_at,
    wall_clock_at,
    zone_of,
)

_EXACT = Context(prec=100, rounding=ROUND_HALF_UP)

_INTEGER_BITS = {"byte": 8, "short": 16, "integer": 32, "long": 64}
_BOOLEANS = {
    **dict.fromkeys(("true", "t", "yes", "y", "1"), True),
    **dict.fromkeys(("false", "f", "no", "n", "0"), False),
}
_ARROW_TYPES: Mapping[str, pa.DataType] = {
    "byte": pa.int8(),
    "short": pa.int16(),
    "integer": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "boolean": pa.bool_(),
    "string": pa.string(),
    "binary": pa.binary(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us", tz="UTC"),
    "timestamp_ntz": pa.timestamp("us"),
}


def parse(text: str | None, data_type: DataType, session_zone: str = "UTC") -> Any:
    """Return the value of a text in the log: an int, str, Decimal, date, datetime and so on.

    `session_zone` applies to timestamps whose text names no zone. Timestamps are returned in UTC,
    `timestamp_ntz` without a zone. InvalidPartitionValueError if the text has another type, or is
    a date outside of Python's range.
    """
    value = counted(text, data_type, session_zone)
    if value is None:
        return None
    try:
        return _PYTHON_VALUES.get(_name(data_type), _itself)(value)
    except ArithmeticError as error:
        assert text is not None
        raise InvalidPartitionValueError(value=text, type=type_text(data_type)) from error


def counted(text: str | None, data_type: DataType, session_zone: str = "UTC") -> Any:
    """Return what `parse` does, but dates and timestamps as counts, which all of Spark's years fit.

    A date is a number of days, a timestamp one of microseconds since 1970.
    """
    if text is None or text == "":
        return None
    try:
        return _counted(text, data_type, session_zone)
    except (ValueError, ArithmeticError) as error:
        raise InvalidPartitionValueError(value=text, type=type_text(data_type)) from error


def format(value: Any, data_type: DataType) -> str | None:  # noqa: A001 - said with its module
    """Return the text of a value in the log; None for NULL and for the empty string.

    Values are those of `parse` or of `counted`.
    InvalidPartitionValueError for bytes that are not UTF-8, because they have no text.
    """
    if value is None:
        return None
    if isinstance(data_type, DecimalType):
        return f"{Decimal(value).quantize(_unit(data_type.scale), context=_EXACT):f}"
    try:
        return _TEXTS.get(_name(data_type), str)(value) or None
    except UnicodeDecodeError as error:
        raise InvalidPartitionValueError(value=repr(value), type=type_text(data_type)) from error


def typed_column(texts: pa.StringArray, data_type: DataType, session_zone: str = "UTC") -> pa.Array:
    """Return a column of partition values from their texts, with its Arrow type.

    Each distinct text is parsed once. Dates and timestamps outside of Python's range are kept.
    """
    if isinstance(texts, pa.ChunkedArray):
        texts = texts.combine_chunks()
    encoded = texts.dictionary_encode()
    values = [counted(text, data_type, session_zone) for text in encoded.dictionary.to_pylist()]
    return pa.array(values, type=partition_arrow_type(data_type)).take(encoded.indices)


def partition_arrow_type(data_type: DataType) -> pa.DataType:
    """Return the Arrow type of a partition column of a type."""
    if isinstance(data_type, DecimalType):
        return pa.decimal128(data_type.precision, data_type.scale)
    found = _ARROW_TYPES.get(_name(data_type))
    if found is None:
        raise InvalidPartitionValueError(value="", type=type_text(data_type))
    return found


def _name(data_type: DataType) -> str:
    return data_type.name if isinstance(data_type, PrimitiveType) else type_text(data_type)


def _counted(text: str, data_type: DataType, session_zone: str) -> Any:
    # Dates and timestamps stay counts: Arrow takes those, and some are outside of Python's range.
    if isinstance(data_type, DecimalType):
        return _decimal(text, data_type)
    match _name(data_type):
        case "string":
            return text
        case "byte" | "short" | "integer" | "long" as name:
            return _integer(text, _INTEGER_BITS[name])
        case "float":
            return _single(text)
        case "double":
            return float(text)
        case "boolean":
            return _boolean(text)
        case "date":
            return days_of(text)
        case "timestamp":
            return micros_of(text, zone_of(session_zone))
        case "timestamp_ntz":
            return micros_of(text, None)
        case "binary":
            return text.encode()
        case other:
            raise ValueError(f"{other} is not a type of partition columns")


def _integer(text: str, bits: int) -> int:
    number = int(text)
    if not -(1 << bits - 1) <= number < 1 << bits - 1:
        raise ValueError(f"{text} does not fit into {bits} bits")
    return number


def _single(text: str) -> float:
    number = float(text)
    try:
        rounded: float = struct.unpack(">f", struct.pack(">f", number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return rounded


def _boolean(text: str) -> bool:
    if text.strip().lower() not in _BOOLEANS:
        raise ValueError(f"{text!r} is not a boolean")
    return _BOOLEANS[text.strip().lower()]


def _decimal(text: str, data_type: DecimalType) -> Decimal:
    number = Decimal(text.strip()).quantize(_unit(data_type.scale), context=_EXACT)
    if number.adjusted() >= data_type.precision - data_type.scale and number:
        raise InvalidOperation(f"{text} does not fit into {data_type.name}")
    return number


def _unit(scale: int) -> Decimal:
    return Decimal(1).scaleb(-scale)


def _itself(value: Any) -> Any:
    return value


_PYTHON_VALUES: Mapping[str, Callable[[Any], Any]] = {
    "date": date_at,
    "timestamp": timestamp_at,
    "timestamp_ntz": wall_clock_at,
}


def _boolean_text(value: bool) -> str:
    return "true" if value else "false"


def _date_text(value: date | int) -> str:
    return date_text(value if isinstance(value, int) else (value - EPOCH_DATE).days)


def _timestamp_text(value: datetime | int) -> str:
    if not isinstance(value, int):
        assert value.tzinfo is not None, "a timestamp has a zone; without one it is a timestamp_ntz"
        value = micros_since_epoch(value)
    return f"{clock_text(value, 'T')}Z"


def _ntz_text(value: datetime | int) -> str:
    micros = value if isinstance(value, int) else micros_since_epoch(value)
    return clock_text(micros, " ").rstrip("0").rstrip(".")


def _double_text(value: float) -> str:
    return _float_text(value, repr(float(value)))


def _single_text(value: float) -> str:
    # The fewest digits that still read back as the same 32-bit number.
    shortest = next(
        text
        for text in (f"{value:.{digits}g}" for digits in range(1, 18))
        if value != value or _single_bytes(float(text)) == _single_bytes(value)
    )
    return _float_text(value, shortest)


def _single_bytes(value: float) -> bytes | None:
    """Return a number in 32 bits, None if rounding makes it too large."""
    try:
        return struct.pack(">f", value)
    except OverflowError:
        return None


def _float_text(value: float, digits: str) -> str:
    if value != value:
        return "NaN"
    if abs(value) == float("inf"):
        return "Infinity" if value > 0 else "-Infinity"
    number = Decimal(digits)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = f"{number:f}"
        return plain if "." in plain else f"{plain}.0"
    sign, figures, _ = number.as_tuple()
    shown = "".join(map(str, figures)).rstrip("0")
    return f"{'-' if sign else ''}{shown[0]}.{shown[1:] or '0'}E{number.adjusted()}"


_TEXTS: Mapping[str, Callable[[Any], str]] = {
    "boolean": _boolean_text,
    "date": _date_text,
    "timestamp": _timestamp_text,
    "timestamp_ntz": _ntz_text,
    "float": _single_text,
    "double": _double_text,
    "binary": lambda value: bytes(value).decode(),
}
