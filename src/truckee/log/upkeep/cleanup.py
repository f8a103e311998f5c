"""Deletes log files that no version within the log's retention needs any more.

Versions past the retention may be deleted, but a version can be read only from a checkpoint and the
commits after it. So the newest checkpoint from which every retained version can be read is kept,
with everything after it; everything before it is deleted, oldest first:

    expired versions   0 1 2 3 4 5 6 7     retained 8 9 ...
    checkpoints            2     5                    9
    deleted            0 1 2 3 4           version 8 is read from checkpoint 5 and commits 6 to 8

The cutoff is a midnight in UTC, so that a table is cleaned once a day rather than at each
checkpoint. Times of commit files are made monotonic first, as for time travel.

Only files that Delta's writers create are deleted: each is recognized by its exact name, sidecars
only in a table with V2 checkpoints. `Storage.delete` refuses paths that are not below the root.
"""

from __future__ import annotations

import posixpath
import time
from collections.abc import Iterable, Iterator

from truckee.log.checkpoint.reader import Checkpoint, open_checkpoint
from truckee.log.files.commits import monotonic
from truckee.log.files.segment import CheckpointFiles, LogListing, list_log
from truckee.log.snapshot import Snapshot
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import (
    LOG_DIRECTORY,
    SIDECAR_DIRECTORY,
    LogFile,
    LogFileKind,
    parse_log_name,
)
from truckee.storage.base import FileInfo, Storage
from truckee.storage.local import LocalStorage
from truckee.storage.read_bounds import without_fence
from truckee.storage.tree import OwnFiles

_DAY_MS = 24 * 3600 * 1000


def clean_log(
    snapshot: Snapshot, *, now_ms: int | None = None, cutoff_ms: int | None = None
) -> int:
    """Delete the log files that have expired, and return how many.

    Files older than `cutoff_ms` have expired; the default is the table's log retention. Call this
    after a checkpoint. Nothing is deleted if the remaining checkpoint cannot be opened, or if the
    table protects its history (feature checkpointProtection) and only a part of the protected
    versions has expired.
    """
    storage = snapshot.storage
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    if cutoff_ms is None:
        cutoff_ms = (now_ms - snapshot.properties.log_retention_ms) // _DAY_MS * _DAY_MS
    listing = list_log(storage, 0)
    first = first_version_kept(listing, cutoff_ms)
    if first is None or _is_protected(snapshot, first):
        return 0
    if not _is_whole(storage, open_checkpoint(storage, listing.checkpoints[first])):
        return 0
    files = list(_log_files(storage))
    expired = [file for name, file in files if name.end_version < first]
    count = _delete(storage, expired)
    if "v2Checkpoint" in snapshot.configuration.features:
        kept = [(name, file) for name, file in files if name.version >= first]
        count += _delete_sidecars(storage, kept, cutoff_ms)
    return count


def clean_staged_files(snapshot: Snapshot, *, now_ms: int | None = None) -> int:
    """Delete the incomplete files of killed writers, and return how many there were.

    On a local disk, log files and deletion vectors are staged as `.<name>.<unique>.tmp` in their
    target folder. A staged file that is a day old has no writer any more.
    """
    storage = without_fence(snapshot.storage)
    if not isinstance(storage, LocalStorage):
        return 0
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    folders = {"", LOG_DIRECTORY, SIDECAR_DIRECTORY, *_vector_folders(snapshot)}
    left = [file for folder in sorted(folders) for file in storage.leftovers(folder)]
    return _delete(storage, [file for file in left if file.modified_ms < now_ms - _DAY_MS])


def _vector_folders(snapshot: Snapshot) -> set[str]:
    """Return the table's own folders below the root in which it keeps deletion vectors."""
    vectors = snapshot.files_table().column("deletion_vector").drop_null().to_pylist()
    descriptors = (DeletionVectorDescriptor(**vector) for vector in vectors)
    own = (vector.file_path for vector in descriptors if vector.is_relative)
    folders = {posixpath.dirname(path) for path in own}
    files = OwnFiles(snapshot.storage)
    return {folder for folder in folders if folder and files.refusal(f"{folder}/") is None}


def first_version_kept(listing: LogListing, cutoff_ms: int) -> int | None:
    """Return the version of the oldest checkpoint to keep, None to keep everything.

    All versions newer than the cutoff can be read from it, and so can the latest one.
    """
    last_expired = -1
    for version, _, timestamp_ms in monotonic(listing.commits):
        if timestamp_ms >= cutoff_ms:
            break
        last_expired = version
    fitting = [version for version in listing.checkpoints if version <= last_expired + 1]
    newest = max(fitting, default=0)
    return newest if newest > 0 else None


def _is_protected(snapshot: Snapshot, first_kept: int) -> bool:
    before = snapshot.properties.require_checkpoint_protection_before_version
    return "checkpointProtection" in snapshot.configuration.features and first_kept < before


def _is_whole(storage: Storage, checkpoint: Checkpoint) -> bool:
    """Whether the other files that a checkpoint names exist."""
    sidecars = {path for path in checkpoint.parquet_files if path.startswith(SIDECAR_DIRECTORY)}
    return sidecars <= {file.path for file in storage.list_from(f"{SIDECAR_DIRECTORY}/")}


def _log_files(storage: Storage) -> Iterator[tuple[LogFile, FileInfo]]:
    """Yield the files that belong to a version, oldest version first."""
    for file in storage.list_from(f"{LOG_DIRECTORY}/{0:020d}"):
        name = parse_log_name(file.path.rpartition("/")[2])
        if name is not None and name.version >= 0:
            yield name, file


def _delete(storage: Storage, files: Iterable[FileInfo]) -> int:
    count = 0
    for file in files:
        storage.delete(file.path)
        count += 1
    return count


def _delete_sidecars(
    storage: Storage, kept: Iterable[tuple[LogFile, FileInfo]], cutoff_ms: int
) -> int:
    """Delete the sidecars that are not referenced by any retained checkpoint.

    Sidecars newer than the cutoff are kept: they may belong to a checkpoint that is being written.
    Files without a sidecar's name are kept too.
    """
    found = storage.list_from(f"{SIDECAR_DIRECTORY}/")
    sidecars = [file for file in found if parse_log_name(file.path) is not None]
    old = [file for file in sidecars if file.modified_ms < cutoff_ms]
    if not old:
        return 0
    named = set(_named_sidecars(storage, kept))
    return _delete(storage, [file for file in old if file.path not in named])


def _named_sidecars(storage: Storage, kept: Iterable[tuple[LogFile, FileInfo]]) -> Iterator[str]:
    """Yield the sidecars of every checkpoint that can have some, whatever its name."""
    for name, file in kept:
        if name.kind in (LogFileKind.CHECKPOINT, LogFileKind.CHECKPOINT_V2) and file.size:
            files = CheckpointFiles(name.version, name.kind, (file,))
            yield from open_checkpoint(storage, files).parquet_files
