"""Bounds of what is read: where it may be, how much it may be, and how long it may take.

A log may name files anywhere: shallow clones do, by absolute paths. An attacker may write such a
log for a reader who has more permissions than the attacker. With a fence, files outside of the root
are refused, whether by their path or through a link:

| setting                          | means                                                        |
|----------------------------------|--------------------------------------------------------------|
| `spark.truckee.read.onlyBelowRoot` | `true`: nothing outside the table's root is read            |
| `spark.truckee.read.alsoBelow`     | a comma-separated list of folders that may also be read     |

The second is for the sources of clones. The user names them, because the log is not trusted.

A file of a log may be sparse and say that it has a terabyte, and a store may be hostile, or broken:
it may announce any length, list files without end, or never answer.

| setting, after `spark.truckee.storage.` | default  | bounds                                     |
|-----------------------------------------|----------|--------------------------------------------|
| `largestRead`                           | 2g       | a file that is read as a whole             |
| `mostListed`                            | 10000000 | the files of a listing of an object store  |
| `timeout`                               | 30       | seconds of a request to an object store    |
| `retryTimeout`                          | 60       | seconds in which a request is tried again  |

Files that are read as a whole are those of the log, except for Parquet files. The bounds are
settings of a session, options of a read, or of `truckee.open`.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Iterator, Mapping, Sequence
from typing import BinaryIO, NamedTuple

from truckee.errors.options import IllegalOptionError
from truckee.errors.storage import PathOutsideTableError, StorageError
from truckee.protocol.property_kinds import parse_bytes
from truckee.storage.base import FileInfo, Owner, Storage
from truckee.storage.urls import (
    file_url_path,
    is_file_name,
    is_object_url,
    parse_object_url,
    scheme_of,
)

ONLY_BELOW_ROOT = "spark.truckee.read.onlyBelowRoot"
ALSO_BELOW = "spark.truckee.read.alsoBelow"
LARGEST_READ = "spark.truckee.storage.largestRead"
MOST_LISTED = "spark.truckee.storage.mostListed"
TIMEOUT = "spark.truckee.storage.timeout"
RETRY_TIMEOUT = "spark.truckee.storage.retryTimeout"


class FencedStorage:
    """A storage that reads only below its root and below the allowed folders."""

    owner: Owner | None = None

    def __init__(self, inner: Storage, also_below: Sequence[str] = ()) -> None:
        self.inner = inner
        self._allowed = tuple(_place(inner.root, folder) for folder in (inner.root, *also_below))

    def __repr__(self) -> str:
        return f"FencedStorage({self.inner!r})"

    @property
    def root(self) -> str:
        """The table's root."""
        return self.inner.root

    def check(self, path: str) -> None:
        """Raise `PathOutsideTableError` for a path that may not be read."""
        place = _place(self.root, path)
        if not any(place == allowed or _is_below(place, allowed) for allowed in self._allowed):
            raise PathOutsideTableError(
                table=self.root, path=path, setting=ONLY_BELOW_ROOT, exceptions=ALSO_BELOW
            )

    def read(self, path: str) -> bytes:
        """Return the whole file; FileNotFoundError if there is none."""
        self.check(path)
        return self.inner.read(path)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` on, fewer if the file ends before."""
        self.check(path)
        return self.inner.read_range(path, offset, length)

    def open_input(self, path: str) -> BinaryIO:
        """Return the file opened for random access."""
        self.check(path)
        return self.inner.open_input(path)

    def list_from(self, path: str) -> Iterator[FileInfo]:
        """Yield the files beside `path` whose name is not less than its name, in order of name."""
        self.check(posixpath.dirname(path) or self.root)
        return self.inner.list_from(path)

    def list_tree(self, folder: str) -> Iterator[FileInfo]:
        """Yield every file below a folder, in no particular order."""
        self.check(folder or self.root)
        return self.inner.list_tree(folder)

    def write(self, path: str, data: bytes) -> None:
        """Create or replace the file as a whole."""
        self.inner.write(path, data)

    def put_if_absent(self, path: str, data: bytes) -> None:
        """Create `path` as a whole, or raise FileExistsError and leave the file untouched."""
        self.inner.put_if_absent(path, data)

    def delete(self, path: str) -> None:
        """Delete a file of the table; it is not an error if there is none."""
        self.inner.delete(path)


def with_fence(storage: Storage, options: Mapping[str, str]) -> Storage:
    """Return the storage with a fence if the options ask for one, else unchanged."""
    found = {key.lower(): value for key, value in options.items()}
    asked = found.get(ONLY_BELOW_ROOT.lower(), "false").strip().lower()
    if asked not in ("true", "false"):
        raise IllegalOptionError(option=ONLY_BELOW_ROOT, value=asked, needs="true or false")
    if asked == "false":
        return storage
    also = (folder.strip() for folder in found.get(ALSO_BELOW.lower(), "").split(","))
    return FencedStorage(storage, [folder for folder in also if folder])


def without_fence(storage: Storage) -> Storage:
    """Return the storage behind a fence, or the storage itself."""
    return storage.inner if isinstance(storage, FencedStorage) else storage


def check_readable_path(storage: Storage, path: str) -> None:
    """Raise `PathOutsideTableError` if the storage has a fence and the path is outside of it."""
    if isinstance(storage, FencedStorage):
        storage.check(path)


def _place(root: str, path: str) -> tuple[str, str]:
    """Return the store and the path that a path of a table refers to, whatever its spelling."""
    full = path if scheme_of(path) or path.startswith("/") else f"{root}/{path}"
    if is_object_url(full):
        bucket, key = parse_object_url(full)
        return f"{bucket.kind.value} {bucket.name} {bucket.host or ''}", f"/{key}"
    scheme = scheme_of(full)
    if scheme is None or scheme == "file":
        name = full if scheme is None else file_url_path(full)
        return "", os.path.realpath(name) if is_file_name(name) else "\0"
    return scheme, posixpath.normpath(full.partition(":")[2])


def _is_below(place: tuple[str, str], folder: tuple[str, str]) -> bool:
    return place[0] == folder[0] and place[1].startswith(folder[1].rstrip("/") + "/")


class StorageLimits(NamedTuple):
    """The bounds of one storage."""

    largest_read: int = 2 << 30
    most_listed: int = 10_000_000
    timeout_s: int = 30
    retry_timeout_s: int = 60

    @classmethod
    def of(cls, options: Mapping[str, str] | None) -> StorageLimits:
        """Return the bounds that options ask for; IllegalOptionError for wrong texts."""
        given = {key.lower(): value for key, value in (options or {}).items()}

        def number(key: str, default: int, needs: str = "a number above 0") -> int:
            text = given.get(key.lower())
            if text is None:
                return default
            try:
                found = parse_bytes(text) if key == LARGEST_READ else int(text)
            except ValueError:
                found = 0
            if not 0 < found < 1 << 62:
                raise IllegalOptionError(option=key, value=text, needs=needs)
            return found

        return cls(
            number(LARGEST_READ, cls().largest_read, "a number of bytes, such as 2147483648 or 2g"),
            number(MOST_LISTED, cls().most_listed),
            number(TIMEOUT, cls().timeout_s, "a number of seconds above 0"),
            number(RETRY_TIMEOUT, cls().retry_timeout_s, "a number of seconds above 0"),
        )

    def check_read(self, path: str, size: int) -> None:
        """Raise StorageError if a file is too large to be read as a whole."""
        if size > self.largest_read:
            reason = f"it has {size} bytes, more than {LARGEST_READ} allows ({self.largest_read})"
            raise StorageError(action="read", path=path, reason=reason)

    def check_listed(self, path: str, count: int) -> None:
        """Raise StorageError if a listing has more files than it may have."""
        if count > self.most_listed:
            reason = f"its listing has more files than {MOST_LISTED} allows ({self.most_listed})"
            raise StorageError(action="list", path=path, reason=reason)


DEFAULT_LIMITS = StorageLimits()
