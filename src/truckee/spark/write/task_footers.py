"""What the tasks of a write job report about their files (see `TruckeeCommit.java`).

| field of a line | meaning                                                                    |
|-----------------|----------------------------------------------------------------------------|
| 1               | the path below the table's root, UTF-8 in base 64                          |
| 2, 3            | size in bytes, time in milliseconds                                        |
| 4               | the number of rows of each row group, separated by commas                  |
| 5 and on        | one wanted column each: a chunk for each row group, separated by bars      |

A chunk is `nulls,values,least,greatest`, with `-` for what the footer does not say; bounds are in
Parquet's plain encoding, in base 64. A single `-` is a chunk without statistics.
"""

from __future__ import annotations

import struct
from base64 import b64decode
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, NamedTuple

from truckee.protocol.schema import DataType, DecimalType
from truckee.scan.footer_statistics import Footer, FooterColumn, column_bounds
from truckee.storage.base import FileInfo

_INT32, _INT64 = struct.Struct("<i"), struct.Struct("<q")
_NUMBERS = {
    "byte": _INT32,
    "short": _INT32,
    "integer": _INT32,
    "date": _INT32,
    "long": _INT64,
    "timestamp": _INT64,
    "timestamp_ntz": _INT64,
    "float": struct.Struct("<f"),
    "double": struct.Struct("<d"),
}


class TaskFile(NamedTuple):
    """A file that a task wrote, and what its footer tells."""

    file: FileInfo
    footer: Footer


def wanted_leaves(columns: Sequence[FooterColumn]) -> list[int]:
    """Return the numbers of the file's columns to ask for, in the order of the answer."""
    return [leaf for column in columns for leaf in range(column.first, column.last + 1)]


def task_files(message: str, columns: Sequence[FooterColumn]) -> Iterator[TaskFile]:
    """Yield the files of a job whose tasks were asked for `wanted_leaves(columns)`."""
    for line in message.splitlines():
        path, size, time_ms, rows, *chunks = line.split("\t")
        file = FileInfo(b64decode(path).decode(), int(size), int(time_ms))
        counts = [int(count) for count in rows.split(",")]
        yield TaskFile(file, _footer(counts, chunks, columns))


def _footer(counts: Sequence[int], chunks: list[str], columns: Sequence[FooterColumn]) -> Footer:
    leaves = iter(chunks)
    bounds = {}
    for column in columns:
        own = [next(leaves).split("|") for _ in range(column.first, column.last + 1)]
        groups = [
            [_chunk(leaf, column.type) for leaf in group]
            for count, group in zip(counts, zip(*own, strict=True), strict=True)
            if count
        ]
        bounds[column.path] = column_bounds(column, groups)
    return Footer(sum(counts), bounds)


@dataclass(frozen=True)
class _Chunk:
    """Statistics of one column of one row group, as `column_bounds` asks for them."""

    type: DataType
    nulls: int | None
    num_values: int
    least: bytes | None
    greatest: bytes | None

    @property
    def has_null_count(self) -> bool:
        return self.nulls is not None

    @property
    def null_count(self) -> int:
        return self.nulls or 0

    @property
    def has_min_max(self) -> bool:
        return self.least is not None and self.greatest is not None

    @property
    def min_raw(self) -> Any:
        return _value(self.least, self.type)

    @property
    def max_raw(self) -> Any:
        return _value(self.greatest, self.type)

    min = min_raw
    max = max_raw


def _chunk(text: str, data_type: DataType) -> _Chunk | None:
    if text == "-":
        return None
    nulls, values, least, greatest = text.split(",")
    return _Chunk(
        data_type,
        None if nulls == "-" else int(nulls),
        int(values),
        None if least == "-" else b64decode(least),
        None if greatest == "-" else b64decode(greatest),
    )


def _value(data: bytes | None, data_type: DataType) -> Any:
    assert data is not None
    if isinstance(data_type, DecimalType):
        return _decimal(data, data_type)
    number = _NUMBERS.get(getattr(data_type, "name", ""))
    return data if number is None else number.unpack(data)[0]


def _decimal(data: bytes, data_type: DecimalType) -> Decimal:
    if data_type.precision <= 18:
        unscaled = (_INT32 if data_type.precision <= 9 else _INT64).unpack(data)[0]
    else:
        unscaled = int.from_bytes(data, "big", signed=True)
    digits = tuple(int(digit) for digit in str(abs(unscaled)))
    return Decimal((int(unscaled < 0), digits, -data_type.scale))
