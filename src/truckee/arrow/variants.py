"""Variants without a JVM: their two byte strings as values of Python.

A variant is a value and the names of its fields (`metadata`), in the binary encoding of Parquet.
Numbers are little-endian, and sizes of numbers are given in header bytes:

| bytes of `metadata`       | meaning                                                          |
|---------------------------|------------------------------------------------------------------|
| 1                         | bits 0-3: the version, 1; bits 6-7: the size of offsets, less 1  |
| one offset                | the number n of names                                            |
| n + 1 offsets             | where each name begins, and where the last one ends              |
| the rest                  | the names, UTF-8                                                 |

| low 2 bits of `value` | upper 6 bits                       | what follows                        |
|-----------------------|------------------------------------|-------------------------------------|
| 0, simple value       | its type, see `_NUMBERS`           | the value                           |
| 1, short text         | its length                         | the text                            |
| 2, object             | sizes of offsets and ids, is large | count, ids of names, offsets, values|
| 3, array              | size of offsets, is large          | count, offsets, values              |
"""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from itertools import pairwise
from struct import Struct as Layout
from struct import error as NotEnoughBytes
from typing import Any, NamedTuple
from uuid import UUID

import pyarrow as pa

VARIANT = pa.struct(
    [
        pa.field("value", pa.binary(), nullable=False),
        pa.field("metadata", pa.binary(), nullable=False),
    ]
)
"""The type of variants in Arrow."""

_MOST_DIGITS = 38


class Simple(NamedTuple):
    """A simple value in a variant: its kind, and the value.

    Kinds are null, boolean, int, double, float, decimal, date, timestamp, timestamp_ntz, time,
    binary, string and uuid. Dates are days, times and timestamps are microseconds, with `_nanos`
    at the end of the kind nanoseconds.
    """

    kind: str
    value: Any


_NUMBERS: dict[int, tuple[str, Layout]] = {
    3: ("int", Layout("<b")),
    4: ("int", Layout("<h")),
    5: ("int", Layout("<i")),
    6: ("int", Layout("<q")),
    7: ("double", Layout("<d")),
    11: ("date", Layout("<i")),
    12: ("timestamp", Layout("<q")),
    13: ("timestamp_ntz", Layout("<q")),
    14: ("float", Layout("<f")),
    17: ("time", Layout("<q")),
    18: ("timestamp_nanos", Layout("<q")),
    19: ("timestamp_ntz_nanos", Layout("<q")),
}
_CONSTANTS = {0: ("null", None), 1: ("boolean", True), 2: ("boolean", False)}
_DECIMALS = {8: 4, 9: 8, 10: 16}
_BINARY, _STRING, _UUID = 15, 16, 20

_Leaf = Callable[[Simple], Any]


def variant_value(value: bytes, metadata: bytes, leaf: _Leaf) -> Any:
    """Return a variant as dicts and lists of what `leaf` makes of its simple values.

    Fields of objects are in the order of their names. Raises ValueError if the bytes are no
    variant.
    """
    try:
        return _Reader(value, _names(metadata), leaf).at(0)
    except (IndexError, NotEnoughBytes, RecursionError) as error:
        raise ValueError(f"these bytes are not a variant: {error}") from error


def _names(metadata: bytes) -> list[str]:
    header = metadata[0]
    if header & 0x0F != 1:
        raise ValueError(f"its version is {header & 0x0F}, expected 1")
    size = (header >> 6) + 1
    count = _unsigned(metadata, 1, size)
    first = 1 + size * (count + 2)
    if first > len(metadata):
        raise ValueError("its names are cut off")
    ends = [_unsigned(metadata, 1 + size * (1 + n), size) for n in range(count + 1)]
    return [_part(metadata, first + start, end - start).decode() for start, end in pairwise(ends)]


def _unsigned(data: bytes, start: int, size: int) -> int:
    return int.from_bytes(_part(data, start, size), "little")


def _part(data: bytes, start: int, size: int) -> bytes:
    if size < 0 or start + size > len(data):
        raise ValueError("it is cut off")
    return data[start : start + size]


class _Reader:
    """Reads the values of one variant by their positions in its bytes."""

    def __init__(self, data: bytes, names: list[str], leaf: _Leaf) -> None:
        self._data = data
        self._names = names
        self._leaf = leaf
        # Each value has bytes of its own. If values could share them, a few bytes could stand for
        # more values than there is memory.
        self._values_left = len(data)

    def at(self, start: int) -> Any:
        """Return the value that begins at a position."""
        self._values_left -= 1
        if self._values_left < 0:
            raise ValueError("it has more values than bytes")
        header = self._data[start]
        kind, rest = header & 3, header >> 2
        match kind:
            case 0:
                return self._leaf(self._simple(rest, start + 1))
            case 1:
                return self._leaf(Simple("string", self._text(start + 1, rest)))
            case 2:
                return self._object(rest, start + 1)
            case _:
                return self._array(rest, start + 1)

    def _simple(self, kind: int, start: int) -> Simple:
        if kind in _CONSTANTS:
            return Simple(*_CONSTANTS[kind])
        if kind in _NUMBERS:
            name, layout = _NUMBERS[kind]
            return Simple(name, layout.unpack_from(self._data, start)[0])
        if kind in _DECIMALS:
            return Simple("decimal", self._decimal(start, _DECIMALS[kind]))
        if kind == _UUID:
            return Simple("uuid", UUID(bytes=_part(self._data, start, 16)))
        if kind not in (_BINARY, _STRING):
            raise ValueError(f"it has a value of type {kind}, which is not known")
        size = _unsigned(self._data, start, 4)
        if kind == _STRING:
            return Simple("string", self._text(start + 4, size))
        return Simple("binary", _part(self._data, start + 4, size))

    def _decimal(self, start: int, size: int) -> Decimal:
        """Return a decimal without trailing zeros, as Spark compares and shows it."""
        scale = self._data[start]
        unscaled = int.from_bytes(_part(self._data, start + 1, size), "little", signed=True)
        if scale > _MOST_DIGITS or abs(unscaled) >= 10**_MOST_DIGITS:
            raise ValueError("it has a decimal with too many digits")
        while scale and unscaled % 10 == 0:
            unscaled, scale = unscaled // 10, scale - 1
        digits = tuple(int(digit) for digit in str(abs(unscaled)))
        return Decimal((int(unscaled < 0), digits, -scale))

    def _text(self, start: int, size: int) -> str:
        return _part(self._data, start, size).decode()

    def _object(self, header: int, start: int) -> dict[str, Any]:
        offset_size, id_size = (header & 3) + 1, (header >> 2 & 3) + 1
        count, ids = self._count(start, is_large=bool(header >> 4 & 1))
        offsets = ids + count * id_size
        values = offsets + (count + 1) * offset_size
        found = {}
        for n in range(count):
            name = self._names[_unsigned(self._data, ids + n * id_size, id_size)]
            place = _unsigned(self._data, offsets + n * offset_size, offset_size)
            found[name] = self.at(values + place)
        return dict(sorted(found.items()))

    def _array(self, header: int, start: int) -> list[Any]:
        size = (header & 3) + 1
        count, offsets = self._count(start, is_large=bool(header >> 2 & 1))
        values = offsets + (count + 1) * size
        if values > len(self._data):
            raise ValueError("it is cut off")
        return [
            self.at(values + _unsigned(self._data, offsets + n * size, size)) for n in range(count)
        ]

    def _count(self, start: int, *, is_large: bool) -> tuple[int, int]:
        """Return the number of values in an object or array, and the position behind it."""
        size = 4 if is_large else 1
        return _unsigned(self._data, start, size), start + size
