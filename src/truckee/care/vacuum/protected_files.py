"""Which files a table still needs: those that are live, and those that were removed recently.

A needed file also needs each folder above it. The vectors of a file are in a separate file, which
many share: it is needed as long as one of them is.
"""

from __future__ import annotations

import logging
import posixpath
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truckee.care.table_root import TableRoot
from truckee.log.files.commits import read_commits
from truckee.log.files.segment import list_log
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import AddCDCFile, AddFile, RemoveFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor

_logger = logging.getLogger(__name__)


@dataclass
class ProtectedFiles:
    """Paths below a table's root that a vacuum does not delete."""

    root: TableRoot
    files: set[str] = field(default_factory=set)
    folders: set[str] = field(default_factory=set)

    def covers(self, path: str) -> bool:
        """Return whether a file is needed."""
        return self.root.key(path) in self.files

    def covers_folder(self, path: str) -> bool:
        """Return whether a file in this folder, or below it, is needed."""
        return self.root.key(path) in self.folders

    def add(self, path: str | None) -> None:
        """Protect a path below the root, and the folders above it; None is outside."""
        if path is None:
            return
        key = self.root.key(path)
        self.files.add(key)
        folder = posixpath.dirname(key)
        while folder and folder not in self.folders:
            self.folders.add(folder)
            folder = posixpath.dirname(folder)

    def add_rows(self, files: pa.Table | pa.RecordBatch) -> None:
        """Protect the data files and vectors of rows with `path` and `deletion_vector`."""
        for path in files.column("path").to_pylist():
            self.add(self.root.relative(path))
        vectors = files.column("deletion_vector")
        if vectors.null_count < len(vectors):
            for path in set(_vector_paths(vectors.to_pylist())):
                self.add(self.root.below(path))

    def add_actions(self, actions: Iterable[object]) -> None:
        """Protect the files of a commit's actions, including those that it removes."""
        for action in actions:
            if isinstance(action, AddFile | RemoveFile | AddCDCFile):
                self.add(self.root.relative(action.path))
            if isinstance(action, AddFile | RemoveFile):
                self.add(vector_path(action.deletion_vector, self.root))


def protected_files(
    snapshot: Snapshot, cutoff_ms: int, *, from_version: int | None = None
) -> ProtectedFiles:
    """Return the files that a version needs, and those of readers of earlier versions.

    Removed files are needed until their removal is older than the cutoff. `from_version` keeps
    everything for a reader that starts there: the table at that version, and every change since.
    """
    found = ProtectedFiles(TableRoot(snapshot.storage))
    found.add_rows(snapshot.files_table())
    for batch in snapshot.tombstone_batches():
        removed_ms = pc.fill_null(batch.column("deletion_timestamp"), 0)
        found.add_rows(batch.filter(pc.greater_equal(removed_ms, cutoff_ms)))
    if from_version is not None:
        _add_since(found, snapshot, from_version)
    return found


def _add_since(found: ProtectedFiles, snapshot: Snapshot, version: int) -> None:
    listing = list_log(snapshot.storage, 0)
    first = max(version, listing.earliest_readable or 0, min(listing.commits, default=0))
    if first > version:
        _logger.warning(
            "version %d of the table %s can no longer be read, so only files needed from "
            "version %d on is protected",
            version,
            snapshot.storage.root,
            first,
        )
    found.add_rows(load_snapshot(snapshot.storage, first).files_table())
    for commit in read_commits(snapshot.storage, first, snapshot.version):
        found.add_actions(commit.actions)


def vector_path(vector: DeletionVectorDescriptor | None, root: TableRoot) -> str | None:
    """Return the file of a vector below the root, None if it has none or is outside."""
    if vector is None or vector.is_inline:
        return None
    return root.below(vector.file_path)


def _vector_paths(vectors: Iterable[dict[str, Any] | None]) -> Iterator[str]:
    for fields in vectors:
        if fields is not None:
            vector = DeletionVectorDescriptor(**fields)
            if vector.is_on_disk:
                yield vector.file_path
