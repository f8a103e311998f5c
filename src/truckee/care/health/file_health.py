"""Files that are missing, that no version needs, or that the next vacuum deletes.

All of it comes from the log and one listing of the table's folder.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from shlex import quote

from truckee.care.health.findings import Finding, Severity, count_text, size_text
from truckee.care.health.presence import absent, needed_paths
from truckee.care.readable_versions import Readable, newest_first, readable_from
from truckee.care.table_root import TableRoot
from truckee.care.vacuum.dead_files import DeadFiles, dead_files, hidden_names
from truckee.care.vacuum.protected_files import ProtectedFiles, protected_files
from truckee.log.files.segment import list_commits
from truckee.log.snapshot import Snapshot
from truckee.protocol.paths import CHANGE_DATA_DIRECTORY, LOG_DIRECTORY
from truckee.storage.base import FileInfo
from truckee.storage.tree import EmptyFolder, walk

_DAY_MS = 24 * 3600 * 1000
_SHOWN = 5
_TEMPORARY_FOLDERS = ("_temporary", ".spark-staging")


@dataclass(frozen=True)
class FolderListing:
    """A listing of a table's folder, with the table's latest version."""

    snapshot: Snapshot
    entries: tuple[FileInfo | EmptyFolder, ...]
    now_ms: int

    @cached_property
    def root(self) -> TableRoot:
        """The table's root."""
        return TableRoot(self.snapshot.storage)

    @cached_property
    def paths(self) -> frozenset[str]:
        """The paths of all files below the root."""
        return frozenset(self.root.key(file.path) for file in self.files())

    def files(self) -> Iterator[FileInfo]:
        """Yield the files, including those of the log and hidden ones."""
        return (entry for entry in self.entries if isinstance(entry, FileInfo))

    def is_gone(self, encoded: str) -> bool:
        """Return whether a file of the log is missing; files outside the table count as present."""
        path = self.root.relative(encoded)
        return path is not None and self.root.key(path) not in self.paths

    def visible(self) -> Iterator[FileInfo | EmptyFolder]:
        """Yield the files and folders that a vacuum considers."""
        snapshot = self.snapshot
        is_hidden = hidden_names(snapshot.partition_columns, snapshot.properties)
        for entry in self.entries:
            if not any(map(is_hidden, entry.path.split("/"))):
                yield entry


def listing(snapshot: Snapshot, now_ms: int) -> FolderListing:
    """List the folder of a table."""
    return FolderListing(snapshot, tuple(walk(snapshot.storage, lambda _: False)), now_ms)


def file_findings(found: FolderListing, path: str) -> Iterator[Finding]:
    """Yield the problems with files, and the versions from which the table can be read."""
    now = readable_from(found.snapshot, found.is_gone)
    gone = _gone_files(found)
    last = _last_whole_version(found, set(gone)) if gone else found.snapshot.version
    if last is not None and last < now.table:
        # That version has lost files too.
        last = None
    if gone:
        yield _missing(gone, last, path)
    yield _readable(now, last)
    cutoff_ms = found.now_ms - found.snapshot.properties.deleted_file_retention_ms
    protected = protected_files(found.snapshot, cutoff_ms)
    dead = dead_files(found.visible(), protected, cutoff_ms)
    yield from _next_vacuum(found, dead, now, path)
    yield from _orphans(found, dead, path)
    yield from _temporary(found, path)


def _gone_files(found: FolderListing) -> list[str]:
    """Return the files of the latest version that are not there."""
    outside: list[str] = []
    gone: list[str] = []
    for needed in needed_paths(found.snapshot.files()):
        inside = found.root.below(needed)
        if inside is None:
            outside.append(needed)
        elif found.root.key(inside) not in found.paths:
            gone.append(needed)
    return [*gone, *absent(found.snapshot.storage, outside)]


def _missing(gone: list[str], last: int | None, path: str) -> Finding:
    return Finding(
        topic="missing",
        severity=Severity.ERROR,
        says=f"{count_text(len(gone), 'file')} that the table needs cannot be found: {_some(gone)}",
        mend="restore the files from a backup"
        if last is None
        else f"truckee restore {path} --version {last}",
        facts={"files": sorted(gone)},
    )


def _last_whole_version(found: FolderListing, gone: set[str]) -> int | None:
    """Return the version before the first of the missing files was added, if there is one."""
    storage = found.snapshot.storage
    first: int | None = None
    left = set(gone)
    for commit in newest_first(storage, sorted(list_commits(storage, 0), reverse=True)):
        added = left.intersection(needed_paths(commit.adds))
        if added:
            first = commit.version
            left -= added
        if not left:
            break
    return first - 1 if first and not left else None


def _readable(now: Readable, last: int | None) -> Finding:
    """Return which versions can be read, up to the last one of which all files are there."""
    if last is None:
        says = f"no version of the table from {now.table} on can be read in full"
    else:
        says = f"the table can be read from version {now.table} on, up to {last}"
    if now.feed is None:
        says += "; its change data feed is off"
    elif last is None or now.feed > last:
        says += "; none of its change data feed can be read"
    else:
        says += f"; its change data feed from version {now.feed} on"
    return Finding(
        topic="readable",
        severity=Severity.INFO,
        says=says,
        facts={"table": now.table, "feed": now.feed, "latest": last},
    )


def _next_vacuum(
    found: FolderListing, dead: DeadFiles, now: Readable, path: str
) -> Iterator[Finding]:
    if not dead.files and not dead.folders:
        return
    paths = {file.path for file in dead.files}
    root = found.root

    def is_gone(encoded: str) -> bool:
        return found.is_gone(encoded) or root.relative(encoded) in paths

    after = readable_from(found.snapshot, is_gone)
    says = (
        f"the next vacuum deletes {count_text(len(dead.files), 'file')} ({size_text(dead.size)}) "
        f"and {count_text(len(dead.folders), 'empty folder')}"
    )
    if after[:2] != now[:2]:
        says += f"; after that, {after.says()}"
    yield Finding(
        topic="vacuum",
        severity=Severity.INFO,
        says=says,
        mend=f"truckee vacuum {quote(path)}",
        facts={
            "files": len(dead.files),
            "bytes": dead.size,
            "folders": len(dead.folders),
            "tableReadableFrom": after.table,
            "feedReadableFrom": after.feed,
        },
    )


def _orphans(found: FolderListing, dead: DeadFiles, path: str) -> Iterator[Finding]:
    """Yield files that no version in the log names, if they are a day old."""
    known: ProtectedFiles = protected_files(found.snapshot, 0)
    old_ms = found.now_ms - _DAY_MS
    orphans = [
        entry
        for entry in found.visible()
        if isinstance(entry, FileInfo)
        and entry.modified_ms < old_ms
        and not entry.path.startswith(f"{CHANGE_DATA_DIRECTORY}/")
        and not known.covers(entry.path)
    ]
    if not orphans:
        return
    taken = {file.path for file in dead.files}
    left = sum(file.path not in taken for file in orphans)
    wait = f"; the retention keeps {left:,} of them for now" if left else ""
    yield Finding(
        topic="orphaned",
        severity=Severity.INFO,
        says=(
            f"no version in the log uses {count_text(len(orphans), 'file')} "
            f"({size_text(sum(file.size for file in orphans))}) of the folder: "
            f"{_some([file.path for file in orphans])}{wait}"
        ),
        mend=f"truckee vacuum {quote(path)}",
        facts={"files": len(orphans), "bytes": sum(file.size for file in orphans)},
    )


def _temporary(found: FolderListing, path: str) -> Iterator[Finding]:
    """Yield temporary files of interrupted writers, which no vacuum deletes."""
    old_ms = found.now_ms - _DAY_MS
    left = sorted(f for f in found.files() if f.modified_ms < old_ms and _is_temporary(f.path))
    if not left:
        return
    yield Finding(
        topic="temporary",
        severity=Severity.INFO,
        says=(
            f"interrupted writers have left {count_text(len(left), 'temporary file')} "
            f"({size_text(sum(file.size for file in left))}), which no vacuum deletes: "
            f"{_some([file.path for file in left])}"
        ),
        mend=f"rm -r {' '.join(quote(f'{path}/{part}') for part in _tops(left))}",
        facts={"files": [file.path for file in left]},
    )


def _is_temporary(path: str) -> bool:
    *folders, name = path.split("/")
    return (name.startswith(".") and name.endswith(".tmp")) or any(
        folder.startswith(_TEMPORARY_FOLDERS) for folder in folders
    )


def _tops(files: Iterable[FileInfo]) -> list[str]:
    """Return the fewest paths that hold temporary files: whole folders, or single files."""
    tops: dict[str, None] = {}
    for file in files:
        first = file.path.split("/")[0]
        is_folder = first != LOG_DIRECTORY and first.startswith(_TEMPORARY_FOLDERS)
        tops[first if is_folder else file.path] = None
    return list(tops)[:_SHOWN]


def _some(paths: list[str]) -> str:
    shown = ", ".join(sorted(paths)[:_SHOWN])
    return shown if len(paths) <= _SHOWN else f"{shown} and {len(paths) - _SHOWN:,} more"
