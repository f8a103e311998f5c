"""Bytes by path: the first step from a table's files to its rows."""

from __future__ import annotations

from collections.abc import Mapping

from truckee.errors.storage import InvalidUrlError
from truckee.storage.base import FileInfo, Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryFiles, MemoryStorage
from truckee.storage.object_store import ObjectStoreStorage
from truckee.storage.read_bounds import StorageLimits, with_fence
from truckee.storage.urls import is_object_url, scheme_of

__all__ = [
    "FileInfo",
    "LocalStorage",
    "MemoryStorage",
    "ObjectStoreStorage",
    "Storage",
    "open_storage",
]

_MEMORY = MemoryFiles()


def open_storage(url_or_path: str, options: Mapping[str, str] | None = None) -> Storage:
    """Return the storage of the table at a path or URL, as Spark users write it.

    A plain path is a local one. Nothing is read or written: a missing table is noticed when its
    log is listed. All `memory://` URLs of a process share one memory. The options
    are those of object stores (see `object_options`), bounds of what is read (see `limits`), and
    the fence around untrusted tables (see `read_bounds`); others are ignored.
    """
    return with_fence(_open(url_or_path, options), options or {})


def _open(url_or_path: str, options: Mapping[str, str] | None) -> Storage:
    if is_object_url(url_or_path):
        return ObjectStoreStorage(url_or_path, options)
    match scheme_of(url_or_path):
        case None | "file":
            return LocalStorage(url_or_path, limits=StorageLimits.of(options))
        case "memory":
            return MemoryStorage(url_or_path, files=_MEMORY)
        case scheme:
            reason = f"{scheme!r} is not a scheme that truckee can open without a Spark session"
            raise InvalidUrlError(action="open", path=url_or_path, reason=reason)
