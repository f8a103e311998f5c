"""RESTORE: a table becomes what it was, in one new version.

The history is kept: the versions in between stay, and the restore is a commit like any other, which
the feed shows as the rows that differ. It is not retried after another writer's commit, since it
would remove that writer's rows before anyone has seen them.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime

from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

from truckee.care.health.presence import absent, needed_paths
from truckee.care.restore_plan import RestorePlan, plan_restore
from truckee.commands.removed_files import file_removals
from truckee.commands.schema.clustering import no_clustering
from truckee.commands.schema.identity_marks import with_identity_marks
from truckee.errors.commands.care import (
    RestoreMissingFilesError,
    RestoreTimestampEarlierError,
    RestoreTimestampGreaterError,
    RestoreVersionError,
)
from truckee.errors.log import (
    TimestampTooEarlyError,
    TimestampTooLateError,
    VersionNotFoundError,
)
from truckee.errors.options import ArgumentValueError
from truckee.errors.transaction import ConcurrentWriteException, MaxCommitRetriesExceededError
from truckee.log.checkpoint.schema import wire_name
from truckee.log.commit.attempt import _NULL
from truckee.log.commit.conflicts import IsolationLevel
from truckee.log.commit.transaction import Transaction
from truckee.log.files.history import version_as_of
from truckee.log.running_command import running
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.options.arguments import checked_version, class_text
from truckee.options.text import Options
from truckee.options.timestamps import timestamp_ms
from truckee.protocol.actions import Metadata
from truckee.protocol.column_metadata import (
    IDENTITY_HIGH_WATER_MARK_KEY,
    IDENTITY_STEP_KEY,
    identity_number,
)
from truckee.protocol.features import check_writable, supported_features, upgraded_protocol
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import parse_schema
from truckee.protocol.table_configuration import CLUSTERING_DOMAIN
from truckee.spark.local_frames import metrics_frame
from truckee.spark.session.settings import session_settings, session_zone
from truckee.storage.base import Storage

_logger = logging.getLogger(__name__)

RESTORE_RESULT_COLUMNS = (
    "table_size_after_restore",
    "num_of_files_after_restore",
    "num_removed_files",
    "num_restored_files",
    "removed_files_size",
    "restored_files_size",
)
_IGNORE_MISSING = "spark.sql.files.ignoreMissingFiles"
_DOWNGRADE = "spark.databricks.delta.restore.protocolDowngradeAllowed"
_PROTECTED_BEFORE = TableProperties.require_checkpoint_protection_before_version.key
_MOST_PATHS = 100


@dataclass(frozen=True, kw_only=True)
class RestoreTarget:
    """What to restore: a version, or a time; `text` is the time as it was given."""

    version: int
    text: str | None = None


def restore(
    spark: SparkSession,
    storage: Storage,
    *,
    version: int | None = None,
    timestamp: str | date | datetime | None = None,
) -> DataFrame:
    """Restore a table to a version or a time; return delta-spark's row of numbers.

    If the table is already at that version, there is no row and no commit.
    """
    settings = session_settings(spark)
    target = restore_target(storage, version, timestamp, time_zone=session_zone(spark))
    with running("RESTORE", storage.root):
        plan = restore_table(storage, target, settings)
    counts = {} if plan is None else plan.counts()
    frame = metrics_frame(spark, counts, RESTORE_RESULT_COLUMNS)
    return frame if plan is not None else frame.limit(0)


def restore_target(
    storage: Storage,
    version: int | None,
    timestamp: str | date | datetime | None,
    *,
    time_zone: str = "UTC",
) -> RestoreTarget:
    """Return the requested version; raise if there is none."""
    if timestamp is None:
        return RestoreTarget(version=checked_version(version, what="version"))
    if not isinstance(timestamp, str | date):
        raise ArgumentValueError(what="timestamp", needs="be a string", found=class_text(timestamp))
    at = timestamp_ms(timestamp, option="timestamp", time_zone=time_zone)
    try:
        return RestoreTarget(version=version_as_of(storage, at), text=str(timestamp))
    except TimestampTooEarlyError as error:
        raise RestoreTimestampEarlierError(
            table=storage.root, timestamp_ms=at, earliest_ms=error.earliest_ms
        ) from error
    except TimestampTooLateError as error:
        raise RestoreTimestampGreaterError(
            table=storage.root, timestamp_ms=at, latest_ms=error.latest_ms
        ) from error


def restore_table(
    storage: Storage,
    target: RestoreTarget,
    settings: Mapping[str, str] | None = None,
    *,
    dry_run: bool = False,
) -> RestorePlan | None:
    """Restore a table, and return what was done; None if there is nothing to do.

    Raises before anything is written: RestoreVersionError, RestoreMissingFilesError, and those of
    tables that cannot be written. ConcurrentWriteException if another writer was faster.
    """
    given = Options(settings or {})
    current = load_snapshot(storage)
    check_writable(current.protocol, current.metadata, storage.root)
    if target.version == current.version:
        return None
    plan = plan_restore(current, _snapshot(current, target.version))
    if not given.boolean(_IGNORE_MISSING):
        _check_files(plan)
    if not dry_run:
        _commit(plan, target, takes_old_protocol=given.boolean(_DOWNGRADE))
    return plan


def _snapshot(current: Snapshot, version: int) -> Snapshot:
    try:
        return load_snapshot(current.storage, version)
    except VersionNotFoundError as error:
        raise RestoreVersionError(
            table=current.storage.root,
            version=version,
            earliest=error.earliest,
            latest=error.latest,
        ) from error


def _check_files(plan: RestorePlan) -> None:
    storage = plan.current.storage
    missing = absent(storage, needed_paths(plan.restored))
    if missing:
        raise RestoreMissingFilesError(
            table=storage.root,
            version=plan.target.version,
            count=len(missing),
            paths=tuple(missing[:_MOST_PATHS]),
        )


def _commit(plan: RestorePlan, target: RestoreTarget, *, takes_old_protocol: bool) -> None:
    current, storage = plan.current, plan.current.storage
    transaction = Transaction(
        storage, current, isolation=IsolationLevel.SERIALIZABLE, max_attempts=1
    )
    transaction.read_whole_table()
    metadata = _metadata(plan)
    transaction.set_metadata(metadata)
    _set_protocol(transaction, plan, metadata, takes_old=takes_old_protocol)
    transaction.stage(*plan.restored, *file_removals(plan.removed))
    if CLUSTERING_DOMAIN in current.domain_metadata:
        old = plan.target.domain_metadata.get(CLUSTERING_DOMAIN)
        transaction.stage(no_clustering() if old is None else old)
    parameters = {
        "version": target.version if target.text is None else _NULL,
        "timestamp": _NULL if target.text is None else target.text,
    }
    metrics = {wire_name(name): value for name, value in plan.counts().items()}
    try:
        version = transaction.commit(
            "RESTORE", parameters=parameters, metrics=metrics, is_blind_append=False
        )
    except MaxCommitRetriesExceededError as error:
        raise ConcurrentWriteException(
            version=current.version + 1, read_version=current.version
        ) from error
    write_checkpoint_after(storage, version)


def write_checkpoint_after(storage: Storage, version: int) -> None:
    """Write the checkpoint of a committed version; a failure does not undo the commit."""
    try:
        write_checkpoint(load_snapshot(storage, version))
    except Exception:
        _logger.warning(
            "the checkpoint of version %d of the table %s could not be written; the commit itself "
            "is safe",
            version,
            storage.root,
            exc_info=True,
        )


def _metadata(plan: RestorePlan) -> Metadata:
    """Return the metadata of the target, except for what must never go back.

    Identity columns never assign a number twice, and protected history stays protected.
    """
    now, then = plan.current.metadata, plan.target.metadata
    identity = {
        field.physical_name
        for field in parse_schema(then.schema_string).fields
        if IDENTITY_STEP_KEY in field.metadata
    }
    marks = {
        field.physical_name: identity_number(
            field.name, field.metadata, IDENTITY_HIGH_WATER_MARK_KEY
        )
        for field in parse_schema(now.schema_string).fields
        if field.physical_name in identity and IDENTITY_HIGH_WATER_MARK_KEY in field.metadata
    }
    metadata = with_identity_marks(then, marks)
    if _PROTECTED_BEFORE in now.configuration:
        kept = {_PROTECTED_BEFORE: now.configuration[_PROTECTED_BEFORE]}
        metadata = replace(metadata, configuration={**metadata.configuration, **kept})
    return metadata


def _set_protocol(
    transaction: Transaction, plan: RestorePlan, metadata: Metadata, *, takes_old: bool
) -> None:
    """Set the protocol: what either version requires, or with `takes_old` only the old one."""
    now, then = plan.current.protocol, plan.target.protocol
    if takes_old:
        lost = supported_features(now) - supported_features(then)
        transaction.set_protocol(then, dropping=lost)
        return
    gained = supported_features(then) - supported_features(now)
    if gained:
        transaction.set_protocol(upgraded_protocol(now, metadata, sorted(gained)))
