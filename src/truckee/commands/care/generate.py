"""GENERATE: lists of a table's files, for readers that do not read the log."""

from __future__ import annotations

from truckee.errors.commands.clone import ManifestModeError
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.manifest import write_manifest
from truckee.storage.base import Storage

MANIFEST_MODE = "symlink_format_manifest"


def generate(storage: Storage, mode: str) -> None:
    """Write the manifests of the latest version; the mode is `symlink_format_manifest`."""
    if str(mode).lower() != MANIFEST_MODE:
        raise ManifestModeError(mode=str(mode))
    write_manifest(load_snapshot(storage))
