"""The commit of DELETE, UPDATE and MERGE.

If another writer committed first, the two commits are compared row by row (`row_conflicts`): the
command is committed after the other one, is planned again, or fails with delta-spark's exception.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import NamedTuple

from pyspark.sql import SparkSession

from truckee.commands.after_commit import rows_committed
from truckee.commands.dml.outcome import DmlPlan
from truckee.commands.dml.row_conflicts import changes_after
from truckee.commands.dml.settings import DmlSettings, check_transaction
from truckee.errors.base import DeltaError
from truckee.errors.commands.dml import AppendOnlyTargetError
from truckee.errors.storage import StorageError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.running_command import running
from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.protocol.features import check_writable
from truckee.spark.read.frames import CommandReads, one_version
from truckee.spark.session.settings import reset_transaction_version
from truckee.storage.base import Storage

_log = logging.getLogger(__name__)

FileConflict = (
    ConcurrentAppendException,
    ConcurrentDeleteReadException,
    ConcurrentDeleteDeleteException,
)


def run_command(
    spark: SparkSession,
    storage: Storage,
    operation: str,
    prepare: Callable[[Snapshot], DmlPlan],
    settings: DmlSettings,
    *,
    removes_rows: bool = True,
) -> Mapping[str, int]:
    """Plan a command on the latest version and commit it; return its numbers."""
    check_transaction(settings)
    with running(operation, storage.root), one_version(spark) as reads:
        run = CommandRun(spark, settings, reads)
        affected = _outcome(run, storage, operation, prepare, removes_rows=removes_rows)
        if settings.resets_version:
            reset_transaction_version(spark)
        return affected


class CommandRun(NamedTuple):
    """A running command; `reads` is what it reads of tables besides its own search for rows."""

    spark: SparkSession
    settings: DmlSettings
    reads: CommandReads


def _outcome(
    run: CommandRun,
    storage: Storage,
    operation: str,
    prepare: Callable[[Snapshot], DmlPlan],
    *,
    removes_rows: bool,
) -> Mapping[str, int]:
    spark, settings, _ = run
    for reruns_left in range(settings.max_reruns, -1, -1):
        snapshot = load_snapshot(storage)
        check_target(snapshot, operation, removes_rows=removes_rows)
        if was_applied(snapshot, settings):
            _log.info("%s: skipped, it was committed before", operation)
            break
        run.reads.start_from(snapshot)
        plan = prepare(snapshot)
        version = commit_rows(run, plan, may_run_again=reruns_left > 0)
        if version is not None:
            if version > snapshot.version:
                rows_committed(spark, storage, version, plan.metadata or snapshot.metadata)
            return plan.affected
        _log.info("%s: run again, other commits have moved its rows", operation)
    return {}


def check_target(snapshot: Snapshot, operation: str, *, removes_rows: bool = True) -> None:
    """Raise unless rows of a table may be changed, and truckee can write to it."""
    table = snapshot.storage.root
    check_writable(snapshot.protocol, snapshot.metadata, table)
    if removes_rows and snapshot.properties.append_only:
        raise AppendOnlyTargetError(table=table, operation=operation)


def was_applied(snapshot: Snapshot, settings: DmlSettings) -> bool:
    """Return whether this command was committed before, by application and version."""
    if settings.txn_app_id is None or settings.txn_version is None:
        return False
    recorded = snapshot.set_transactions.get(settings.txn_app_id)
    return recorded is not None and recorded.version >= settings.txn_version


def commit_rows(run: CommandRun, plan: DmlPlan, *, may_run_again: bool = False) -> int | None:
    """Commit a planned command, and return its version; None if it has to be run again.

    If the commit is refused, its files are deleted. After a storage error or an interruption, the
    commit may still exist, so the files are kept.
    """
    while True:
        try:
            version = _committed(run, plan)
            plan.changes.drop_parts()
            return version
        except FileConflict as conflict:
            # A source or subquery of the table itself depends on rows that are not compared.
            reads_itself = run.reads.has_read(plan.changes.snapshot.storage.root)
            if reads_itself or not run.settings.row_level_conflicts:
                plan.changes.discard()
                raise
            following = _following(run, plan, conflict, may_run_again)
            if following is None:
                plan.changes.discard()
                return None
            plan = following
        except StorageError:
            raise
        except DeltaError:
            plan.changes.discard()
            raise


def _following(
    run: CommandRun, plan: DmlPlan, conflict: DeltaError, may_run_again: bool
) -> DmlPlan | None:
    """Return the command adapted to be committed after those that came first.

    None means that it has to be run again.
    """
    try:
        newer = update_snapshot(plan.changes.snapshot)
        app_id = run.settings.txn_app_id
        app_ids = frozenset() if app_id is None else frozenset({app_id})
        changes = changes_after(run.spark, plan, newer, app_ids=app_ids)
        if changes is None and not may_run_again:
            raise conflict
    except StorageError:
        raise
    except DeltaError:
        plan.changes.discard()
        raise
    return None if changes is None else replace(plan, changes=changes)


def _committed(run: CommandRun, plan: DmlPlan) -> int:
    changes, settings = plan.changes, run.settings
    snapshot = changes.snapshot
    actions = changes.actions
    if not actions and plan.metadata is None:
        return snapshot.version
    transaction = Transaction(snapshot.storage, snapshot)
    transaction.read_partitions(changes.reading.predicate)
    transaction.read_files(snapshot.add_files(changes.reading.files))
    run.reads.note(transaction)
    if settings.txn_app_id is not None and settings.txn_version is not None:
        transaction.set_transaction(settings.txn_app_id, settings.txn_version)
    if plan.metadata is not None:
        transaction.set_metadata(plan.metadata)
    transaction.stage(*actions)
    return transaction.commit(
        plan.operation,
        parameters=plan.parameters,
        metrics=plan.metrics(changes),
        user_metadata=settings.user_metadata,
    )
