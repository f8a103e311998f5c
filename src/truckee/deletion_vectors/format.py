"""The bytes of deletion vectors: magic, bitmap, and the frame around them in a file.

A file holds one version byte and then any number of framed vectors:

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
from typing import NoReturn
from zlib import crc32

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.errors.deletion_vectors import (
    CorruptDeletionVectorError,
    DeletionVectorChecksumMismatchError,
    DeletionVectorSizeMismatchError,
)

FILE_VERSION = b"\x01"
FRAME_SIZE = 8
PORTABLE_MAGIC = 1681511377
NATIVE_MAGIC = 1681511376

_MAGIC_SIZE = 4


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
