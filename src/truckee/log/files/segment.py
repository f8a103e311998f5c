"""Which checkpoint and which commits make up version N, from a listing of the log.

Only file names are used; no commit is opened here. `_last_checkpoint` is only a hint where to start
listing: if it is missing, broken or wrong, the whole directory is listed.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import msgspec

from truckee.errors.log import (
    MissingCheckpointError,
    TruncatedLogError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)
from truckee.log.files.absent_table import absent_table
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.paths import (
    LAST_CHECKPOINT_PATH,
    LOG_DIRECTORY,
    LogFile,
    LogFileKind,
    parse_log_name,
)
from truckee.storage.base import FileInfo, Storage


@dataclass(frozen=True)
class CheckpointFiles:
    """One complete checkpoint: a single file, or all parts of a multi-part one in order."""

    version: int
    kind: LogFileKind
    files: tuple[FileInfo, ...]


class CompactedFile(NamedTuple):
    """A log compaction file, which can replace the commits `start..end`, both included."""

    start: int
    end: int
    file: FileInfo


@dataclass(frozen=True)
class LogSegment:
    """The files that version `version` is replayed from.

    `commits` follow the checkpoint without a gap, oldest first, and end at `version`. `compacted`
    are the compaction files within them. `last_commit` is the commit file of `version`
    itself, None if only its checkpoint is left.
    """

    version: int
    checkpoint: CheckpointFiles | None
    commits: tuple[FileInfo, ...]
    compacted: tuple[CompactedFile, ...] = ()
    last_commit: FileInfo | None = None

    @property
    def replay_files(self) -> tuple[FileInfo, ...]:
        """The fewest files that cover all commits after the checkpoint, oldest first."""
        first = self.version - len(self.commits) + 1
        longest = {first + i: (first + i, file) for i, file in enumerate(self.commits)}
        for start, end, file in self.compacted:
            if end > longest[start][0]:
                longest[start] = end, file
        chosen: list[FileInfo] = []
        version = first
        while version <= self.version:
            end, file = longest[version]
            chosen.append(file)
            version = end + 1
        return tuple(chosen)


def log_segment(storage: Storage, version: int | None = None) -> LogSegment:
    """Return the files of the given version, or of the latest one.

    Raises `NotADeltaTableError`, `VersionNotFoundError`, `VersionsNotContiguousError` or
    `TruncatedLogError`.
    """
    hint = last_checkpoint_version(storage)
    if hint is not None and (version is None or hint <= version):
        listing = list_log(storage, hint, version)
        if listing.newest_checkpoint(version) is not None:
            return _segment(storage, listing, version)
    return _segment(storage, list_log(storage, 0, version), version)


@dataclass
class LogListing:
    """The files of a log by kind, each kind in order of version."""

    commits: dict[int, FileInfo] = field(default_factory=dict)
    checkpoints: dict[int, CheckpointFiles] = field(default_factory=dict)
    compacted: list[CompactedFile] = field(default_factory=list)

    @property
    def latest(self) -> int | None:
        """The newest version, None if there is none."""
        return max((*self.commits, *self.checkpoints), default=None)

    @property
    def earliest_readable(self) -> int | None:
        """The oldest version whose state can be rebuilt, None if there is none."""
        if 0 in self.commits:
            return 0
        return min(self.checkpoints, default=None)

    def newest_checkpoint(self, version: int | None = None) -> CheckpointFiles | None:
        """Return the newest complete checkpoint at or below a version."""
        fitting = [v for v in self.checkpoints if version is None or v <= version]
        return self.checkpoints[max(fitting)] if fitting else None


def list_log(storage: Storage, start: int, end: int | None = None) -> LogListing:
    """Return the log files of the versions `start..end`, both included, from one listing."""
    listing = LogListing()
    candidates: dict[int, list[tuple[LogFile, FileInfo]]] = {}
    for name, file in _numbered_files(storage, start, end):
        if name.kind is LogFileKind.COMMIT:
            listing.commits[name.version] = file
        elif name.kind is LogFileKind.COMPACTED:
            listing.compacted.append(CompactedFile(name.version, name.end_version, file))
        elif name.is_checkpoint and file.size > 0:
            candidates.setdefault(name.version, []).append((name, file))
    for version, found in candidates.items():
        best = _best_checkpoint(version, found)
        if best is not None:
            listing.checkpoints[version] = best
    return listing


def list_commits(
    storage: Storage, start: int, end: int | None = None, *, most: int | None = None
) -> dict[int, FileInfo]:
    """Return the commit files of the versions `start..end` that exist, in order of version.

    With `most`, the listing stops after that many commits.
    """
    commits: dict[int, FileInfo] = {}
    for name, file in _numbered_files(storage, start, end, most):
        if name.kind is LogFileKind.COMMIT:
            commits[name.version] = file
    return commits


def _numbered_files(
    storage: Storage, start: int, end: int | None, most: int | None = None
) -> list[tuple[LogFile, FileInfo]]:
    """Return the files of the versions `start..end`, as they were at one moment.

    If two commits are made while a folder is listed, the listing may show the second but not the
    first. So if a commit seems to be missing, the folder is listed once more, up to the newest
    version seen: all commits up to there existed before the second listing.
    """
    found = _listed_files(storage, start, end, most)
    commits = [name.version for name, _ in found if name.kind is LogFileKind.COMMIT]
    first = start if start > 0 else min(commits, default=0)
    if commits and (commits[0] != first or commits[-1] - first + 1 != len(commits)):
        found = _listed_files(storage, start, found[-1][0].version)
    return found


def _listed_files(
    storage: Storage, start: int, end: int | None, most: int | None = None
) -> list[tuple[LogFile, FileInfo]]:
    found: list[tuple[LogFile, FileInfo]] = []
    commits = 0
    for file in storage.list_from(f"{LOG_DIRECTORY}/{start:020d}"):
        name = parse_log_name(file.path.rpartition("/")[2])
        if name is None or name.version < 0:
            continue
        if end is not None and name.version > end:
            break
        found.append((name, file))
        commits += name.kind is LogFileKind.COMMIT
        if commits == most:
            break
    return found


_PREFERENCE = {
    LogFileKind.CHECKPOINT: 0,
    LogFileKind.CHECKPOINT_PART: 1,
    LogFileKind.CHECKPOINT_V2: 2,
}


def _best_checkpoint(
    version: int, found: Iterable[tuple[LogFile, FileInfo]]
) -> CheckpointFiles | None:
    """Return the preferred checkpoint: V2, then most parts, then single; then the last name."""
    groups: dict[tuple[LogFileKind, int, str], dict[int, FileInfo]] = {}
    for name, file in found:
        single = name.kind is not LogFileKind.CHECKPOINT_PART
        group = (name.kind, name.parts or 1, name.name if single else "")
        groups.setdefault(group, {})[name.part or 1] = file
    complete = [group for group, files in groups.items() if len(files) == group[1]]
    if not complete:
        return None
    best = max(complete, key=lambda group: (_PREFERENCE[group[0]], group[1], group[2]))
    files = tuple(file for _, file in sorted(groups[best].items()))
    return CheckpointFiles(version, best[0], files)


# A hint may have the schema of the checkpoint, with statistics for each column of the table.
_LARGEST_HINT = 16 << 20


class _Hint(msgspec.Struct):
    version: int


def last_checkpoint_version(storage: Storage) -> int | None:
    """Return the version that `_last_checkpoint` names, None if it cannot be read."""
    try:
        # It may be of any size. A part of it is no JSON, and counts as a hint that is not there.
        data = storage.read_range(LAST_CHECKPOINT_PATH, 0, _LARGEST_HINT)
        hint = msgspec.json.decode(data, type=_Hint)
    except (FileNotFoundError, *NOT_JSON):
        return None
    return hint.version if hint.version >= 0 else None


def _segment(storage: Storage, listing: LogListing, version: int | None) -> LogSegment:
    latest = listing.latest
    if latest is None or (version is not None and version > latest):
        raise _unavailable(storage, version)
    target = latest if version is None else version
    checkpoint = listing.newest_checkpoint(target)
    after = -1 if checkpoint is None else checkpoint.version
    versions = sorted(v for v in listing.commits if after < v <= target)
    for expected, found in enumerate(versions, after + 1):
        if found == expected:
            continue
        if expected > 0:
            raise VersionsNotContiguousError(table=storage.root, missing=expected, found=found)
        if version is None:
            raise TruncatedLogError(table=storage.root, first=found)
        raise _unavailable(storage, version)
    if after + len(versions) < target:
        raise _unavailable(storage, version)
    return LogSegment(
        version=target,
        checkpoint=checkpoint,
        commits=tuple(listing.commits[v] for v in versions),
        compacted=tuple(c for c in listing.compacted if after < c.start and c.end <= target),
        last_commit=listing.commits.get(target),
    )


def _unavailable(storage: Storage, version: int | None) -> Exception:
    """Return the error for a version that was not listed, after listing everything."""
    everything = list_log(storage, 0)
    latest = everything.latest
    if latest is None:
        return _no_table(storage)
    earliest = everything.earliest_readable
    if earliest is None:
        return TruncatedLogError(table=storage.root, first=min(everything.commits))
    if version is not None and not earliest <= version <= latest:
        return VersionNotFoundError(
            table=storage.root, version=version, earliest=earliest, latest=latest
        )
    checkpoint = everything.newest_checkpoint(version)
    after = -1 if checkpoint is None else checkpoint.version
    missing = after + 1
    for found in sorted(everything.commits):
        missing += found == missing
    return VersionsNotContiguousError(table=storage.root, missing=missing, found=latest)


def _no_table(storage: Storage) -> Exception:
    hint = last_checkpoint_version(storage)
    if hint is None:
        return absent_table(storage)
    return MissingCheckpointError(table=storage.root, version=hint)
