"""What a commit changed, derived from the files of the table before and after it.

A commit names files, and a rewritten file is one removed file and one added file. So without
recorded change files, the rows of both *may* have changed; an engine compares them.

| the file before        | the file after          | rows                                        |
|------------------------|-------------------------|---------------------------------------------|
| not in the table       | in the table            | its live rows, inserted                     |
| in the table           | not in the table        | its live rows, deleted                      |
| in the table           | with another vector     | the rows in only one of the two vectors     |
| in the table           | with the same vector    | none, even if the log adds it again         |

Adds and removes with `dataChange` false move rows without changing them; they only say which files
are in the table from then on.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from truckee.changes.version_diff import VectorChange, VersionDiff
from truckee.errors.changes import MissingExtendedMetadataError
from truckee.log.files.commits import Commit
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile, RemoveFile, tombstone


class LiveFiles:
    """The files of a table that some commits mention, at the version before the next commit.

    Without an initial snapshot, earlier files are unknown; then a file that a commit removes is
    assumed to have been in the table.
    """

    def __init__(self, before: Snapshot | None, commits: Iterable[Commit], *, is_new: bool) -> None:
        self._is_complete = is_new or before is not None
        self._files: dict[str, AddFile] = {}
        if before is not None:
            paths = {path for commit in commits for path in _paths(commit)}
            files = before.files_table()
            named = pc.is_in(files.column("path"), pa.array(sorted(paths), pa.string()))
            self._files = {add.path: add for add in before.add_files(files.filter(named))}

    def diff(self, commit: Commit) -> VersionDiff:
        """Return what a commit changed; call `forward` for the commit afterwards."""
        adds = {add.path: add for add in commit.adds}
        removes = {remove.path: remove for remove in commit.removes}
        changed = [remove.path for remove in removes.values() if remove.data_change]
        changed += [add.path for add in adds.values() if add.data_change]
        added: list[AddFile] = []
        removed: list[RemoveFile] = []
        vectors: list[VectorChange] = []
        for path in dict.fromkeys(changed):
            before = self._before(path, removes.get(path), commit.version)
            after = adds.get(path)
            if before is None and after is not None:
                added.append(after)
            elif before is not None and after is None:
                removed.append(tombstone(before))
            elif before is not None and after is not None and _vector(before) != _vector(after):
                vectors.append(VectorChange(after, before.deletion_vector))
        return VersionDiff(
            version=commit.version,
            timestamp_ms=commit.timestamp_ms,
            added=tuple(added),
            removed=tuple(removed),
            vector_changes=tuple(vectors),
        )

    def forward(self, commit: Commit) -> None:
        """Apply a commit to the files."""
        for remove in commit.removes:
            self._files.pop(remove.path, None)
        for add in commit.adds:
            self._files[add.path] = add

    def _before(self, path: str, remove: RemoveFile | None, version: int) -> AddFile | None:
        known = self._files.get(path)
        if known is not None or self._is_complete or remove is None:
            return known
        if not remove.extended_file_metadata:
            raise MissingExtendedMetadataError(version=version, path=path)
        return AddFile(
            path=path,
            partition_values=remove.partition_values or {},
            size=remove.size or 0,
            modification_time=0,
            data_change=False,
            stats=remove.stats,
            deletion_vector=remove.deletion_vector,
            base_row_id=remove.base_row_id,
            default_row_commit_version=remove.default_row_commit_version,
        )


def _paths(commit: Commit) -> Iterator[str]:
    yield from (add.path for add in commit.adds)
    yield from (remove.path for remove in commit.removes)


def is_two_sided(diff: VersionDiff) -> bool:
    """Return whether a commit may have both deleted and inserted rows, so that some may be equal.

    Change files record exactly what changed.
    """
    marks = [_marks(change) for change in diff.vector_changes]
    deletes = bool(diff.removed) or any(after for _, after in marks)
    inserts = bool(diff.added) or any(before for before, _ in marks)
    return deletes and inserts


def _marks(change: VectorChange) -> tuple[bool, bool]:
    """Return whether rows may have been restored, and whether rows may have been deleted."""
    before, after = change.before, change.after
    return (
        before is not None and not before.is_empty,
        after is not None and not after.is_empty,
    )


def _vector(file: AddFile) -> str | None:
    vector = file.deletion_vector
    return None if vector is None or vector.is_empty else vector.unique_id
