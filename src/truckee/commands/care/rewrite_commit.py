"""The commit of rewritten bins, also if others have committed meanwhile.

New files of others never conflict, since a rewrite changes no rows. If others changed files of a
bin, the bin is adapted or lost (`moved_deletions`); the other bins are still committed.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

from pyspark.sql import SparkSession

from truckee.commands.care.moved_deletions import following
from truckee.commands.care.rewrite import Rewritten, RewrittenBin, delete_vectors
from truckee.commands.removed_files import file_removals
from truckee.errors.base import DeltaError
from truckee.errors.storage import StorageError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
    MetadataChangedException,
    ProtocolChangedException,
)
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, update_snapshot
from truckee.protocol.paths import decode_path

_log = logging.getLogger(__name__)

_FILE_CONFLICTS = (
    ConcurrentAppendException,
    ConcurrentDeleteReadException,
    ConcurrentDeleteDeleteException,
)
_TABLE_CONFLICTS = (MetadataChangedException, ProtocolChangedException)


class CommittedBins(NamedTuple):
    """The result of a rewrite: its version, None without a commit; the lost bins, and why."""

    version: int | None
    done: Rewritten
    lost: tuple[RewrittenBin, ...] = ()
    conflict: DeltaError | None = None


def commit_bins(
    spark: SparkSession,
    done: Rewritten,
    operation: str,
    *,
    parameters: Mapping[str, Any],
    metrics: Callable[[Rewritten], Mapping[str, object]],
    user_metadata: str | None = None,
) -> CommittedBins:
    """Commit those of the rewritten bins that other commits have not made invalid.

    If the commit is refused, its files are deleted. After a storage error or an interruption, the
    commit may still exist, so the files are kept.
    """
    lost: tuple[RewrittenBin, ...] = ()
    why: DeltaError | None = None
    while done.bins:
        try:
            transaction = _transaction(done)
            version = transaction.commit(
                operation,
                parameters=parameters,
                metrics=metrics(done),
                user_metadata=user_metadata,
            )
        except (*_FILE_CONFLICTS, *_TABLE_CONFLICTS) as conflict:
            why = conflict
            done, more = _after_conflict(spark, done, conflict)
            lost += more
            _delete_files(done, more)
            _log.info("%s: %d bins lost to a concurrent commit: %s", operation, len(more), conflict)
            continue
        except StorageError:
            raise
        except DeltaError:
            done.discard()
            raise
        return CommittedBins(version, done, lost, why)
    done.discard()
    return CommittedBins(None, done, lost, why)


def _transaction(done: Rewritten) -> Transaction:
    snapshot = done.snapshot
    transaction = Transaction(snapshot.storage, snapshot)
    transaction.read_files(done.removed)
    transaction.stage(*done.adds, *file_removals(done.removed, data_change=False))
    return transaction


def _after_conflict(
    spark: SparkSession, done: Rewritten, conflict: DeltaError
) -> tuple[Rewritten, tuple[RewrittenBin, ...]]:
    try:
        newer = update_snapshot(done.snapshot)
        if isinstance(conflict, _TABLE_CONFLICTS) and not _are_alike(done.snapshot, newer):
            return replace(done, snapshot=newer, bins=()), done.bins
        return following(spark, done, newer)
    except StorageError:
        raise
    except DeltaError:
        done.discard()
        raise


def _are_alike(older: Snapshot, newer: Snapshot) -> bool:
    """Return whether files written for a version can be part of a newer one."""
    before, after = older.properties, newer.properties
    return (
        older.partition_columns == newer.partition_columns
        and before.enable_row_tracking == after.enable_row_tracking
        and before.column_mapping_mode == after.column_mapping_mode
    )


def _delete_files(done: Rewritten, lost: Iterable[RewrittenBin]) -> None:
    storage = done.snapshot.storage
    for each in lost:
        delete_vectors(storage, each.adds)
        for add in each.adds:
            storage.delete(decode_path(add.path))
