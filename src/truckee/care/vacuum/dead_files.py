"""Which files of a table's folder are no longer needed: the core of VACUUM.

| found by       | candidates                                              | age                 |
|----------------|---------------------------------------------------------|---------------------|
| the listing    | files that are not hidden, and empty folders            | the file's own      |
| an inventory   | the same, from rows of a given listing                  | as in the row       |
| the log (LITE) | files and vectors that commits removed, change files    | when it was removed |

A candidate is dead if it is not protected and older than the cutoff. Names that start with `_` or
`.` are hidden, at any depth: `_delta_log`, `_temporary`, `.x.crc`. Change files and folders of
partition columns are not hidden, even if their names start in this way. A folder that has a
`_delta_log` of its own is another table, and nothing in it is a candidate.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from truckee.care.table_root import TableRoot
from truckee.care.vacuum.protected_files import ProtectedFiles, vector_path
from truckee.log.files.commits import Commit
from truckee.protocol.actions import RemoveFile
from truckee.protocol.paths import CHANGE_DATA_DIRECTORY, LOG_DIRECTORY
from truckee.protocol.properties import TableProperties
from truckee.storage.base import FileInfo
from truckee.storage.tree import EmptyFolder, IsHidden, OtherTables
from truckee.storage.urls import file_url_path, scheme_of

_ICEBERG_FOLDER = "metadata"


class DeadFiles(NamedTuple):
    """What a vacuum deletes; `listed_folders` counts the folders that were listed."""

    files: tuple[FileInfo, ...]
    folders: tuple[str, ...] = ()
    listed_folders: int = 0

    @property
    def size(self) -> int:
        """The bytes of all files together."""
        return sum(file.size for file in self.files)


def hidden_names(partition_columns: Iterable[str], properties: TableProperties) -> IsHidden:
    """Return a function that says whether a vacuum ignores a file or folder by its name."""
    shown = (
        CHANGE_DATA_DIRECTORY,
        "_delta_index",
        *(f"{column}=" for column in partition_columns),
    )
    hides_iceberg = "iceberg" in properties.universal_formats

    def is_hidden(name: str) -> bool:
        if hides_iceberg and name == _ICEBERG_FOLDER:
            return True
        return name.startswith(("_", ".")) and not name.startswith(shown)

    return is_hidden


def dead_files(
    found: Iterable[FileInfo | EmptyFolder], protected: ProtectedFiles, cutoff_ms: int
) -> DeadFiles:
    """Return what can be deleted of a listing.

    A folder is deleted if there is no file below it; one that becomes empty in this run stays until
    the next. If a file is listed twice, the newest entry counts.
    """
    files: dict[str, FileInfo] = {}
    empty: list[str] = []
    parents: set[str] = set()
    for entry in found:
        if isinstance(entry, EmptyFolder):
            empty.append(entry.path)
            continue
        parents.add(posixpath.dirname(entry.path))
        known = files.get(entry.path)
        if known is None or known.modified_ms < entry.modified_ms:
            files[entry.path] = entry
    dead = [
        file
        for file in files.values()
        if file.modified_ms < cutoff_ms and not protected.covers(file.path)
    ]
    folders = [path for path in empty if not protected.covers_folder(path)]
    return DeadFiles(tuple(dead), tuple(folders), len(_with_parents(parents)) + len(empty) + 1)


def _with_parents(folders: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for folder in folders:
        while folder and folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return found


def logged_candidates(commits: Iterable[Commit], root: TableRoot) -> Iterator[FileInfo]:
    """Yield the files that commits removed, and their change files, if they are below the root.

    The age of a removed file is that of its removal. A change file may be deleted at once, because
    its commit is older than the retention.
    """
    for commit in commits:
        for change in commit.cdc_files:
            yield from _inside(root.relative(change.path), change.size, 0)
        for remove in commit.removes:
            removed_ms = remove.deletion_timestamp or 0
            yield from _inside(root.relative(remove.path), remove.size or 0, removed_ms)
            yield from _inside(
                vector_path(remove.deletion_vector, root), _vector_size(remove), removed_ms
            )


def _vector_size(remove: RemoveFile) -> int:
    return 0 if remove.deletion_vector is None else remove.deletion_vector.size_in_bytes


def _inside(path: str | None, size: int, modified_ms: int) -> Iterator[FileInfo]:
    if path is not None and path.split("/")[0] != LOG_DIRECTORY:
        yield FileInfo(path, size, modified_ms)


class InventoryRow(NamedTuple):
    """A file or folder of an inventory; `path` is absolute, not encoded."""

    path: str
    size: int
    is_folder: bool
    modified_ms: int


def inventory_entries(
    rows: Iterable[InventoryRow], root: TableRoot, is_hidden: IsHidden
) -> Iterator[FileInfo | EmptyFolder]:
    """Yield the rows of an inventory that are in the table and not hidden.

    A folder counts as empty if the inventory has no file below it. If the inventory shows the log
    of another table below the root, everything of that table is left out.
    """
    files: list[FileInfo] = []
    folders: list[str] = []
    others = OtherTables()
    for row in rows:
        path = _path_below(row, root)
        if path is None:
            continue
        parts = path.split("/")
        others.note(parts)
        if any(map(is_hidden, parts)):
            continue
        if row.is_folder:
            folders.append(path)
        else:
            files.append(FileInfo(path, row.size, row.modified_ms))
    occupied = _with_parents({posixpath.dirname(file.path) for file in files})
    yield from (file for file in files if not others.hold(file.path))
    for path in folders:
        if path not in occupied and not others.hold(path):
            yield EmptyFolder(path)


def _path_below(row: InventoryRow, root: TableRoot) -> str | None:
    return root.below(file_url_path(row.path) if scheme_of(row.path) == "file" else row.path)
