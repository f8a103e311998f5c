"""Which of the files that a version needs are missing."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor

from truckee.care.table_root import TableRoot
from truckee.protocol.actions import AddFile
from truckee.protocol.paths import decode_path
from truckee.storage.base import Storage, file_exists

_MANY = 1000
_THREADS = 16


def needed_paths(files: Iterable[AddFile]) -> Iterator[str]:
    """Yield the data files and the files of vectors, each once, as paths for the storage."""
    seen: set[str] = set()
    for file in files:
        vector = file.deletion_vector
        paths = [decode_path(file.path)]
        if vector is not None and vector.is_on_disk:
            paths.append(vector.file_path)
        for path in paths:
            if path not in seen:
                seen.add(path)
                yield path


def absent(storage: Storage, paths: Iterable[str]) -> list[str]:
    """Return the paths, not encoded, without a file.

    Many paths are compared with one listing; those outside of the table are checked one by one.
    """
    wanted = list(paths)
    if len(wanted) > _MANY:
        root = TableRoot(storage)
        there = {file.path for file in storage.list_tree("")}
        wanted = [path for path in wanted if root.below(path) not in there]
    with ThreadPoolExecutor(_THREADS) as pool:
        found = pool.map(lambda path: file_exists(storage, path), wanted)
        return [path for path, is_there in zip(wanted, found, strict=True) if not is_there]
