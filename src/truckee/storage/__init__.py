"""Bytes by path: the first station of the way from a table's files to its rows."""

from __future__ import annotations

from collections.abc import Mapping

from truckee.errors.storage import InvalidUrlError
from truckee.storage.base import FileInfo, Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryFiles, MemoryStorage
from truckee.storage.urls import scheme_of

__all__ = ["FileInfo", "LocalStorage", "MemoryStorage", "Storage", "open_storage"]

_MEMORY = MemoryFiles()


def open_storage(url_or_path: str, options: Mapping[str, str] | None = None) -> Storage:
    """Return the storage of the table at a path or URL, as Spark users write it.

    A plain path is a local one. Nothing is read or written: a table that is not there is found
    missing when its log is listed. All `memory://` URLs of a process share one memory.
    """
    match scheme_of(url_or_path):
        case None | "file":
            return LocalStorage(url_or_path)
        case "memory":
            return MemoryStorage(url_or_path, files=_MEMORY)
    raise InvalidUrlError(
        action="open",
        path=url_or_path,
        reason=f"{scheme_of(url_or_path)!r} is no scheme that truckee knows",
    )
