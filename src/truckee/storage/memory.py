"""A table in memory: a real store without a disk, for tests and for examples in the docs."""

from __future__ import annotations

import errno
import io
import os
import posixpath
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import Lock
from typing import BinaryIO, NamedTuple

from truckee.errors.storage import StorageError
from truckee.storage.base import FileInfo, Owner
from truckee.storage.urls import scheme_of


class _File(NamedTuple):
    data: bytes
    modified_ms: int


@dataclass(frozen=True)
class MemoryFiles:
    """Files by URL, shared by the tables of one memory."""

    by_url: dict[str, _File] = field(default_factory=dict)
    lock: Lock = field(default_factory=Lock)


class MemoryStorage:
    """The files below one `memory://` URL; safe to use from many threads."""

    owner: Owner | None = None

    def __init__(self, root: str = "memory://t", *, files: MemoryFiles | None = None) -> None:
        assert scheme_of(root) == "memory", root
        self._root = root.rstrip("/")
        self._files = files or MemoryFiles()

    def __repr__(self) -> str:
        return f"MemoryStorage({self._root!r})"

    @property
    def root(self) -> str:
        """The URL of the table."""
        return self._root

    def read(self, path: str) -> bytes:
        """Return the whole file; FileNotFoundError if there is none."""
        url = self._resolve(path)
        try:
            return self._files.by_url[url].data
        except KeyError:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), url) from None

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` on, fewer if the file ends before."""
        return self.read(path)[offset : offset + length]

    def open_input(self, path: str) -> BinaryIO:
        """Return the file opened for random access."""
        return io.BytesIO(self.read(path))

    def list_from(self, path: str) -> Iterator[FileInfo]:
        """Yield the files beside `path` whose name is not less than its name, in order of name."""
        folder, first = posixpath.split(path)
        beside = [f for f in self.list_tree(folder) if posixpath.dirname(f.path) == folder]
        yield from sorted(f for f in beside if posixpath.basename(f.path) >= first)

    def list_tree(self, folder: str) -> Iterator[FileInfo]:
        """Yield every file below a folder, in no particular order."""
        prefix = self._resolve(folder) + "/"
        with self._files.lock:
            found = [(u, f) for u, f in self._files.by_url.items() if u.startswith(prefix)]
        for url, file in found:
            path = posixpath.join(folder, url[len(prefix) :])
            yield FileInfo(path, len(file.data), file.modified_ms)

    def write(self, path: str, data: bytes) -> None:
        """Create or replace the file."""
        with self._files.lock:
            self._files.by_url[self._resolve(path)] = _now(data)

    def put_if_absent(self, path: str, data: bytes) -> None:
        """Create `path`, or raise FileExistsError and leave the file untouched."""
        url = self._resolve(path)
        with self._files.lock:
            if url in self._files.by_url:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), url)
            self._files.by_url[url] = _now(data)

    def delete(self, path: str) -> None:
        """Delete a file of the table; it is not an error if there is none."""
        url = posixpath.normpath(self._resolve(path))
        if not url.startswith(posixpath.normpath(self._root) + "/"):
            raise StorageError(action="delete", path=path, reason="it is outside the table")
        with self._files.lock:
            self._files.by_url.pop(self._resolve(path), None)

    def _resolve(self, path: str) -> str:
        match scheme_of(path):
            case None:
                return f"{self._root}/{path}".rstrip("/")
            case "memory":
                return path.rstrip("/")
        raise StorageError(action="open", path=path, reason="it is not in this memory")


def _now(data: bytes) -> _File:
    return _File(bytes(data), time.time_ns() // 1_000_000)
