"""Arrow values as Spark's texts: casts to string, and JSON."""

from __future__ import annotations

import base64
import math
from collections.abc import Callable, Iterator, Mapping
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import msgspec
import pyarrow as pa

from truckee.arrow.variants import VARIANT, Simple, variant_value

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_encoder = msgspec.json.Encoder(decimal_format="number")


def json_texts(rows: pa.Table) -> Iterator[str]:
    """Yield each row as a JSON object, nulls included."""
    names = rows.column_names
    for batch in rows.to_batches():
        columns = [plain_values(column) for column in batch.columns]
        types = batch.schema.types
        for row in zip(*columns, strict=True):
            values = (json_value(value, kind) for value, kind in zip(row, types, strict=True))
            yield json_text(dict(zip(names, values, strict=True)))


def json_text(value: Any) -> str:
    """Return a value of `json_value` as JSON."""
    return _encoder.encode(value).decode()


def column_texts(column: pa.ChunkedArray | pa.Array) -> list[str | None]:
    """Return the values of a column as text; nested ones are JSON, binary ones are hexadecimal."""
    kind = column.type
    return [None if v is None else value_text(v, kind) for v in plain_values(column)]


def plain_values(column: pa.ChunkedArray | pa.Array) -> list[Any]:
    """Return Python values; timestamps and dates are counts, those in nested values too.

    A timestamp is a number of microseconds and a date one of days, because Spark's range of years
    is larger than Python's.
    """
    for leaf in (_in_micros, _as_count):
        column = column.cast(_with_leaves(column.type, leaf))
    values: list[Any] = column.to_pylist()
    return values


def _in_micros(kind: pa.DataType) -> pa.DataType:
    return pa.timestamp("us", tz=kind.tz) if pa.types.is_timestamp(kind) else kind


def _as_count(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_date32(kind):
        return pa.int32()
    return pa.int64() if pa.types.is_timestamp(kind) else kind


def _with_leaves(kind: pa.DataType, leaf: Callable[[pa.DataType], pa.DataType]) -> pa.DataType:
    """Return a type with another type in place of each type in it that is not nested."""
    if pa.types.is_map(kind):
        return pa.map_(_with_leaves(kind.key_type, leaf), _with_leaves(kind.item_type, leaf))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_with_leaves(field.type, leaf)) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(kind.value_field.with_type(_with_leaves(kind.value_type, leaf)))
    return leaf(kind)


def value_text(value: Any, kind: pa.DataType) -> str:
    """Return one of the `plain_values` as Spark casts it to string."""
    if pa.types.is_nested(kind):
        return json_text(json_value(value, kind))
    if pa.types.is_timestamp(kind):
        return _moment(value, "%Y-%m-%d %H:%M:%S", trimmed=True)
    if pa.types.is_date32(kind):
        return _moment(value * 86_400_000_000, "%Y-%m-%d")
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            return double_text(value, is_single=pa.types.is_float32(kind))
        case bytes():
            return value.hex().upper()
    return str(value)


def json_value(value: Any, kind: pa.DataType) -> Any:
    """Return one of the `plain_values` as it is in Spark's JSON."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        return {
            _key_text(key, kind.key_type): json_value(item, kind.item_type) for key, item in value
        }
    if kind == VARIANT and (found := _variant(value)) is not _NO_VARIANT:
        return found
    if pa.types.is_struct(kind):
        return {field.name: json_value(value[field.name], field.type) for field in kind}
    if pa.types.is_list(kind):
        return [json_value(item, kind.value_type) for item in value]
    if pa.types.is_timestamp(kind):
        zone = "" if kind.tz is None else "Z"
        return _moment(value, "%Y-%m-%dT%H:%M:%S", millis=True) + zone
    if pa.types.is_date32(kind):
        return _moment(value * 86_400_000_000, "%Y-%m-%d")
    if isinstance(value, bytes):
        return base64.b64encode(value).decode()
    if isinstance(value, float) and not math.isfinite(value):
        return double_text(value)
    if isinstance(value, float) and pa.types.is_float32(kind):
        return float(double_text(value, is_single=True))
    return value


_NO_VARIANT = object()


def _variant(value: Mapping[str, bytes]) -> Any:
    """Return a variant as in Spark's JSON, in UTC; `_NO_VARIANT` if it is a struct of two texts."""
    try:
        return variant_value(value["value"], value["metadata"], _json_leaf)
    except ValueError:
        return _NO_VARIANT


def _json_leaf(leaf: Simple) -> Any:
    kind, value = leaf
    match kind:
        case "date":
            return json_value(value, pa.date32())
        case "timestamp" | "timestamp_ntz":
            zone = "+00:00" if kind == "timestamp" else ""
            return _moment(value, "%Y-%m-%d %H:%M:%S", trimmed=True) + zone
        case "timestamp_nanos" | "timestamp_ntz_nanos":
            zone = "+00:00" if kind == "timestamp_nanos" else ""
            micros, nanos = divmod(value, 1000)
            text = f"{_moment(micros, '%Y-%m-%d %H:%M:%S')}.{micros % 1_000_000:06d}{nanos:03d}"
            return text.rstrip("0").rstrip(".") + zone
        case "time":
            return _moment(value, "%Y %H:%M:%S", trimmed=True).partition(" ")[2]
        case "uuid":
            return str(value)
        case "float":
            return json_value(value, pa.float32())
        case _:
            return json_value(value, pa.null())


def _key_text(key: Any, kind: pa.DataType) -> str:
    value = json_value(key, kind)
    return value if isinstance(value, str) else json_text(value)


def _moment(micros: int, form: str, *, trimmed: bool = False, millis: bool = False) -> str:
    seconds, fraction = divmod(micros, 1_000_000)
    try:
        at = _EPOCH + timedelta(seconds=seconds)
    except OverflowError:
        # A year outside of Python's range is shown as a count.
        return f"{micros} microseconds since 1970"
    text = f"{at.year:04d}" + at.strftime(form.removeprefix("%Y"))
    if millis:
        return f"{text}.{fraction // 1000:03d}"
    return f"{text}.{fraction:06d}".rstrip("0").rstrip(".") if trimmed else text


def double_text(value: float, *, is_single: bool = False) -> str:
    """Return a float as Java prints it."""
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "Infinity" if value > 0 else "-Infinity"
    digits = _shortest_single(value) if is_single else repr(value)
    if value == 0 or 1e-3 <= abs(value) < 1e7:
        plain = f"{Decimal(digits):f}"
        return plain if "." in plain else f"{plain}.0"
    sign, numbers, exponent = Decimal(digits).normalize().as_tuple()
    assert isinstance(exponent, int)
    text = "".join(map(str, numbers))
    power = exponent + len(text) - 1
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{power}"


def _shortest_single(value: float) -> str:
    wanted = pa.scalar(value, pa.float32())
    for precision in range(1, 10):
        text = f"{value:.{precision}g}"
        if pa.scalar(float(text), pa.float32()) == wanted:
            return text
    return repr(value)
