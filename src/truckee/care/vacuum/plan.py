"""VACUUM: what would be deleted, and what could no longer be read afterwards.

It is made from a snapshot, settings and a listing. Nothing is deleted here.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum

import msgspec

from truckee.care.readable_versions import Readable, readable_from
from truckee.care.table_root import TableRoot
from truckee.care.vacuum.consumers import Consumer, needed_from
from truckee.care.vacuum.dead_files import (
    DeadFiles,
    InventoryRow,
    dead_files,
    hidden_names,
    inventory_entries,
    logged_candidates,
    only_own,
)
from truckee.care.vacuum.protected_files import protected_files
from truckee.care.vacuum.retention import Retention, retention
from truckee.errors.commands.care import RETENTION_CHECK, VacuumLiteError
from truckee.errors.options import IllegalOptionError
from truckee.log.files.commits import read_commits
from truckee.log.files.history import version_at_or_after
from truckee.log.files.segment import list_commits
from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.options.text import Options
from truckee.protocol.features import check_writable
from truckee.protocol.paths import LAST_VACUUM_INFO_PATH
from truckee.storage.base import FileInfo, Storage, file_exists
from truckee.storage.tree import EmptyFolder, walk

_DELTA = "spark.databricks.delta.vacuum."


class VacuumMode(Enum):
    """Where candidates come from: a listing of the folder, or the log alone."""

    FULL = "FULL"
    LITE = "LITE"


@dataclass(frozen=True, kw_only=True)
class VacuumOptions:
    """The options of a vacuum. `protect` are consumers whose files are kept (see `consumers`).

    `inventory` replaces the listing. If `mode` is None, the settings decide, which are
    those of a Spark session.
    """

    retention_hours: float | None = None
    mode: VacuumMode | str | None = None
    inventory: Iterable[InventoryRow] | None = None
    protect: tuple[Consumer, ...] = ()


@dataclass(frozen=True, kw_only=True)
class VacuumPlan:
    """What a vacuum deletes, and what can be read afterwards.

    `done_version` is the newest version up to which all removed files are gone afterwards, for the
    next LITE; None if that is not known.
    """

    snapshot: Snapshot
    mode: VacuumMode
    retention: Retention
    dead: DeadFiles
    after: Readable
    done_version: int | None

    @property
    def paths(self) -> tuple[str, ...]:
        """Everything that is deleted, files and folders, below the root."""
        return (*(file.path for file in self.dead.files), *self.dead.folders)

    @property
    def breaks(self) -> str | None:
        """What can no longer be read afterwards, in words; None if nothing."""
        return f"after this, {self.after.says()}" if self.after.lacks_files else None


def plan_vacuum(
    storage: Storage,
    options: VacuumOptions,
    settings: Mapping[str, str] | None = None,
    *,
    now_ms: int | None = None,
) -> VacuumPlan:
    """Return what a vacuum of the latest version would delete.

    Raises before anything is listed: the errors of `check_writable`, of `retention` and of
    `needed_from`; and VacuumLiteError if LITE cannot know all removed files.
    """
    given = Options(settings or {})
    snapshot = load_snapshot(storage)
    check_writable(snapshot.protocol, snapshot.metadata, storage.root)
    kept = retention(
        snapshot.properties,
        options.retention_hours,
        now_ms=time.time_ns() // 1_000_000 if now_ms is None else now_ms,
        is_checked=given.boolean(RETENTION_CHECK, True),
        ignores_hours=given.boolean(f"{_DELTA}retentionWindowIgnore.enabled"),
    )
    mode = _mode(options.mode, given)
    expired = _expired_version(storage, kept.cutoff_ms)
    from_version = _oldest_needed(snapshot, options, kept, expired)
    is_lite = mode is VacuumMode.LITE
    found = _logged(snapshot, expired) if is_lite else _listed(snapshot, options.inventory)
    is_listing = not is_lite and options.inventory is None
    # Files that were committed during a long listing are in use too.
    snapshot = update_snapshot(snapshot)
    protected = protected_files(snapshot, kept.cutoff_ms, from_version=from_version)
    dead = dead_files(found, protected, kept.cutoff_ms)
    if not is_listing:
        dead = only_own(storage, dead)
    return VacuumPlan(
        snapshot=snapshot,
        mode=mode,
        retention=kept,
        dead=dead,
        after=_readable_without(snapshot, dead, found if is_listing else None),
        done_version=_done_version(options, expired, from_version),
    )


def _oldest_needed(
    snapshot: Snapshot, options: VacuumOptions, kept: Retention, expired: int | None
) -> int | None:
    """Return the version from which on the log says what is needed; None if tombstones say it.

    Checkpoints drop tombstones after the table's own retention. If a longer one is asked for, the
    commits since then show which files were removed.
    """
    needed = needed_from(snapshot, options.protect)
    is_longer = kept.specified_ms is not None and kept.specified_ms > kept.default_ms
    if not is_longer:
        return needed
    commits = list_commits(snapshot.storage, 0 if expired is None else expired + 1)
    if not commits:
        return needed
    return min(commits) if needed is None else min(*commits, needed)


def _done_version(
    options: VacuumOptions, expired: int | None, from_version: int | None
) -> int | None:
    """Return the last expired version, unless files that it removed stay.

    A protected reader keeps what is removed from its version on, and an inventory may not show
    every file.
    """
    if expired is None or options.inventory is not None:
        return None
    done = expired if from_version is None else min(expired, from_version - 1)
    return done if done >= 0 else None


def _mode(asked: VacuumMode | str | None, given: Options) -> VacuumMode:
    if isinstance(asked, VacuumMode):
        return asked
    if asked is None:
        return VacuumMode.LITE if given.boolean(f"{_DELTA}lite.enabled") else VacuumMode.FULL
    try:
        return VacuumMode(asked.upper())
    except ValueError as error:
        raise IllegalOptionError(option="mode", value=asked, needs="FULL or LITE") from error


def _listed(
    snapshot: Snapshot, inventory: Iterable[InventoryRow] | None
) -> list[FileInfo | EmptyFolder]:
    is_hidden = hidden_names(snapshot.partition_columns, snapshot.properties)
    if inventory is None:
        return list(walk(snapshot.storage, is_hidden))
    return list(inventory_entries(inventory, TableRoot(snapshot.storage), is_hidden))


class _LastVacuum(msgspec.Struct, rename="camel"):
    latest_commit_version_outside_of_retention_window: int | None = None


def _logged(snapshot: Snapshot, expired: int | None) -> list[FileInfo | EmptyFolder]:
    """Return what was removed by commits after the last LITE, and before the cutoff."""
    storage = snapshot.storage
    first = min(list_commits(storage, 0), default=0)
    done = last_vacuumed_version(storage)
    if first and (done is None or done < first):
        raise VacuumLiteError(table=storage.root, first=first)
    start = min(snapshot.version, first if done is None else done + 1)
    if expired is None or expired < start:
        return []
    is_hidden = hidden_names(snapshot.partition_columns, snapshot.properties)
    commits = read_commits(storage, start, expired)
    return list(logged_candidates(commits, TableRoot(storage), is_hidden))


def last_vacuumed_version(storage: Storage) -> int | None:
    """Return the version up to which removed files are deleted, None if unknown."""
    try:
        data = storage.read(LAST_VACUUM_INFO_PATH)
        found = msgspec.json.decode(data, type=_LastVacuum)
    except (FileNotFoundError, msgspec.DecodeError):
        return None
    return found.latest_commit_version_outside_of_retention_window


def _expired_version(storage: Storage, cutoff_ms: int) -> int | None:
    """Return the newest version that was committed at or before the cutoff."""
    commits = list_commits(storage, 0)
    if not commits:
        return None
    after = version_at_or_after(storage, cutoff_ms + 1)
    last = max(commits) if after is None else after - 1
    return last if last >= min(commits) else None


def _readable_without(
    snapshot: Snapshot, dead: DeadFiles, listing: Iterable[FileInfo | EmptyFolder] | None
) -> Readable:
    """Return what can be read afterwards; `lacks_files` if this vacuum deletes what is needed.

    A listing also shows what earlier vacuums deleted. Without one, only this vacuum counts.
    """
    storage = snapshot.storage
    root = TableRoot(storage)
    paths = {file.path for file in dead.files}

    def is_deleted(path: str) -> bool:
        return bool(paths) and root.relative(path) in paths

    after = readable_from(snapshot, is_deleted)
    if listing is None:
        return after
    listed = {root.key(entry.path) for entry in listing if isinstance(entry, FileInfo)}

    def is_gone(path: str) -> bool:
        place = root.relative(path)
        if place is None or place in paths:
            return place is not None
        # A hidden file, and one that was written meanwhile, is not in the listing.
        return root.key(place) not in listed and not file_exists(storage, place)

    return readable_from(snapshot, is_gone)._replace(lacks_files=after.lacks_files)
