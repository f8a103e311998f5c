"""A file object over a store that is read by ranges."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any, BinaryIO

_BLOCK = 1 << 20


def range_file(read_range: Callable[[int, int], bytes], size: int) -> BinaryIO:
    """Return a file for random access, from a function that reads an offset and a length."""
    return io.BufferedReader(_RangeReader(read_range, size), buffer_size=_BLOCK)


class _RangeReader(io.RawIOBase):
    def __init__(self, read_range: Callable[[int, int], bytes], size: int) -> None:
        super().__init__()
        self._read_range = read_range
        self._size = size
        self._position = 0

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        base = {io.SEEK_SET: 0, io.SEEK_CUR: self._position, io.SEEK_END: self._size}[whence]
        self._position = base + offset
        return self._position

    def tell(self) -> int:
        return self._position

    def readinto(self, buffer: Any) -> int:
        wanted = min(len(buffer), max(0, self._size - self._position))
        data = self._read_range(self._position, wanted) if wanted else b""
        buffer[: len(data)] = data
        self._position += len(data)
        return len(data)
