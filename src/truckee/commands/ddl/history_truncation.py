"""Deletes old history, so that no version is left that needs a feature.

A reader feature can be dropped completely once every version that used it is gone from the log.
Versions older than `delta.dropFeatureTruncateHistory.retentionDuration` (24 hours) are deleted
immediately. If a younger version needs the feature, a checkpoint is written after it, and the
feature can be dropped when that version is old enough:

    versions    3 (vectors)  4 (vectors)  5     6 checkpoint
    now         4 still needs the feature: wait
    a day later everything before 6 is deleted, and the feature is dropped
"""

from __future__ import annotations

import time

import pyarrow.compute as pc

from truckee.errors.commands.drop_feature import (
    CheckpointProtectionWaitError,
    FeatureRetentionError,
    HistoricalVersionsError,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.files.commits import Commit, read_commits
from truckee.log.files.segment import LogListing, list_log
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.log.upkeep.cleanup import clean_log
from truckee.protocol.actions import Metadata
from truckee.protocol.features import active_features
from truckee.protocol.paths import LogFileKind
from truckee.storage.base import Storage

_HOUR_MS = 3_600_000
_MINUTE_MS = 60_000
_VECTORS = "deletionVectors"
_V2_CHECKPOINT = "v2Checkpoint"


def without_uses(snapshot: Snapshot, feature: str, *, now_ms: int | None = None) -> Snapshot:
    """Delete the versions that need a feature, and return the latest one.

    Raises FeatureRetentionError or HistoricalVersionsError while one is too young to be deleted.
    """
    storage = snapshot.storage
    _clean(snapshot, now_ms)
    last = last_use(storage, feature)
    if last is None:
        return load_snapshot(storage)
    hours = -(-snapshot.properties.drop_feature_retention_ms // _HOUR_MS)
    listing = list_log(storage, 0)
    if any(version > last for version in _checkpoints(listing, feature)):
        raise HistoricalVersionsError(feature=feature, version=last, hours=hours)
    _write_boundary(load_snapshot(storage))
    raise FeatureRetentionError(feature=feature, version=last, hours=hours)


def truncate_protected(snapshot: Snapshot, *, now_ms: int | None = None) -> Snapshot:
    """Delete all versions that a table protects, and return the latest one."""
    storage = snapshot.storage
    _clean(snapshot, now_ms)
    before = snapshot.properties.require_checkpoint_protection_before_version
    earliest = min(list_log(storage, 0).commits, default=before)
    if earliest < before:
        hours = -(-snapshot.properties.drop_feature_retention_ms // _HOUR_MS)
        raise CheckpointProtectionWaitError(before=before, earliest=earliest, hours=hours)
    return load_snapshot(storage)


def _clean(snapshot: Snapshot, now_ms: int | None) -> None:
    now_ms = time.time_ns() // 1_000_000 if now_ms is None else now_ms
    kept_ms = snapshot.properties.drop_feature_retention_ms
    clean_log(snapshot, cutoff_ms=(now_ms - kept_ms) // _MINUTE_MS * _MINUTE_MS)


def last_use(storage: Storage, feature: str) -> int | None:
    """Return the newest version of the log that needs a feature, None if none is left."""
    listing = list_log(storage, 0)
    earliest = listing.earliest_readable
    assert earliest is not None
    last = earliest if _is_used(load_snapshot(storage, earliest), feature) else None
    if feature == _V2_CHECKPOINT:
        kinds = {version: found.kind for version, found in listing.checkpoints.items()}
        used = [v for v, kind in kinds.items() if kind is LogFileKind.CHECKPOINT_V2]
        last = max([*used, *([] if last is None else [last])], default=None)
    if listing.commits:
        for commit in read_commits(storage, min(listing.commits)):
            if _is_used_by(commit, feature):
                last = commit.version if last is None else max(last, commit.version)
    return last


def _is_used(snapshot: Snapshot, feature: str) -> bool:
    """Return whether a version needs a feature; files that it removed do not count."""
    if feature in active_features(snapshot.metadata):
        return True
    vectors = snapshot.files_table().column("deletion_vector")
    return feature == _VECTORS and bool(pc.any(pc.is_valid(vectors)).as_py())


def _is_used_by(commit: Commit, feature: str) -> bool:
    if any(
        feature in active_features(action)
        for action in commit.actions
        if isinstance(action, Metadata)
    ):
        return True
    has_vectors = any(add.deletion_vector for add in commit.adds) or any(
        remove.deletion_vector for remove in commit.removes
    )
    return feature == _VECTORS and has_vectors


def _checkpoints(listing: LogListing, feature: str) -> list[int]:
    """Return the versions of checkpoints from which the log can be read without a feature."""
    return [
        version
        for version, found in listing.checkpoints.items()
        if feature != _V2_CHECKPOINT or found.kind is not LogFileKind.CHECKPOINT_V2
    ]


def _write_boundary(snapshot: Snapshot) -> None:
    """Write a version that changes nothing, and its checkpoint, so history can end there."""
    transaction = Transaction(snapshot.storage, snapshot)
    version = transaction.commit("Empty Commit", allow_empty=True, is_blind_append=False)
    write_checkpoint(load_snapshot(snapshot.storage, version))
