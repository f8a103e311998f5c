"""A table's folder as a whole: its files, and the deletion of some of them.

Files behind a link do not belong to the table, and neither do the files of another table whose root
is below this one. A listing leaves both out: it never enters a folder that is a link, or one with a
`_delta_log`. Paths that do not come from a listing, such as those that a log says were removed, are
checked in the same way by `OwnFiles`, and so is every path right before it is deleted. Only a local
disk has real folders; an object store has no empty ones.
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
from truckee.storage.local import LocalStorage, folder_entries, typed_errors
from truckee.storage.read_bounds import without_fence

IsHidden = Callable[[str], bool]
"""Returns whether a file or folder, with everything in it, is skipped because of its name."""


_NOT_BELOW = "it is behind a link, or outside of the table"


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


class OwnFiles:
    """Decides which paths below a table's root belong to the table, so that they may be deleted.

    Each folder is looked at once, in the storage as it is then.
    """

    def __init__(self, storage: Storage) -> None:
        self._storage = without_fence(storage)
        is_local = isinstance(self._storage, LocalStorage)
        self._local_root = os.path.realpath(storage.root) if is_local else None
        self._known: dict[str, str | None] = {}

    def refusal(self, path: str) -> str | None:
        """Return why a file must not be deleted, None if it belongs to the table.

        A path that ends with a slash is a folder.
        """
        if posixpath.isabs(path) or ".." in path.split("/"):
            return _NOT_BELOW
        if LOG_DIRECTORY in path.split("/"):
            return "it is in a log"
        for end, letter in enumerate(path):
            if letter == "/":
                folder = path[:end]
                if folder not in self._known:
                    self._known[folder] = self._refusal_of_folder(folder)
                if self._known[folder] is not None:
                    return self._known[folder]
        if self._local_root is not None and os.path.islink(os.path.join(self._local_root, path)):
            return "it is a link"
        return None

    def _refusal_of_folder(self, folder: str) -> str | None:
        log = f"{folder}/{LOG_DIRECTORY}"
        if self._local_root is None:
            has_log = next(iter(self._storage.list_tree(log)), None) is not None
        else:
            place = os.path.normpath(os.path.join(self._local_root, folder))
            if os.path.realpath(place) != place:
                return _NOT_BELOW
            has_log = os.path.lexists(os.path.join(self._local_root, log))
        return f"it belongs to the table at {folder}" if has_log else None


def delete_files(storage: Storage, paths: Iterable[str]) -> DeletionOutcome:
    """Delete files by their paths below the root; a failure does not stop the others."""
    own = OwnFiles(storage)
    count = 0
    failures: list[tuple[str, str]] = []
    for path in paths:
        try:
            refusal = own.refusal(path)
            if refusal is None:
                storage.delete(path)
                count += 1
            else:
                failures.append((path, refusal))
        except StorageError as error:
            failures.append((path, error.reason))
    return DeletionOutcome(count, tuple(failures))


def delete_folders(storage: Storage, paths: Iterable[str]) -> DeletionOutcome:
    """Delete folders that are still empty, deepest first; others are kept."""
    if not isinstance(without_fence(storage), LocalStorage):
        return DeletionOutcome(0)
    own = OwnFiles(storage)
    count = 0
    failures: list[tuple[str, str]] = []
    for path in sorted(paths, key=lambda path: path.count("/"), reverse=True):
        try:
            if own.refusal(f"{path}/") is None:
                os.rmdir(os.path.join(storage.root, path))
                count += 1
        except FileNotFoundError:
            count += 1
        except OSError as error:
            failures.append((path, (error.strerror or str(error)).lower()))
    return DeletionOutcome(count, tuple(failures))
