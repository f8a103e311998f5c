"""Which versions can still be compared after VACUUM deleted files that a diff needs.

This only runs to explain a read that failed because a file was gone.
"""

from __future__ import annotations

from collections.abc import Iterable

from truckee.changes.diff.snapshot_diff import SnapshotDiff
from truckee.changes.missing_files import missing_paths
from truckee.errors.base import DeltaError
from truckee.errors.diff import DiffFileNotFoundError
from truckee.log.files.commits import read_commits
from truckee.log.files.history import latest_version
from truckee.protocol.actions import RemoveFile
from truckee.protocol.paths import decode_path
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage, file_exists


def missing_diff_files(plan: SnapshotDiff) -> DiffFileNotFoundError | None:
    """Return the error that names the missing files, None if all exist."""
    for read in plan.reads:
        gone = list(missing_paths(read.storage, read.files))
        if gone:
            return DiffFileNotFoundError(
                table=read.storage.root,
                start=plan.before.version,
                end=plan.after.version,
                path=gone[0],
                count=len(gone),
                readable_from=_readable_from(read.storage, read.files, gone),
            )
    return None


def _readable_from(storage: Storage, files: Iterable[ScanFile], gone: Iterable[str]) -> int | None:
    """Return the first version after which none needs a missing file, None if the latest does.

    A file that version r removed is needed by the versions before r, so the newest commit that
    removed a missing file decides, whether or not this diff needs that file.
    """
    missing = set(gone)
    needed = {file.path: file for file in files}
    left = {path for path, file in needed.items() if missing & set(_all_paths(file))}
    first = min(file.version for file in needed.values())
    removed: list[tuple[int, list[str]]] = []
    try:
        for commit in read_commits(storage, first + 1, latest_version(storage)):
            left.difference_update(decode_path(remove.path) for remove in commit.removes)
            removed.append((commit.version, [p for r in commit.removes for p in _removed_paths(r)]))
    except DeltaError:
        return None
    if left:
        return None
    for version, paths in reversed(removed):
        if any(path in missing or not file_exists(storage, path) for path in paths):
            return version
    return None


def _removed_paths(remove: RemoveFile) -> Iterable[str]:
    yield decode_path(remove.path)
    vector = remove.deletion_vector
    if vector is not None and vector.is_on_disk:
        yield vector.file_path


def _all_paths(file: ScanFile) -> Iterable[str]:
    yield file.path
    for vector in (file.rows.within, file.rows.without):
        if vector is not None and vector.is_on_disk:
            yield vector.file_path
