"""What a range of commits did to the files that they name: each file before and after them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from truckee.log.files.commits import Commit
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.paths import decode_path, encode_path


@dataclass(frozen=True)
class FileChange:
    """A data file before and after, by its decoded path; None where it is not in the table."""

    path: str
    before: AddFile | None
    after: AddFile | None

    @property
    def is_new(self) -> bool:
        """Whether the file was added."""
        return self.before is None and self.after is not None

    @property
    def is_gone(self) -> bool:
        """Whether the file was removed."""
        return self.before is not None and self.after is None


def file_changes(snapshot: Snapshot, commits: Sequence[Commit]) -> list[FileChange]:
    """Return the files that commits after a snapshot name, as they were and as they are now.

    A file that was added and removed again in between is left out.
    """
    after: dict[str, AddFile | None] = {}
    for commit in commits:
        for remove in commit.removes:
            after[decode_path(remove.path)] = None
        for add in commit.adds:
            after[decode_path(add.path)] = add
    before = files_by_path(snapshot, after)
    found = (FileChange(path, before.get(path), now) for path, now in after.items())
    return [each for each in found if each.before is not None or each.after is not None]


def files_by_path(snapshot: Snapshot, paths: Iterable[str]) -> dict[str, AddFile]:
    """Return those of the files at these decoded paths that are live."""
    files = snapshot.files_table()
    spelled = pa.array([text for path in paths for text in _spellings(path)], pa.string())
    found = snapshot.add_files(files.filter(pc.is_in(files.column("path"), spelled)))
    return {decode_path(add.path): add for add in found}


def _spellings(path: str) -> list[str]:
    """Return the ways writers spell a path: an absolute local path may have more slashes."""
    spelled = encode_path(path)
    return [spelled, f"file://{spelled[5:]}"] if path.startswith("/") else [spelled]
