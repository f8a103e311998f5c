"""Paths of actions as paths below the table's root, or None for those outside.

A path can be written in many ways: relative, as a URI, with another scheme of the same store,
through a linked root. All of them become the path that a listing shows.
"""

from __future__ import annotations

import os
import posixpath
from pathlib import Path

from truckee.errors.storage import InvalidUrlError
from truckee.protocol.paths import LOG_DIRECTORY, decode_path, is_absolute
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from truckee.storage.read_bounds import without_fence
from truckee.storage.urls import is_object_url, parse_object_url


class TableRoot:
    """The root of one table."""

    def __init__(self, storage: Storage) -> None:
        self._is_local = isinstance(without_fence(storage), LocalStorage)
        roots = {_place(storage.root)}
        if self._is_local:
            roots.add(os.path.realpath(storage.root))
        self._prefixes = tuple(f"{root.rstrip('/')}/" for root in roots)
        self._folds_case = self._is_local and _ignores_case(Path(storage.root))

    def relative(self, encoded: str) -> str | None:
        """Return a path of the log relative to the root, None if it is outside."""
        return self.below(decode_path(encoded))

    def below(self, path: str) -> str | None:
        """Return the same for a path that is not percent-encoded."""
        if is_absolute(path):
            found = self._without_prefix(path)
            if found is None:
                return None
            path = found
        if "//" in path or "/." in path or path.startswith("."):
            path = posixpath.normpath(path)
            if path == "." or path.split("/")[0] == "..":
                return None
        return path

    def key(self, path: str) -> str:
        """Return a key that is the same for two names of one file, on a disk that ignores case."""
        return path.casefold() if self._folds_case else path

    def _without_prefix(self, path: str) -> str | None:
        spellings = [_place(path)]
        if self._is_local and path.startswith("/"):
            spellings.append(os.path.realpath(path))
        for spelling in spellings:
            for prefix in self._prefixes:
                if spelling.startswith(prefix):
                    return spelling[len(prefix) :]
        return None


def _place(path: str) -> str:
    """Return a path in a form in which all spellings of one place are equal."""
    if not is_object_url(path):
        return posixpath.normpath(path) if path.startswith("/") else path
    try:
        bucket, key = parse_object_url(path)
    except InvalidUrlError:
        return path
    account = (bucket.host or "").partition(".")[0]
    return f"{bucket.kind.value}:{account}:{bucket.name}/{key}"


def _ignores_case(root: Path) -> bool:
    return (root / LOG_DIRECTORY.upper()).exists()
