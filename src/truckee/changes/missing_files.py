"""Which part of a feed can still be read after VACUUM deleted some of its files.

This only runs to explain a read that failed because a file was gone.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import islice

from truckee.errors.changes import ChangeDataFileNotFoundError
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage, file_exists

_THREADS = 16
_AT_ONCE = 256


def missing_file_error(
    storage: Storage, files: Iterable[ScanFile], *, end: int
) -> ChangeDataFileNotFoundError | None:
    """Return the error with the version from which the feed can be read, None if all files exist.

    `files` are those of a plan that ends at version `end`. They are checked from the newest version
    to the oldest, up to the first version that lacks a data file, a change file or a file of
    vectors: every version after that one can be read.
    """
    looked_for = _newest_first(files)
    with ThreadPoolExecutor(_THREADS) as pool:
        while batch := list(islice(looked_for, _AT_ONCE)):
            found = pool.map(lambda item: file_exists(storage, item[1]), batch)
            for (version, path), is_there in zip(batch, found, strict=True):
                if not is_there:
                    return ChangeDataFileNotFoundError(
                        table=storage.root,
                        path=path,
                        version=version,
                        end=end,
                        readable_from=version + 1 if version < end else None,
                    )
    return None


def missing_paths(storage: Storage, files: Iterable[ScanFile]) -> Iterator[str]:
    """Yield the missing data files, change files and files of vectors, each once."""
    looked_for = _newest_first(files)
    with ThreadPoolExecutor(_THREADS) as pool:
        while batch := list(islice(looked_for, _AT_ONCE)):
            found = pool.map(lambda item: file_exists(storage, item[1]), batch)
            for (_, path), is_there in zip(batch, found, strict=True):
                if not is_there:
                    yield path


def _newest_first(files: Iterable[ScanFile]) -> Iterator[tuple[int, str]]:
    """Yield each path once, with the newest version that needs it."""
    seen: set[str] = set()
    for file in sorted(files, key=lambda file: file.version, reverse=True):
        for path in _paths(file):
            if path not in seen:
                seen.add(path)
                yield file.version, path


def _paths(file: ScanFile) -> Iterator[str]:
    yield file.path
    for vector in (file.rows.within, file.rows.without):
        if vector is not None and vector.is_on_disk:
            yield vector.file_path
