"""A table's folder as a whole: its files, and the deletion of some of them.

A listing never enters a folder that is a link, and a deletion never goes through one: files behind
a link do not belong to the table. Neither do the files of another table whose root is below this
one: a folder with a `_delta_log` is left out, with everything in it. Only a local disk has real
folders; an object store has no empty ones.
"""

from __future__ import annotations

import os
import posixpath
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from truckee.errors.storage import StorageError
from truckee.protocol.paths import LOG_DIRECTORY
from truckee.storage.base import FileInfo, Storage
from truckee.storage.fence import without_fence
from truckee.storage.local import LocalStorage, folder_entries, typed_errors

IsHidden = Callable[[str], bool]
"""Returns whether a file or folder, with everything in it, is skipped because of its name."""


class EmptyFolder(NamedTuple):
    """A folder below which there is no file at all, hidden or not."""

    path: str


class DeletionOutcome(NamedTuple):
    """`done` paths were deleted, those in `failures` were not, with the reason."""

    done: int
    failures: tuple[tuple[str, str], ...] = ()


def walk(storage: Storage, is_hidden: IsHidden) -> Iterator[FileInfo | EmptyFolder]:
    """Yield the files of a table's folder, and its empty folders.

    Links are left out, and so are other tables. Raises StorageError for a folder that cannot be
    listed: what is in it is unknown.
    """
    storage = without_fence(storage)
    if isinstance(storage, LocalStorage):
        yield from _walk_folder(storage.root, "", is_hidden)
        return
    others = OtherTables()
    found: list[FileInfo] = []
    for file in storage.list_tree(""):
        parts = file.path.split("/")
        others.note(parts)
        if not any(map(is_hidden, parts)) and not file.path.endswith("/"):
            found.append(file)
    yield from (file for file in found if not others.hold(file.path))


class OtherTables:
    """The tables below a table's root, known by the files in their logs."""

    def __init__(self) -> None:
        self._roots: set[str] = set()

    def note(self, parts: Sequence[str]) -> None:
        """Note a file, or a folder, by the parts of its path below the root."""
        if LOG_DIRECTORY in parts[1:]:
            self._roots.add("/".join(parts[: parts.index(LOG_DIRECTORY, 1)]))

    def hold(self, path: str) -> bool:
        """Return whether a file or folder belongs to one of the tables that were noted."""
        if not self._roots:
            return False
        parts = path.split("/")
        return any("/".join(parts[:end]) in self._roots for end in range(1, len(parts) + 1))


def _walk_folder(root: str, folder: str, is_hidden: IsHidden) -> Iterator[FileInfo | EmptyFolder]:
    """Yield the content of a folder; the folder itself comes last, if it is empty."""
    is_empty = True
    target = Path(root, folder)
    with typed_errors("list", target):
        entries = list(folder_entries(target))
    if folder and any(entry.name == LOG_DIRECTORY for entry in entries):
        return
    for entry in entries:
        path = posixpath.join(folder, entry.name)
        if is_hidden(entry.name) or entry.is_symlink():
            is_empty = False
        elif entry.is_dir(follow_symlinks=False):
            below: FileInfo | EmptyFolder | None = None
            for below in _walk_folder(root, path, is_hidden):
                yield below
            is_empty = is_empty and below == EmptyFolder(path)
        else:
            is_empty = False
            info = _info(path, entry)
            if info is not None:
                yield info
    if is_empty and folder:
        yield EmptyFolder(folder)


def _info(path: str, entry: os.DirEntry[str]) -> FileInfo | None:
    try:
        status = entry.stat(follow_symlinks=False)
    except FileNotFoundError:
        return None
    if not entry.is_file(follow_symlinks=False):
        return None
    return FileInfo(path, status.st_size, status.st_mtime_ns // 1_000_000)


def delete_files(storage: Storage, paths: Iterable[str]) -> DeletionOutcome:
    """Delete files by their paths below the root; a failure does not stop the others."""
    inside = _Inside(storage)
    count = 0
    failures: list[tuple[str, str]] = []
    for path in paths:
        if not inside.holds(path):
            failures.append((path, "it is behind a link, or outside of the table"))
            continue
        try:
            storage.delete(path)
            count += 1
        except StorageError as error:
            failures.append((path, error.reason))
    return DeletionOutcome(count, tuple(failures))


def delete_folders(storage: Storage, paths: Iterable[str]) -> DeletionOutcome:
    """Delete folders that are still empty, deepest first; others are kept."""
    if not isinstance(without_fence(storage), LocalStorage):
        return DeletionOutcome(0)
    inside = _Inside(storage)
    count = 0
    failures: list[tuple[str, str]] = []
    for path in sorted(paths, key=lambda path: path.count("/"), reverse=True):
        try:
            if inside.holds(path):
                os.rmdir(os.path.join(storage.root, path))
                count += 1
        except FileNotFoundError:
            count += 1
        except OSError as error:
            failures.append((path, (error.strerror or str(error)).lower()))
    return DeletionOutcome(count, tuple(failures))


class _Inside:
    """Decides which paths are in the table's folder itself, rather than behind a link in it."""

    def __init__(self, storage: Storage) -> None:
        is_local = isinstance(without_fence(storage), LocalStorage)
        self._root = os.path.realpath(storage.root) if is_local else None
        self._known: dict[str, bool] = {}

    def holds(self, path: str) -> bool:
        """Return whether a path below the root may be deleted."""
        if posixpath.isabs(path) or ".." in path.split("/"):
            return False
        if self._root is None:
            return True
        folder = posixpath.dirname(path)
        if folder not in self._known:
            place = os.path.normpath(os.path.join(self._root, folder))
            self._known[folder] = os.path.realpath(place) == place
        return self._known[folder]
