"""Runs a VACUUM: a commit before, the deletion, a commit after.

The two commits have only `commitInfo`: they say what was deleted, and when. A process that is
killed in between leaves an intact table, because only files that nobody needs were deleted.

A plan may be minutes old when it is carried out, for a user was asked first. So the commits since
then are read after the first of the two, and what they name is kept. A RESTORE that was planned
before that commit fails, as it does after any other.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import msgspec

from truckee.care.table_root import TableRoot
from truckee.care.vacuum.plan import VacuumPlan
from truckee.care.vacuum.protected_files import ProtectedFiles
from truckee.errors.base import DeltaError
from truckee.errors.storage import StorageError
from truckee.log.commit.conflicts import IsolationLevel
from truckee.log.commit.transaction import Transaction
from truckee.log.files.commits import read_commits
from truckee.log.snapshot import load_snapshot
from truckee.options.text import Options
from truckee.protocol.paths import LAST_VACUUM_INFO_PATH
from truckee.storage.base import Storage
from truckee.storage.tree import DeletionOutcome, delete_files, delete_folders
from truckee.storage.urls import scheme_of

_logger = logging.getLogger(__name__)

Delete = Callable[[Storage, Sequence[str]], Iterable[DeletionOutcome]]
"""Deletes files, and yields the outcome after each part of them."""
Progress = Callable[[int, int], None]
"""Called with the number of files done, and of all files."""

LOGGING = "spark.databricks.delta.vacuum.logging.enabled"
"""Whether a vacuum commits before and after; as in Delta, it does even if it deletes nothing."""
# Delta commits its vacuums only where the file system itself has a put-if-absent.
_LOGGED_SCHEMES = {None, "file", "hdfs", "abfs", "abfss", "wasb", "wasbs", "adl", "gs"}
_THREADS = 16
_AT_ONCE = 200


@dataclass(frozen=True, kw_only=True)
class VacuumOutcome:
    """What a vacuum has deleted; `failures` are paths that still exist, with the reason."""

    files: int
    folders: int
    failures: tuple[tuple[str, str], ...] = ()


def delete_in_threads(storage: Storage, paths: Sequence[str]) -> Iterable[DeletionOutcome]:
    """Delete files from this process, many at a time."""
    parts = [paths[start : start + _AT_ONCE] for start in range(0, len(paths), _AT_ONCE)]
    with ThreadPoolExecutor(_THREADS) as pool:
        yield from pool.map(lambda part: delete_files(storage, part), parts)


def carry_out(
    plan: VacuumPlan,
    settings: Mapping[str, str] | None = None,
    *,
    delete: Delete = delete_in_threads,
    progress: Progress | None = None,
) -> VacuumOutcome:
    """Delete what a plan names, and return what was done.

    A failure does not stop the vacuum: it is in the outcome, and in Python's log.
    """
    storage = plan.snapshot.storage
    is_logged = _is_logged(storage, Options(settings or {}))
    if is_logged:
        _commit(storage, "VACUUM START", *_start(plan))
    try:
        outcome = _deleted(plan, delete, progress)
    except BaseException:
        if is_logged:
            _commit(storage, "VACUUM END", {"status": "FAILED"}, {})
        raise
    if is_logged:
        metrics = {
            "numDeletedFiles": outcome.files + outcome.folders,
            "numVacuumedDirectories": plan.dead.listed_folders,
        }
        _commit(storage, "VACUUM END", {"status": "COMPLETED"}, metrics)
    _note_version(plan, outcome)
    return outcome


def _is_logged(storage: Storage, given: Options) -> bool:
    return given.boolean(LOGGING, scheme_of(storage.root) in _LOGGED_SCHEMES)


def _start(plan: VacuumPlan) -> tuple[dict[str, Any], dict[str, object]]:
    kept = plan.retention
    parameters = {
        "retentionCheckEnabled": kept.is_checked,
        "defaultRetentionMillis": kept.default_ms,
        "specifiedRetentionMillis": kept.specified_ms,
    }
    metrics: dict[str, object] = {
        "numFilesToDelete": len(plan.paths),
        "sizeOfDataToDelete": plan.dead.size,
    }
    return parameters, metrics


def _commit(
    storage: Storage, operation: str, parameters: Mapping[str, Any], metrics: Mapping[str, object]
) -> None:
    transaction = Transaction(
        storage, load_snapshot(storage), isolation=IsolationLevel.SNAPSHOT_ISOLATION
    )
    transaction.commit(
        operation, parameters=parameters, metrics=metrics, is_blind_append=True, allow_empty=True
    )


def _deleted(plan: VacuumPlan, delete: Delete, progress: Progress | None) -> VacuumOutcome:
    storage = plan.snapshot.storage
    named = _named_since(plan)
    paths = [file.path for file in plan.dead.files if not named.covers(file.path)]
    count = 0
    failures: list[tuple[str, str]] = []
    for part in delete(storage, paths):
        count += part.done
        failures += part.failures
        if progress is not None:
            progress(count + len(failures), len(paths))
    folders = delete_folders(storage, plan.dead.folders)
    failures += folders.failures
    for path, reason in failures[:20]:
        _logger.warning("vacuum of %s could not delete %s: %s", storage.root, path, reason)
    return VacuumOutcome(files=count, folders=folders.done, failures=tuple(failures))


def _named_since(plan: VacuumPlan) -> ProtectedFiles:
    """Return the files of the commits after a plan: a RESTORE may have brought some back."""
    storage = plan.snapshot.storage
    named = ProtectedFiles(TableRoot(storage))
    for commit in read_commits(storage, plan.snapshot.version + 1):
        named.add_actions(commit.actions)
    return named


def _note_version(plan: VacuumPlan, outcome: VacuumOutcome) -> None:
    """Record up to which version removed files are deleted, for the next LITE; never raises.

    A full vacuum has deleted everything that LITE would have, up to the same version. If a file
    could not be deleted, or the version is not known, an earlier record is kept.
    """
    failed = {path for path, _ in outcome.failures}
    if plan.done_version is None or any(file.path in failed for file in plan.dead.files):
        return
    fields = {"latestCommitVersionOutsideOfRetentionWindow": plan.done_version}
    try:
        plan.snapshot.storage.write(LAST_VACUUM_INFO_PATH, msgspec.json.encode(fields))
    except (StorageError, DeltaError):
        _logger.warning("%s could not be written", LAST_VACUUM_INFO_PATH, exc_info=True)
