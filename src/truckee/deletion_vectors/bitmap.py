"""RowBitmap: a set of row indexes of one data file, with the algebra of sets, and its bytes.

A row index counts the rows of the whole file from 0. The set is a 64-bit Roaring bitmap, which
takes about two bytes per row if rows are sparse, and almost nothing if they are dense.

A file of deletion vectors holds one version byte and then any number of framed vectors:

| offset       | size | order         | meaning                                           |
|--------------|------|---------------|---------------------------------------------------|
| 0            | 1    |               | format version, always 1                          |
| offset       | 4    | big-endian    | length n of the data; descriptors point here      |
| offset + 4   | n    |               | data: the magic, then the bitmap                  |
| offset + 4+n | 4    | big-endian    | CRC-32 of the data                                |

The data, which is all of an inline vector, starts with a magic number and is little-endian:

| magic        | bytes         | bitmap                                                            |
|--------------|---------------|-------------------------------------------------------------------|
| 1681511377   | `d1 d3 39 64` | portable: int64 count; for each bucket int32 key, 32-bit Roaring  |
| 1681511376   | `d0 d3 39 64` | native: int32 count; for keys 0, 1, ... int32 length, Roaring     |

Portable bitmaps are written; native ones are only read.
"""

from __future__ import annotations

import struct
from array import array
from collections.abc import Iterable, Iterator
from typing import Any, NoReturn
from zlib import crc32

from pyroaring import BitMap64, FrozenBitMap64

from truckee.errors.deletion_vectors import (
    CorruptDeletionVectorError,
    DeletionVectorChecksumMismatchError,
    DeletionVectorSizeMismatchError,
    RowIndexOutOfRangeError,
)

LARGEST_ROW_INDEX = 0x7FFFFFFE80000000
"""The largest index that every reader of deletion vectors supports."""

FILE_VERSION = b"\x01"
FRAME_SIZE = 8
PORTABLE_MAGIC = 1681511377
NATIVE_MAGIC = 1681511376

_MAGIC_SIZE = 4


class RowBitmap:
    """An immutable set of row indexes; `|`, `&`, `-` and comparisons are those of sets."""

    __slots__ = ("_rows",)

    def __init__(self, rows: Iterable[int] = ()) -> None:
        # The rows are read twice if one is out of range, which an iterator does not allow.
        again = list(rows) if isinstance(rows, Iterator) else rows
        try:
            bitmap = FrozenBitMap64(again)
        except OverflowError:
            strange = next(row for row in again if not 0 <= row <= LARGEST_ROW_INDEX)
            raise _out_of_range(strange) from None
        if bitmap and bitmap.max() > LARGEST_ROW_INDEX:
            raise _out_of_range(bitmap.max())
        self._rows = bitmap

    @classmethod
    def union(cls, bitmaps: Iterable[RowBitmap]) -> RowBitmap:
        """Return the rows that are in any of the sets."""
        return _wrap(FrozenBitMap64().union(*(bitmap._rows for bitmap in bitmaps)))

    @classmethod
    def deserialize_portable(cls, data: bytes) -> RowBitmap:
        """Return the set that `serialize_portable` wrote as these bytes.

        Raises ValueError if the bytes are not a 64-bit Roaring bitmap, or contain an index that no
        row can have.
        """
        # pyroaring would take the address of the first byte, even of an empty buffer.
        if not data:
            raise ValueError("there are no bytes")
        bitmap = FrozenBitMap64.deserialize(data)
        if bitmap and bitmap.max() > LARGEST_ROW_INDEX:
            raise ValueError(f"row index {bitmap.max()} is larger than {LARGEST_ROW_INDEX}")
        return _wrap(bitmap)

    def serialize_portable(self) -> bytes:
        """Return the set in the portable 64-bit format of Roaring, runs included."""
        copy = BitMap64(self._rows)
        copy.run_optimize()
        return copy.serialize()

    @property
    def max(self) -> int | None:
        """The largest row index, or None if there is no row."""
        return int(self._rows.max()) if self._rows else None

    def to_array(self) -> array[int]:
        """Return the row indexes in ascending order as unsigned 64-bit integers."""
        found: array[int] = self._rows.to_array()
        return found

    def count_between(self, start: int, stop: int) -> int:
        """Return the number of rows from `start` up to, but excluding, `stop`."""
        return int(self._rows.range_cardinality(start, stop))

    def between(self, start: int, stop: int) -> array[int]:
        """Return the rows from `start` up to, but excluding, `stop`, as `to_array` does."""
        return (self & _wrap(FrozenBitMap64(range(start, stop)))).to_array()

    def missing(self, start: int, stop: int) -> array[int]:
        """Return the numbers from `start` up to, but excluding, `stop` that are not in the set."""
        return (_wrap(FrozenBitMap64(range(start, stop))) - self).to_array()

    def isdisjoint(self, other: RowBitmap) -> bool:
        """Whether no row is in both sets."""
        return bool(self._rows.isdisjoint(other._rows))

    def __or__(self, other: RowBitmap) -> RowBitmap:
        return _wrap(self._rows | other._rows)

    def __and__(self, other: RowBitmap) -> RowBitmap:
        return _wrap(self._rows & other._rows)

    def __sub__(self, other: RowBitmap) -> RowBitmap:
        return _wrap(self._rows - other._rows)

    def __le__(self, other: RowBitmap) -> bool:
        return bool(self._rows.issubset(other._rows))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RowBitmap) and bool(self._rows == other._rows)

    def __hash__(self) -> int:
        return hash(self._rows)

    def __contains__(self, row: int) -> bool:
        return 0 <= row <= LARGEST_ROW_INDEX and row in self._rows

    def __len__(self) -> int:
        return len(self._rows)

    def __iter__(self) -> Iterator[int]:
        return iter(self._rows)

    def __repr__(self) -> str:
        shown = [str(row) for _, row in zip(range(8), self._rows, strict=False)]
        more = [f"... {len(self)} rows"] if len(self) > len(shown) else []
        return f"RowBitmap({{{', '.join(shown + more)}}})"

    def __reduce__(self) -> tuple[Any, ...]:
        return RowBitmap.deserialize_portable, (self._rows.serialize(),)


NO_ROWS = RowBitmap()


def _wrap(rows: FrozenBitMap64) -> RowBitmap:
    bitmap = RowBitmap.__new__(RowBitmap)
    bitmap._rows = rows
    return bitmap


def _out_of_range(row: int) -> RowIndexOutOfRangeError:
    return RowIndexOutOfRangeError(row_index=row, largest=LARGEST_ROW_INDEX)


def encode(bitmap: RowBitmap) -> bytes:
    """Return the data of a vector: the magic and the portable bitmap."""
    return struct.pack("<i", PORTABLE_MAGIC) + bitmap.serialize_portable()


def decode(data: bytes, *, path: str = "the log") -> RowBitmap:
    """Return the rows of a vector's data; `path` is named in errors.

    Raises `CorruptDeletionVectorError` if it is not a complete bitmap in one of the formats.
    """
    if len(data) < _MAGIC_SIZE:
        _refuse(path, f"it has {len(data)} bytes, which is too short for a magic number")
    (magic,) = struct.unpack_from("<i", data)
    body = data[_MAGIC_SIZE:]
    if magic == NATIVE_MAGIC:
        body = _portable_from_native(body, path)
    elif magic != PORTABLE_MAGIC:
        _refuse(path, f"its magic number is {magic}, expected {PORTABLE_MAGIC} or {NATIVE_MAGIC}")
    try:
        return RowBitmap.deserialize_portable(body)
    except ValueError as cause:
        raise CorruptDeletionVectorError(
            path=path, reason=f"its bitmap is broken: {cause}"
        ) from cause


def vector_frame(data: bytes) -> bytes:
    """Return a vector's data with its length before it and its checksum after it."""
    return struct.pack(">i", len(data)) + data + struct.pack(">I", crc32(data))


def frame_data(block: bytes, size: int, *, path: str) -> bytes:
    """Return the data of the framed vector that `block` starts with.

    `size` is the length in the descriptor. `block` may be shorter than the frame if the file ends
    early. Raises typed errors if size, length or checksum disagree.
    """
    if len(block) < 4:
        _refuse(path, "the file ends before it")
    (found,) = struct.unpack_from(">i", block)
    if found != size:
        raise DeletionVectorSizeMismatchError(path=path, expected=size, found=found)
    if len(block) < size + FRAME_SIZE:
        _refuse(path, f"the file ends after {len(block)} of its {size + FRAME_SIZE} bytes")
    data = block[4 : 4 + size]
    (expected,) = struct.unpack_from(">I", block, 4 + size)
    if crc32(data) != expected:
        raise DeletionVectorChecksumMismatchError(path=path, expected=expected, found=crc32(data))
    return data


def check_file_version(first: bytes, *, path: str) -> None:
    """Raise `CorruptDeletionVectorError` unless a file starts with the known version."""
    if not first:
        _refuse(path, "the file is empty")
    if first[:1] != FILE_VERSION:
        _refuse(path, f"the file has format version {first[0]}, expected {FILE_VERSION[0]}")


def _portable_from_native(body: bytes, path: str) -> bytes:
    """Return a native bitmap as a portable one: the same 32-bit bitmaps, with their keys."""
    if len(body) < 4:
        _refuse(path, "it ends before its number of bitmaps")
    (count,) = struct.unpack_from("<i", body)
    if count < 0:
        _refuse(path, f"it states {count} bitmaps")
    parts = [struct.pack("<q", count)]
    position = 4
    for key in range(count):
        if len(body) < position + 4:
            _refuse(path, f"it ends before bitmap {key} of {count}")
        (length,) = struct.unpack_from("<i", body, position)
        position += 4
        if length < 0 or len(body) < position + length:
            _refuse(path, f"bitmap {key} of {count} does not have {length} bytes")
        parts += [struct.pack("<I", key), body[position : position + length]]
        position += length
    return b"".join(parts)


def _refuse(path: str, reason: str) -> NoReturn:
    raise CorruptDeletionVectorError(path=path, reason=reason)
