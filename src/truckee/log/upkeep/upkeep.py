"""What follows a commit: its checksum, a manifest, and sometimes a checkpoint and a log cleanup.

Almost all of it only makes the next reader faster. The commit is already done, so a failure here
must not look like a failed commit: it goes to Python's logger `truckee` instead.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from functools import cache

from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.log.upkeep.checksum_writer import write_checksum
from truckee.log.upkeep.cleanup import clean_log, clean_staged_files
from truckee.log.upkeep.manifest import renew_manifest
from truckee.protocol.actions import Action, Metadata
from truckee.protocol.properties import TableProperties
from truckee.storage.base import Storage

_logger = logging.getLogger(__name__)


def keep_up(
    storage: Storage, before: Snapshot | None, version: int, actions: Iterable[Action]
) -> None:
    """Do what is due after `actions` were committed as `version`, and raise nothing.

    `before` is the snapshot that the transaction was planned against, reused where possible.
    """
    actions = tuple(actions)

    @cache
    def committed() -> Snapshot:
        return committed_snapshot(storage, before, version)

    what = f"of version {version} of the table {storage.root} could not be written"
    _attempt(f"the checksum {what}", lambda: write_checksum(storage, version, actions, committed))
    _attempt(
        f"the checkpoint {what}",
        lambda: _checkpoint_if_due(_metadata(before, actions), version, committed),
    )
    if _properties(_metadata(before, actions)).symlink_format_manifest:
        _attempt(f"the manifest {what}", lambda: renew_manifest(committed(), actions))


def committed_snapshot(storage: Storage, before: Snapshot | None, version: int) -> Snapshot:
    """Return the version that was just committed, from an older snapshot if possible."""
    if before is not None:
        latest = update_snapshot(before)
        if latest.version == version:
            return latest
    return load_snapshot(storage, version)


def _metadata(before: Snapshot | None, actions: Iterable[Action]) -> Metadata:
    for action in actions:
        if isinstance(action, Metadata):
            return action
    assert before is not None
    return before.metadata


def _checkpoint_if_due(metadata: Metadata, version: int, committed: Callable[[], Snapshot]) -> None:
    properties = _properties(metadata)
    if version == 0 or version % properties.checkpoint_interval:
        return
    snapshot = committed()
    write_checkpoint(snapshot)
    if snapshot.properties.enable_expired_log_cleanup:
        what = f"of the table {snapshot.storage.root} could not be cleaned up"
        _attempt(f"the log {what}", lambda: clean_log(snapshot))
        _attempt(f"staged files {what}", lambda: clean_staged_files(snapshot))


def _properties(metadata: Metadata) -> TableProperties:
    return TableProperties.from_configuration(metadata.configuration)


def _attempt(failure: str, effort: Callable[[], object]) -> None:
    try:
        effort()
    except Exception:
        _logger.warning("%s; the commit itself is safe", failure, exc_info=True)
