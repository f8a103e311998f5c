"""RESTORE: which files to add and which to remove, to return to an earlier version.

Files are compared by path and deletion vector, as in the log. A file with another vector is removed
and added again with the old vector, and the feed shows the rows that differ:

| at the version restored | now           | restored        | removed         |
|-------------------------|---------------|-----------------|-----------------|
| `a`, `b`                | `b`, `c`      | `a`             | `c`             |
| `a` with vector 1       | `a`           | `a` with vector | `a` without     |
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from msgspec.structs import replace

from truckee.log.replay import FileKey, path_key, path_keys
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor


@dataclass(frozen=True, kw_only=True)
class RestorePlan:
    """The changes from the current version to the restored one; both lists are of live files."""

    current: Snapshot
    target: Snapshot
    restored: tuple[AddFile, ...]
    removed: tuple[AddFile, ...]

    def counts(self) -> dict[str, int]:
        """Return delta-spark's counts of a restore, with the names of its result."""
        return {
            "table_size_after_restore": self.target.size_in_bytes,
            "num_of_files_after_restore": self.target.num_files,
            "num_removed_files": len(self.removed),
            "num_restored_files": len(self.restored),
            "removed_files_size": sum(file.size for file in self.removed),
            "restored_files_size": sum(file.size for file in self.restored),
        }


def plan_restore(current: Snapshot, target: Snapshot) -> RestorePlan:
    """Return the changes that give the current version the files of the target."""
    now, then = _keys(current), _keys(target)
    removed = _files(current, now, without=set(then))
    spellings = {path_key(file.path): file.path for file in removed}
    # The feed pairs a file's old and new vector by its exact path.
    restored = [
        replace(file, path=spellings.get(path_key(file.path), file.path), data_change=True)
        for file in _files(target, then, without=set(now))
    ]
    return RestorePlan(
        current=current, target=target, restored=tuple(restored), removed=tuple(removed)
    )


def _keys(snapshot: Snapshot) -> list[FileKey]:
    return [key for batch in snapshot.files_table().to_batches() for key in _batch_keys(batch)]


def _batch_keys(batch: pa.RecordBatch) -> Iterator[FileKey]:
    paths = path_keys(batch.column("path")).to_pylist()
    vectors = batch.column("deletion_vector")
    if vectors.null_count == len(vectors):
        yield from ((path, None) for path in paths)
        return
    for path, fields in zip(paths, vectors.to_pylist(), strict=True):
        yield path, None if fields is None else DeletionVectorDescriptor(**fields).unique_id


def _files(snapshot: Snapshot, keys: list[FileKey], *, without: set[FileKey]) -> list[AddFile]:
    """Return the files of a snapshot whose keys are not among some others."""
    rows = [row for row, key in enumerate(keys) if key not in without]
    return snapshot.add_files(snapshot.files_table().take(pa.array(rows, pa.int64())))
