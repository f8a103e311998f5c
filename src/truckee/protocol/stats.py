"""Statistics of one data file (`add.stats`), by which a reader may skip the file.

    {"numRecords":3,"minValues":{"a":1,"s":{"x":"b"}},"maxValues":{"a":9,"s":{"x":"q"}},
     "nullCount":{"a":0,"s":{"x":1}},"tightBounds":true}

Columns have their physical names, structs are nested. A bound may be looser than the actual value:
long strings are truncated, and so are timestamps below a millisecond. Bounds are *tight* if they
describe the current rows, *wide* once a deletion vector may have removed the rows they came from.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any, TypeAlias

import msgspec
from msgspec import Struct

from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import (
    DataType,
    DecimalType,
    FieldChain,
    PrimitiveType,
    StructType,
    leaf_columns,
)
from truckee.protocol.temporal import days_of, micros_of

Nested: TypeAlias = Mapping[str, Any]

_LAST_ASCII = "\x7f"
_LAST_CHARACTER = "\U0010ffff"
_FLOAT_WORDS = {"NaN": float("nan"), "Infinity": float("inf"), "-Infinity": float("-inf")}


class FileStats(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """Statistics of the rows of one file; bounds are in their JSON form.

    `num_records` counts the rows in the file, deleted or not. An absent `tight_bounds` is true.
    """

    num_records: int | None = None
    min_values: Nested = msgspec.field(default_factory=dict)
    max_values: Nested = msgspec.field(default_factory=dict)
    null_count: Nested = msgspec.field(default_factory=dict)
    tight_bounds: bool | None = None

    @property
    def are_tight(self) -> bool:
        """Whether min, max and null counts describe the current rows exactly."""
        return self.tight_bounds is not False


_decoder = msgspec.json.Decoder(float_hook=Decimal)
_encoder = msgspec.json.Encoder(decimal_format="number")


def parse_stats(text: str | None) -> FileStats | None:
    """Return the statistics of a text; None if there are none, or if they cannot be read.

    Fractions are returned as Decimal, with every digit that was written.
    """
    if not text:
        return None
    try:
        found = _decoder.decode(text)
    except (*NOT_JSON, ArithmeticError):
        # Statistics that cannot be parsed count as absent, which only means reading more files.
        return None
    if not isinstance(found, dict):
        return None
    num_records, tight = found.get("numRecords"), found.get("tightBounds")
    return FileStats(
        num_records=num_records if isinstance(num_records, int) else None,
        min_values=_nested(found.get("minValues")),
        max_values=_nested(found.get("maxValues")),
        null_count=_nested(found.get("nullCount")),
        tight_bounds=tight if isinstance(tight, bool) else None,
    )


def _nested(found: Any) -> Nested:
    return found if isinstance(found, dict) else {}


def encode_stats(stats: FileStats) -> str:
    """Return the JSON text of statistics for `add.stats`."""
    return _encoder.encode(stats).decode()


def with_wide_bounds(
    stats: FileStats | None, *, num_records: int, deleted_before: int = 0
) -> FileStats:
    """Return the statistics of a file after a deletion vector was attached or enlarged.

    `num_records` is the number of rows in the file, for statistics that do not have it;
    `deleted_before` is the cardinality of the previous vector. Bounds stay. A column that was null
    in every remaining row is marked as null in every row of the file, because other counts are no
    longer valid: with 10 rows, 2 of them deleted, `nullCount` 8 becomes 10.
    """
    if stats is None:
        return FileStats(num_records=num_records, tight_bounds=False)
    total = num_records if stats.num_records is None else stats.num_records
    null_count = stats.null_count
    if stats.are_tight:
        null_count = _with_all_null(null_count, total - deleted_before, total)
    return msgspec.structs.replace(
        stats, num_records=total, null_count=null_count, tight_bounds=False
    )


def _with_all_null(counts: Nested, rows_left: int, total: int) -> Nested:
    return {
        name: (
            _with_all_null(count, rows_left, total)
            if isinstance(count, Mapping)
            else total
            if count == rows_left
            else count
        )
        for name, count in counts.items()
    }


def stats_columns(
    schema: StructType, partition_columns: Iterable[str], properties: TableProperties
) -> list[FieldChain]:
    """Return the columns that statistics are written for: leaves in the order of the schema.

    Those that `delta.dataSkippingStatsColumns` names, directly or by a struct around them; else the
    first `delta.dataSkippingNumIndexedCols`, where -1 means all.
    """
    partitions = {name.casefold() for name in partition_columns}
    leaves = [c for c in leaf_columns(schema) if c.path[0].casefold() not in partitions]
    named = properties.data_skipping_stats_columns
    if named is not None:
        wanted = [_folded(path) for path in named]
        return [c for c in leaves if any(_folded(c.path)[: len(w)] == w for w in wanted)]
    count = properties.data_skipping_num_indexed_cols
    return leaves if count == -1 else leaves[:count]


def _folded(path: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.casefold() for name in path)


def has_bounds(data_type: DataType) -> bool:
    """Return whether statistics are written with min and max for columns of a type."""
    return isinstance(data_type, DecimalType) or (
        isinstance(data_type, PrimitiveType) and data_type.name in _BOUNDED
    )


_BOUNDED = frozenset(
    {"byte", "short", "integer", "long", "float", "double"}
    | {"string", "date", "timestamp", "timestamp_ntz"}
)


def lower_bound(value: Any, data_type: DataType, *, prefix_length: int = 32) -> Any:
    """Return the bound in `minValues` for the least value of a column, None if it has none.

    Strings are truncated to `prefix_length` characters, which never makes them greater.
    """
    if isinstance(value, str):
        return value[:prefix_length]
    return _bound(value, data_type)


def upper_bound(value: Any, data_type: DataType, *, prefix_length: int = 32) -> Any:
    """Return the bound in `maxValues` for the greatest value of a column, None if it has none.

    A truncated string gets one more character, so that the bound is above it. Timestamps are
    truncated as in `lower_bound`; readers add a millisecond.
    """
    if isinstance(value, str):
        return _string_above(value, prefix_length)
    return _bound(value, data_type)


def _string_above(value: str, prefix_length: int) -> str | None:
    if len(value) <= prefix_length:
        return value
    following = value[prefix_length]
    if following == _LAST_CHARACTER:
        return None
    return value[:prefix_length] + (_LAST_ASCII if following < _LAST_ASCII else _LAST_CHARACTER)


def _bound(value: Any, data_type: DataType) -> Any:
    match value:
        case float() if value != value:
            return "NaN"
        case float() if abs(value) == float("inf"):
            return "Infinity" if value > 0 else "-Infinity"
        case datetime():
            return timestamp_bound(value)
        case date():
            return value.isoformat()
        case _:
            return value if has_bounds(data_type) else None


def timestamp_bound(value: datetime) -> str:
    """Return a timestamp in milliseconds, as `2023-06-15T12:30:00.123Z`; Z only with a zone."""
    zone = "" if value.tzinfo is None else "Z"
    if value.tzinfo is not None:
        value = value.astimezone(timezone.utc)
    return f"{value.replace(tzinfo=None).isoformat(timespec='milliseconds')}{zone}"


def bound_value(raw: Any, data_type: DataType) -> Any:
    """Return a bound of the JSON as a comparable value, None if it is not of the column's type.

    Numbers and strings stay as they are; dates become days, timestamps microseconds since 1970.
    """
    try:
        return _bound_value(raw, data_type)
    except (ValueError, ArithmeticError):
        return None


def _bound_value(raw: Any, data_type: DataType) -> Any:
    if raw is None:
        return None
    name = data_type.name if isinstance(data_type, PrimitiveType | DecimalType) else ""
    number = isinstance(raw, int | float | Decimal) and not isinstance(raw, bool)
    match name:
        case "byte" | "short" | "integer" | "long":
            return int(raw) if number and raw == int(raw) else None
        case "float" | "double":
            return float(raw) if number else _FLOAT_WORDS.get(raw)
        case "string":
            return raw if isinstance(raw, str) else None
        case "boolean":
            return raw if isinstance(raw, bool) else None
        case "date":
            return days_of(raw) if isinstance(raw, str) else None
        case "timestamp":
            return micros_of(raw, timezone.utc, zone_required=True) if _is_text(raw) else None
        case "timestamp_ntz":
            return micros_of(raw, None) if _is_text(raw) else None
        case _ if isinstance(data_type, DecimalType):
            return Decimal(raw) if number or _is_text(raw) else None
    return None


def _is_text(raw: Any) -> bool:
    return isinstance(raw, str)
