"""Tables that only Hadoop's file system classes reach: `hdfs://`, `viewfs://` and others.

The bytes of logs and vectors go through the JVM of the session, by `TruckeeHadoop.java`. A commit
must create a complete file in one atomic step, and only if it is absent. How that is done depends
on the file system that holds the table; for `viewfs`, that is the mounted one:

| file system                               | a commit is                                        |
|-------------------------------------------|----------------------------------------------------|
| `hdfs`, `webhdfs`, `swebhdfs`, `ofs`, `o3fs` | a staged file, renamed without overwriting      |
| a local disk below `viewfs`               | a staged file, linked to its name                  |
| named in `spark.truckee.hadoop.atomicRename` | the same rename; the user vouches for it        |
| any other                                 | refused: two writers could both think they had won |
"""

from __future__ import annotations

import errno
import os
import posixpath
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any, BinaryIO

from py4j.protocol import Py4JJavaError
from pyspark.errors.exceptions.captured import CapturedException
from pyspark.sql import SparkSession

from truckee.errors.storage import (
    InvalidUrlError,
    NoAtomicRenameError,
    StorageError,
    StoragePermissionError,
    WriteOutcomeUnknownError,
)
from truckee.spark.jvm.bridge import compiled
from truckee.storage.base import FileInfo, Owner
from truckee.storage.range_reader import range_file
from truckee.storage.read_bounds import LARGEST_READ, StorageLimits
from truckee.storage.urls import scheme_of

ATOMIC_RENAME = "spark.truckee.hadoop.atomicRename"
_RENAMES_ATOMICALLY = frozenset({"hdfs", "webhdfs", "swebhdfs", "ofs", "o3fs"})
_LINKS = frozenset({"file"})
_NOT_FOUND = ("FileNotFoundException", "ParentNotDirectoryException", "NotDirectoryException")
_FORBIDDEN = ("AccessControlException", "AccessDeniedException")
# HDFS may forbid what lies below a file, in these words, since it cannot look there.
_BELOW_A_FILE = "(is not a directory)"


class HadoopStorage:
    """The files below one URL of a file system that the session's JVM knows.

    It does not pickle: only the process that has the session reaches them.
    """

    owner: Owner | None = None

    def __init__(
        self, spark: SparkSession, url: str, options: Mapping[str, str] | None = None
    ) -> None:
        scheme, authority, path = _taken_apart(url)
        self._root = url.rstrip("/")
        self._place = (scheme, authority)
        self._path = path.rstrip("/")
        self._largest_read = StorageLimits.of(options).largest_read
        self._also_atomic = _listed((options or {}).get(ATOMIC_RENAME, ""))
        configuration = spark._jsparkSession.sessionState().newHadoopConf()
        for key, value in (options or {}).items():
            configuration.set(key, value)
        with _told("open", url, error=InvalidUrlError):
            maker = compiled(spark, "TruckeeHadoop")
            self._files: Any = maker.open(configuration, url, scheme, authority)

    def __repr__(self) -> str:
        return f"HadoopStorage({self._root!r})"

    @property
    def root(self) -> str:
        """The table's URL as the user wrote it."""
        return self._root

    def read(self, path: str) -> bytes:
        """Return the whole file; FileNotFoundError if there is none."""
        with _told("read", path):
            return bytes(
                self._files.read(self._resolve(path), 0, -1, self._largest_read, LARGEST_READ)
            )

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` on, fewer if the file ends before."""
        with _told("read", path):
            return bytes(self._files.read(self._resolve(path), offset, length, 0, ""))

    def open_input(self, path: str) -> BinaryIO:
        """Return the file opened for random access."""
        with _told("read", path):
            size = int(self._files.size(self._resolve(path)))
        return range_file(lambda offset, length: self.read_range(path, offset, length), size)

    def list_from(self, path: str) -> Iterator[FileInfo]:
        """Yield the files beside `path` whose name is not less than its name, in order of name."""
        folder, first = posixpath.split(path)
        found = sorted(self._listed(folder, is_tree=False), key=_name_bytes)
        for file in found:
            if posixpath.basename(file.path).encode() >= first.encode():
                yield file

    def list_tree(self, folder: str) -> Iterator[FileInfo]:
        """Yield every file below a folder, in no particular order."""
        return self._listed(folder, is_tree=True)

    def _listed(self, folder: str, *, is_tree: bool) -> Iterator[FileInfo]:
        with _told("list", folder):
            packed = self._files.list(self._resolve(folder), is_tree)
        texts = packed.split("\0")
        for name, size, modified_ms in zip(texts[::3], texts[1::3], texts[2::3], strict=False):
            yield FileInfo(posixpath.join(folder, name), int(size), int(modified_ms))

    def write(self, path: str, data: bytes) -> None:
        """Create or replace the file as a whole: no reader ever sees half of it."""
        with _told("write", path):
            answer = str(self._files.write(self._resolve(path), bytes(data), True))
        if answer != "done":
            raise StorageError(action="write", path=path, reason=answer)

    def put_if_absent(self, path: str, data: bytes) -> None:
        """Create `path` whole, or raise FileExistsError and leave what is there untouched.

        Raises NoAtomicRenameError, and writes nothing, where the file system cannot promise that.
        """
        place = self._resolve(path)
        with _told("write", path):
            scheme = str(self._files.scheme(place))
            if scheme not in _RENAMES_ATOMICALLY | _LINKS | self._also_atomic:
                raise NoAtomicRenameError(table=self._root, scheme=scheme, setting=ATOMIC_RENAME)
            answer = str(self._files.write(place, bytes(data), False))
        if answer == "exists":
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)
        if answer != "done":
            raise WriteOutcomeUnknownError(action="write", path=path, reason=answer)

    def delete(self, path: str) -> None:
        """Delete a file of the table; it is no error if there is none."""
        place = posixpath.normpath(self._resolve(path))
        is_below = place.startswith(f"{posixpath.normpath(self._path or '/').rstrip('/')}/")
        with _told("delete", path):
            if not is_below or not self._files.delete(self._path or "/", place):
                raise StorageError(action="delete", path=path, reason="it is outside the table")

    def _resolve(self, path: str) -> str:
        if scheme_of(path) is None:
            return path if path.startswith("/") else f"{self._path}/{path}".rstrip("/") or "/"
        scheme, authority, place = _taken_apart(path)
        if (scheme, authority) != self._place:
            reason = f"it is not in {'://'.join(self._place)}"
            raise StorageError(action="open", path=path, reason=reason)
        return place


def _taken_apart(url: str) -> tuple[str, str, str]:
    """Return scheme, authority and path of a URL, letter for letter, as Hadoop's `Path` does."""
    scheme, _, rest = url.partition(":")
    if not rest.startswith("//"):
        return scheme.lower(), "", rest
    authority, slash, path = rest[2:].partition("/")
    return scheme.lower(), authority, f"{slash}{path}" or "/"


def _listed(text: str) -> frozenset[str]:
    return frozenset(word.strip().lower() for word in text.split(",") if word.strip())


def _name_bytes(file: FileInfo) -> bytes:
    return posixpath.basename(file.path).encode()


@contextmanager
def _told(action: str, path: str, *, error: type[StorageError] = StorageError) -> Iterator[None]:
    """Convert errors of the JVM to ours."""
    try:
        yield
    except Py4JJavaError as failed:
        name = str(failed.java_exception.getClass().getSimpleName())
        reason = str(failed.java_exception.toString()).partition("\n")[0]
        is_below_a_file = name in _FORBIDDEN and _BELOW_A_FILE in reason
        if name in _NOT_FOUND or is_below_a_file:
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path) from None
        kind = StoragePermissionError if name in _FORBIDDEN else error
        raise kind(action=action, path=path, reason=reason) from failed
    except CapturedException as failed:
        raise error(action=action, path=path, reason=str(failed).partition("\n")[0]) from failed
