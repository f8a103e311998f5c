"""Which files of a table's folder are no longer needed: the core of VACUUM.

| found by       | candidates                                              | age                 |
|----------------|---------------------------------------------------------|---------------------|
| the listing    | files that are not hidden, and empty folders            | the file's own      |
| an inventory   | the same, from rows of a given listing                  | as in the row       |
| the log (LITE) | files and vectors that commits removed, change files    | when it was removed |

A candidate is dead if it is not protected and older than the cutoff. Names that start with `_` or
`.` are hidden, at any depth: `_delta_log`, `_temporary`, `.x.crc`. Change files and folders of
partition columns are not hidden, even if their names start in this way. A folder that has a
`_delta_log` of its own is another table. Nothing in it is a candidate, and nothing behind a link. A
listing leaves both out; paths of an inventory or of the log are looked up in the storage.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

from truckee.care.table_root import TableRoot
from truckee.care.vacuum.protected_files import ProtectedFiles, vector_path
from truckee.log.files.commits import Commit
from truckee.protocol.paths import CHANGE_DATA_DIRECTORY
from truckee.protocol.properties import TableProperties
from truckee.storage.base import FileInfo, Storage
from truckee.storage.tree import EmptyFolder, IsHidden, OwnFiles
from truckee.storage.urls import file_url_path, scheme_of

_logger = logging.getLogger(__name__)

_ICEBERG_FOLDER = "metadata"
_READERS = 16
_TOLD = 20


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


def only_own(storage: Storage, dead: DeadFiles) -> DeadFiles:
    """Return dead files without those that are behind a link, or belong to another table."""
    own = OwnFiles(storage)
    with ThreadPoolExecutor(_READERS) as pool:
        refusals = list(pool.map(own.refusal, [file.path for file in dead.files]))
    checked = list(zip(dead.files, refusals, strict=True))
    kept = [file for file, refusal in checked if refusal is None]
    refused = [(file.path, refusal) for file, refusal in checked if refusal is not None]
    for path, refusal in refused[:_TOLD]:
        _logger.warning("vacuum of %s keeps %s: %s", storage.root, path, refusal)
    folders = [path for path in dead.folders if own.refusal(f"{path}/") is None]
    return DeadFiles(tuple(kept), tuple(folders), dead.listed_folders)


def _with_parents(folders: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for folder in folders:
        while folder and folder not in found:
            found.add(folder)
            folder = posixpath.dirname(folder)
    return found


def logged_candidates(
    commits: Iterable[Commit], root: TableRoot, is_hidden: IsHidden
) -> Iterator[FileInfo]:
    """Yield the files that commits removed, and their change files, if they are below the root.

    Hidden files are left out, as they are by a listing. The age of a removed file is that of its
    removal. A change file may be deleted at once, because its commit is older than the retention.
    """
    for path, size, modified_ms in _logged(commits, root):
        if path is not None and not any(map(is_hidden, path.split("/"))):
            yield FileInfo(path, size, modified_ms)


def _logged(commits: Iterable[Commit], root: TableRoot) -> Iterator[tuple[str | None, int, int]]:
    for commit in commits:
        for change in commit.cdc_files:
            yield root.relative(change.path), change.size, 0
        for remove in commit.removes:
            removed_ms = remove.deletion_timestamp or 0
            yield root.relative(remove.path), remove.size or 0, removed_ms
            vector = remove.deletion_vector
            size = 0 if vector is None else vector.size_in_bytes
            yield vector_path(vector, root), size, removed_ms


class InventoryRow(NamedTuple):
    """A file or folder of an inventory; `path` is absolute, not encoded."""

    path: str
    size: int
    is_folder: bool
    modified_ms: int


def inventory_entries(
    rows: Iterable[InventoryRow], root: TableRoot, is_hidden: IsHidden
) -> Iterator[FileInfo | EmptyFolder]:
    """Yield the rows of an inventory that are below the root and not hidden.

    A folder counts as empty if the inventory has no file below it.
    """
    files: list[FileInfo] = []
    folders: list[str] = []
    for row in rows:
        path = _path_below(row, root)
        if path is None or any(map(is_hidden, path.split("/"))):
            continue
        if row.is_folder:
            folders.append(path)
        else:
            files.append(FileInfo(path, row.size, row.modified_ms))
    occupied = _with_parents({posixpath.dirname(file.path) for file in files})
    yield from files
    yield from (EmptyFolder(path) for path in folders if path not in occupied)


def _path_below(row: InventoryRow, root: TableRoot) -> str | None:
    return root.below(file_url_path(row.path) if scheme_of(row.path) == "file" else row.path)
