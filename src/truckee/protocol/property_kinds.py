"""How the text of a table property becomes a value: booleans, numbers, intervals, sizes, names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from truckee.errors.protocol import (
    InvalidIntervalError,
    InvalidIsolationLevelError,
    InvalidTablePropertyError,
)

_T_co = TypeVar("_T_co", covariant=True)


@dataclass(frozen=True)
class PropertyKind(Generic[_T_co]):
    """How the text of a property becomes a value: `parse` raises ValueError for invalid text."""

    parse: Callable[[str], _T_co]
    needs: str
    error: type[InvalidTablePropertyError] = InvalidTablePropertyError


def _boolean(text: str) -> bool:
    if text.lower() not in ("true", "false"):
        raise ValueError(text)
    return text.lower() == "true"


def _integer(text: str) -> int:
    # Python's int() accepts spaces and underscores, which other engines reject.
    if not re.fullmatch(r"[+-]?[0-9]+", text):
        raise ValueError(text)
    return int(text)


def _integer_from(least: int) -> Callable[[str], int]:
    def parse(text: str) -> int:
        number = _integer(text)
        if number < least:
            raise ValueError(text)
        return number

    return parse


def _one_of(*words: str) -> Callable[[str], str]:
    by_lower = {word.lower(): word for word in words}

    def parse(text: str) -> str:
        if text.lower() not in by_lower:
            raise ValueError(text)
        return by_lower[text.lower()]

    return parse


_UNIT_US = {
    "microsecond": 1,
    "millisecond": 1000,
    "second": 1_000_000,
    "minute": 60_000_000,
    "hour": 3_600_000_000,
    "day": 86_400_000_000,
    "week": 7 * 86_400_000_000,
}
_INTERVAL_TERM = re.compile(
    r"([+-]?)\s*(\d+)(\.\d*)?\s+(microsecond|millisecond|second|minute|hour|day|week)s?(?=\s|$)\s*"
)


def parse_interval_ms(text: str) -> int:
    """Return the milliseconds of an interval such as `interval 30 days` or `1 week 12 hours`.

    Months and years have no fixed length and raise ValueError, as do negative intervals.
    """
    rest = text.strip().lower()
    rest = rest.removeprefix("interval ").strip()
    if not rest:
        raise ValueError(text)
    total_us = 0
    while rest:
        term = _INTERVAL_TERM.match(rest)
        if term is None or (term[3] and term[4] != "second"):
            raise ValueError(text)
        fraction_us = int((term[3] or ".")[1:].ljust(6, "0")[:6])
        amount_us = int(term[2]) * _UNIT_US[term[4]] + fraction_us
        total_us += -amount_us if term[1] == "-" else amount_us
        rest = rest[term.end() :]
    if total_us < 0:
        raise ValueError(text)
    return total_us // 1000


_BYTES = re.compile(r"\s*([0-9]+)\s*(?:([kmgtp]?)i?b?)\s*", re.ASCII | re.IGNORECASE)


def parse_bytes(text: str) -> int:
    """Return the bytes of a size such as `1073741824`, `128m` or `1gb`; units step by 1024.

    Raises ValueError for other text.
    """
    found = _BYTES.fullmatch(text)
    if found is None:
        raise ValueError(text)
    return int(found[1]) << 10 * " kmgtp".index(found[2].lower() or " ")


_COLUMN_NAME_PART = re.compile(r"\s*(?:`((?:[^`]|``)+)`|([^`.,\s]+))\s*")


def parse_column_names(text: str) -> tuple[tuple[str, ...], ...]:
    """Return the paths in a list of column names: `a, b.c, `x.y`` is (a), (b, c) and (x.y)."""
    columns: list[tuple[str, ...]] = []
    parts: list[str] = []
    position = 0
    while True:
        part = _COLUMN_NAME_PART.match(text, position)
        if part is None:
            raise ValueError(text)
        parts.append(part[1].replace("``", "`") if part[1] else part[2])
        position = part.end()
        if position == len(text):
            return (*columns, tuple(parts))
        if text[position] == ",":
            columns.append(tuple(parts))
            parts = []
        position += 1


def _column_list(text: str) -> tuple[tuple[str, ...], ...]:
    # What is left of a list whose columns were all dropped.
    return parse_column_names(text) if text.strip() else ()


def column_names_text(paths: Iterable[tuple[str, ...]]) -> str:
    """Return the list of column names that `parse_column_names` reads as these paths."""
    quoted = (("`" + name.replace("`", "``") + "`" for name in path) for path in paths)
    return ",".join(map(".".join, quoted))


def _formats(text: str) -> tuple[str, ...]:
    formats = tuple(part.strip() for part in text.split(",") if part.strip())
    if len(set(formats)) != len(formats) or not set(formats) <= {"iceberg", "hudi"}:
        raise ValueError(text)
    return formats


TRUE_OR_FALSE = PropertyKind(_boolean, "true or false")
INTEGER = PropertyKind(_integer, "an integer")
POSITIVE = PropertyKind(_integer_from(1), "an integer above 0")
NOT_NEGATIVE = PropertyKind(_integer_from(0), "an integer of 0 or more")
COUNT_OR_ALL = PropertyKind(_integer_from(-1), "an integer of 0 or more, or -1 for all")
BYTES = PropertyKind(parse_bytes, "a number of bytes, such as 104857600 or 100mb")
INTERVAL = PropertyKind(
    parse_interval_ms,
    "an interval without months and years, such as 'interval 30 days'",
    InvalidIntervalError,
)
MAPPING_MODE = PropertyKind(_one_of("none", "name", "id"), "none, name or id")
ISOLATION_LEVEL = PropertyKind(
    _one_of("Serializable", "WriteSerializable", "SnapshotIsolation"),
    "Serializable",
    InvalidIsolationLevelError,
)
CHECKPOINT_POLICY = PropertyKind(_one_of("classic", "v2"), "classic or v2")
AUTO_COMPACT = PropertyKind(
    _one_of("true", "false", "auto", "legacy"), "true, false, auto or legacy"
)
COLUMN_NAMES = PropertyKind(_column_list, "a list of column names with commas between them")
FORMATS = PropertyKind(_formats, "a list of distinct formats out of iceberg and hudi")
TEXT = PropertyKind(str, "a text")
