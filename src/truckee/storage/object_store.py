"""A table in S3, Google Cloud Storage or Azure: paths become buckets and keys."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Mapping
from threading import Lock
from typing import TYPE_CHECKING, Any, BinaryIO

import truckee.storage.object_requests as requests
from truckee.errors.storage import StorageError
from truckee.storage.base import FileInfo, Owner
from truckee.storage.object_requests import ObjectPlace
from truckee.storage.range_reader import range_file
from truckee.storage.read_bounds import StorageLimits
from truckee.storage.urls import Bucket, is_object_url, normal_key, parse_object_url, scheme_of

if TYPE_CHECKING:
    from obstore import ObjectMeta
    from obstore.store import ObjectStore


class ObjectStoreStorage:
    """The objects below one URL, with the options that open their bucket.

    A put-if-absent is one conditional request, so the store itself decides who was first.
    """

    owner: Owner | None = None

    def __init__(self, url: str, options: Mapping[str, str] | None = None) -> None:
        self._url = url.rstrip("/")
        self._options = dict(options or {})
        self._limits = StorageLimits.of(options)
        self._bucket, self._key = parse_object_url(self._url)
        self._stores: dict[Bucket, ObjectStore] = {}
        self._lock = Lock()
        self._place("")  # errors in the options are reported at once

    def __repr__(self) -> str:
        return f"ObjectStoreStorage({self._url!r})"

    def __reduce__(self) -> tuple[Any, ...]:
        return ObjectStoreStorage, (self._url, self._options)

    @property
    def root(self) -> str:
        """The table's URL as the user wrote it."""
        return self._url

    def read(self, path: str) -> bytes:
        """Return the whole file; FileNotFoundError if there is none."""
        return requests.get(self._place(path), self._limits)

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        """Return `length` bytes from `offset` on, fewer if the file ends before."""
        return requests.get_range(self._place(path), offset, length)

    def open_input(self, path: str) -> BinaryIO:
        """Return the file opened for random access."""
        place = self._place(path)
        return range_file(
            lambda offset, length: requests.get_range(place, offset, length), requests.size(place)
        )

    def list_from(self, path: str) -> Iterator[FileInfo]:
        """Yield the files beside `path` whose name is not less than its name, in order of name."""
        folder, first = posixpath.split(path)
        for name, found in requests.names(self._place(folder), self._limits, first=first):
            yield _file_info(folder, name, found)

    def list_tree(self, folder: str) -> Iterator[FileInfo]:
        """Yield every file below a folder, in no particular order."""
        place = self._place(folder)
        for found in requests.objects(place, self._limits):
            yield _file_info(folder, found["path"][len(place.key) :].lstrip("/"), found)

    def write(self, path: str, data: bytes) -> None:
        """Create or replace the file as a whole: no reader ever sees a part of it."""
        requests.put(self._place(path), data)

    def write_from(self, path: str, file: BinaryIO) -> None:
        """Create or replace an object that is too large for memory, from an open file."""
        requests.put(self._place(path), file)

    def put_if_absent(self, path: str, data: bytes) -> None:
        """Create `path` as a whole, or raise FileExistsError and leave the file untouched.

        WriteOutcomeUnknownError if the store cannot report the outcome.
        """
        requests.put_if_absent(self._place(path), data)

    def delete(self, path: str) -> None:
        """Delete a file of the table; it is not an error if there is none."""
        place = self._place(path)
        bucket = parse_object_url(path).bucket if is_object_url(path) else self._bucket
        prefix = f"{self._key}/" if self._key else ""
        if bucket != self._bucket or not place.key.startswith(prefix):
            raise StorageError(action="delete", path=path, reason="it is outside the table")
        requests.delete_object(place)

    def _place(self, path: str) -> ObjectPlace:
        if is_object_url(path):
            (bucket, key), url = parse_object_url(path), path
        elif scheme_of(path) is None:
            bucket, key = self._bucket, normal_key(posixpath.join(f"/{self._key}", path))
            url = posixpath.join(self._url, path).rstrip("/")
        else:
            reason = f"it is not in {self._bucket.kind.value}"
            raise StorageError(action="open", path=path, reason=reason)
        with self._lock:
            store = self._stores.get(bucket)
            if store is None:
                store = self._stores[bucket] = requests.open_store(bucket, self._options, url=url)
        return ObjectPlace(store, key, url)


def _file_info(folder: str, name: str, found: ObjectMeta) -> FileInfo:
    modified_ms = round(found["last_modified"].timestamp() * 1000)
    return FileInfo(posixpath.join(folder, name), found["size"], modified_ms)
