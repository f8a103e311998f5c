"""Statistics of many files as columns: the bounds of a few data columns, from JSON.

A table of 100,000 files has as many JSON texts, each with dozens of columns, but a predicate needs
only one or two of them. Only those are decoded, into a type that is created for them.

Bounds have a form that compares quickly and never excludes a value that is in the file:

| type                     | Arrow type      | lower bound        | upper bound                  |
|--------------------------|-----------------|--------------------|------------------------------|
| byte to long, boolean    | int64           | as written         | as written                   |
| date                     | int64, days     | as written (*)     | as written (*)               |
| timestamp, timestamp_ntz | int64, micros   | as written (*)     | one millisecond more (*)     |
| float, double            | float32, float64| as written         | as written                   |
| decimal                  | decimal256      | rounded down       | rounded up                   |
| string                   | string          | as written         | as written                   |

(*) loosened by some days before 1900, where calendars and time zones depend on the reader.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, datetime
from decimal import ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
from msgspec import Struct

from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.schema import DataType, DecimalType, FieldChain, PrimitiveType
from truckee.protocol.stats import bound_value, parse_stats
from truckee.protocol.temporal import EPOCH_DATE, micros_since_epoch

_BATCH = 1 << 16
_MAX_INT64 = (1 << 63) - 1
_MILLISECOND_US = 1000
_EXACT = Context(prec=100)
# Some writers convert decimals to a double, which is exact up to this many digits, and otherwise
# off by at most this fraction of the number.
_DIGITS_OF_DOUBLE = 15
_ERROR_OF_DOUBLE = Decimal(2) ** -52
_PER_DAY = {"date": 1, "timestamp": 86_400_000_000, "timestamp_ntz": 86_400_000_000}
_LAST_OLD_DAY = (date(1900, 1, 1) - EPOCH_DATE).days
_JULIAN_DAYS_APART = 13
_FLOAT_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class DataColumn(Struct, frozen=True):
    """A data column to look up in statistics: its physical path, and its type."""

    path: tuple[str, ...]
    type: DataType
    has_sound_bounds: bool = True

    @classmethod
    def of(cls, chain: FieldChain, mode: str) -> DataColumn:
        """Return a column of the schema, as statistics name it under a column mapping mode."""
        path = chain.path if mode == "none" else chain.physical_path
        return cls(path, chain.field.type, not _was_float(chain))


def _was_float(chain: FieldChain) -> bool:
    # Bounds of files older than the change are short float texts: 0.1 for 0.100000001490116.
    return any(change.get("fromType") == "float" for change in chain.field.type_changes)


class ColumnStatistics(Struct, frozen=True):
    """The statistics of one column in many files; null for what is not known."""

    lower: pa.Array
    upper: pa.Array
    null_count: pa.Array
    num_records: pa.Array


def column_statistics(
    texts: pa.ChunkedArray, columns: Sequence[DataColumn]
) -> list[ColumnStatistics]:
    """Return the statistics of some columns from the `add.stats` of files, one row per file."""
    reader = _StatsReader(columns)
    num_records: list[int | None] = []
    found = [_Found([], [], []) for _ in columns]
    for start in range(0, len(texts), _BATCH):
        stats = [reader.decode(text) for text in texts.slice(start, _BATCH).to_pylist()]
        num_records.extend(s.num_records for s in stats)
        for column, lists in zip(columns, found, strict=True):
            steps = reader.steps[column.path]
            lists.lower.extend(_at(s.min_values, steps) for s in stats)
            lists.upper.extend(_at(s.max_values, steps) for s in stats)
            lists.null_count.extend(_at(s.null_count, steps) for s in stats)
    counted = _integers(num_records)
    return [_typed(column, lists, counted) for column, lists in zip(columns, found, strict=True)]


class _Found(Struct, gc=False):
    """The JSON values of one column, one item per file."""

    lower: list[Any]
    upper: list[Any]
    null_count: list[Any]


class _StatsReader:
    """Decodes a few columns out of a JSON text.

    The type to decode into is created for these columns. A name in the JSON need not be a valid
    name in Python, so `steps` has the attributes to follow from the outermost struct.
    """

    def __init__(self, columns: Sequence[DataColumn]) -> None:
        self._wires = {c.path: _wire_type(c) for c in columns}
        bounds, self.steps = _nested_type(self._wires)
        counts, _ = _nested_type(dict.fromkeys(self._wires, int | None))
        self._type: Any = msgspec.defstruct(
            "Stats",
            [
                ("num_records", int | None, None),
                ("min_values", bounds | None, None),
                ("max_values", bounds | None, None),
                ("null_count", counts | None, None),
            ],
            rename="camel",
            gc=False,
        )
        self._decode = msgspec.json.Decoder(self._type).decode
        self._nothing = self._type()

    def decode(self, text: str | None) -> Any:
        """Return the statistics of a file; None for what is missing or cannot be read."""
        if not text:
            return self._nothing
        try:
            return self._decode(text)
        except (*NOT_JSON, ArithmeticError):
            return self._leniently_decoded(text)

    def _leniently_decoded(self, text: str) -> Any:
        # One value of an unexpected kind must not discard the others of the file.
        stats = parse_stats(text)
        if stats is None:
            return self._nothing
        counts: dict[tuple[str, ...], Any] = dict.fromkeys(self._wires, int | None)
        return msgspec.convert(
            {
                "numRecords": stats.num_records,
                "minValues": _only(stats.min_values, self._wires),
                "maxValues": _only(stats.max_values, self._wires),
                "nullCount": _only(stats.null_count, counts),
            },
            self._type,
        )


def _nested_type(
    wires: Mapping[tuple[str, ...], Any],
) -> tuple[Any, dict[tuple[str, ...], tuple[str, ...]]]:
    by_name: dict[str, dict[tuple[str, ...], Any]] = {}
    for path, wire in wires.items():
        by_name.setdefault(path[0], {})[path[1:]] = wire
    fields: list[tuple[str, Any, Any]] = []
    steps: dict[tuple[str, ...], tuple[str, ...]] = {}
    for number, (name, inner) in enumerate(by_name.items()):
        attribute = f"c{number}"
        if () in inner:
            fields.append((attribute, inner[()], None))
            steps[(name,)] = (attribute,)
        else:
            nested, nested_steps = _nested_type(inner)
            fields.append((attribute, nested | None, None))
            steps |= {(name, *path): (attribute, *s) for path, s in nested_steps.items()}
    rename = {f"c{number}": name for number, name in enumerate(by_name)}
    return msgspec.defstruct("Columns", fields, rename=rename, gc=False), steps


def _at(found: Any, steps: tuple[str, ...]) -> Any:
    for step in steps:
        if found is None:
            return None
        found = getattr(found, step)
    return found


def _only(found: Mapping[str, Any], wires: Mapping[tuple[str, ...], Any]) -> dict[str, Any]:
    kept: dict[str, Any] = {}
    for path, wire in wires.items():
        value: Any = found
        for name in path:
            value = value.get(name) if isinstance(value, Mapping) else None
        try:
            value = msgspec.convert(value, wire)
        except NOT_JSON:
            continue
        inner = kept
        for name in path[:-1]:
            inner = inner.setdefault(name, {})
        inner[path[-1]] = value
    return kept


_TEXT_TYPES = frozenset({"string", "date", "timestamp", "timestamp_ntz"})
_INTEGER_TYPES = frozenset({"byte", "short", "integer", "long"})
_FLOAT_TYPES = {"float": pa.float32(), "double": pa.float64()}


def _wire_type(column: DataColumn) -> Any:
    if isinstance(column.type, DecimalType):
        return Decimal | None
    name = _name(column.type)
    if name in _TEXT_TYPES:
        return str | None
    if name in _INTEGER_TYPES:
        return int | None
    if name in _FLOAT_TYPES:
        return float | str | None
    return bool | None if name == "boolean" else Any


def _name(data_type: DataType) -> str:
    return data_type.name if isinstance(data_type, PrimitiveType) else ""


def _typed(column: DataColumn, found: _Found, num_records: pa.Array) -> ColumnStatistics:
    if not column.has_sound_bounds:
        found = _Found([None] * len(found.lower), [None] * len(found.upper), found.null_count)
    return ColumnStatistics(
        _bounds(found.lower, column.type, upper=False),
        _bounds(found.upper, column.type, upper=True),
        _integers(found.null_count),
        num_records,
    )


def _bounds(raw: list[Any], data_type: DataType, *, upper: bool) -> pa.Array:
    if isinstance(data_type, DecimalType):
        rounded = [_rounded(value, data_type, upper=upper) for value in raw]
        return pa.array(rounded, pa.decimal256(76, data_type.scale))
    name = _name(data_type)
    if name in _INTEGER_TYPES:
        return _integers(raw)
    if name in _FLOAT_TYPES:
        floats = [_FLOAT_WORDS.get(v) if isinstance(v, str) else v for v in raw]
        return pa.array(floats, _FLOAT_TYPES[name])
    if name == "string":
        return pa.array(raw, pa.string())
    if name == "boolean":
        return pa.array(raw, pa.bool_()).cast(pa.int64())
    if name not in _TEXT_TYPES:
        return pa.nulls(len(raw), pa.int64())
    counts = _loosened(_counts(raw, data_type), _PER_DAY[name], upper=upper)
    if name == "date" or not upper:
        return counts
    highest = pa.scalar(_MAX_INT64 - _MILLISECOND_US)
    return pc.add(pc.min_element_wise(counts, highest, skip_nulls=False), _MILLISECOND_US)


def _loosened(counts: pa.Array, per_day: int, *, upper: bool) -> pa.Array:
    # Old writers stored early dates in the Julian calendar and in their own local time,
    # which readers may or may not convert; the difference is never larger than this.
    apart = _JULIAN_DAYS_APART * per_day
    if upper:
        loose = pc.add(counts, apart)
    else:
        lowest = pa.scalar(apart - _MAX_INT64)
        loose = pc.subtract(pc.max_element_wise(counts, lowest, skip_nulls=False), apart)
    return pc.if_else(pc.less(counts, _LAST_OLD_DAY * per_day), loose, counts)


def _integers(raw: list[Any]) -> pa.Array:
    try:
        return pa.array(raw, pa.int64())
    except (pa.ArrowInvalid, OverflowError):
        return pa.array([v if v is None or abs(v) < 1 << 63 else None for v in raw], pa.int64())


_COUNTED_AS: Mapping[str, tuple[pa.DataType, pa.DataType]] = {
    "date": (pa.date32(), pa.int32()),
    "timestamp": (pa.timestamp("us", tz="UTC"), pa.int64()),
    "timestamp_ntz": (pa.timestamp("us"), pa.int64()),
}


def _counts(texts: list[str | None], data_type: DataType) -> pa.Array:
    arrow_type, count_type = _COUNTED_AS[_name(data_type)]
    try:
        return pa.array(texts, pa.string()).cast(arrow_type).cast(count_type).cast(pa.int64())
    except pa.ArrowInvalid:
        # Arrow is fast, but does not parse all spellings and years.
        return _integers([bound_value(text, data_type) for text in texts])


def _rounded(value: Decimal | None, data_type: DecimalType, *, upper: bool) -> Decimal | None:
    if value is None or not value.is_finite() or value.adjusted() >= 38:
        return None
    if data_type.precision > _DIGITS_OF_DOUBLE:
        error = _EXACT.multiply(abs(value), _ERROR_OF_DOUBLE)
        value = _EXACT.add(value, error) if upper else _EXACT.subtract(value, error)
    rounding = ROUND_CEILING if upper else ROUND_FLOOR
    return value.quantize(Decimal(1).scaleb(-data_type.scale), rounding, _EXACT)


def comparable_literal(value: Any, data_type: DataType) -> pa.Scalar | None:
    """Return a value in the form of a type's bounds, None if it has no such form.

    A value that is not exactly of the type, such as 1.5 for an integer, has none.
    """
    if isinstance(data_type, DecimalType):
        return _decimal_literal(value, data_type)
    is_number = isinstance(value, int | float | Decimal) and not isinstance(value, bool)
    match _name(data_type):
        case "byte" | "short" | "integer" | "long" if is_number:
            whole = value == value and abs(value) < 1 << 63 and value == int(value)
            return pa.scalar(int(value), pa.int64()) if whole else None
        case "float" | "double" as name if is_number:
            scalar = pa.scalar(float(value), _FLOAT_TYPES[name])
            return scalar if value != value or scalar.as_py() == value else None
        case "string" if isinstance(value, str):
            return pa.scalar(value, pa.string())
        case "boolean" if isinstance(value, bool):
            return pa.scalar(int(value), pa.int64())
        case "date" if isinstance(value, date) and not isinstance(value, datetime):
            return pa.scalar((value - EPOCH_DATE).days, pa.int64())
        case "timestamp" if isinstance(value, datetime) and value.tzinfo is not None:
            return pa.scalar(micros_since_epoch(value), pa.int64())
        case "timestamp_ntz" if isinstance(value, datetime) and value.tzinfo is None:
            return pa.scalar(micros_since_epoch(value), pa.int64())
    return None


def _decimal_literal(value: Any, data_type: DecimalType) -> pa.Scalar | None:
    if isinstance(value, bool) or not isinstance(value, int | Decimal):
        return None
    number = Decimal(value)
    if not number.is_finite() or number.adjusted() >= 38:
        return None
    scaled = number.quantize(Decimal(1).scaleb(-data_type.scale), context=_EXACT)
    return pa.scalar(scaled, pa.decimal256(76, data_type.scale)) if scaled == number else None
