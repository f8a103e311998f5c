"""The commit of DELETE, UPDATE and MERGE: what others did meanwhile is looked at row by row."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from truckee.commands.dml_settings import DmlSettings
from truckee.commands.row_changes import RowChanges
from truckee.errors.base import DeltaError
from truckee.errors.dml import AppendOnlyTargetError
from truckee.errors.storage import StorageError
from truckee.errors.transaction import (
    ConcurrentAppendException,
    ConcurrentDeleteDeleteException,
    ConcurrentDeleteReadException,
)
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.transaction import Transaction
from truckee.protocol.actions import Metadata
from truckee.protocol.features import check_writable
from truckee.storage.base import Storage

FileConflict = (
    ConcurrentAppendException,
    ConcurrentDeleteReadException,
    ConcurrentDeleteDeleteException,
)


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A command whose files are written, and whose commit is not.

    `affected` are the numbers for the caller, `metrics` those for the commit. `matching` keeps of
    any rows of the table those that the command's outcome depends on.
    """

    operation: str
    parameters: Mapping[str, Any]
    changes: RowChanges
    metrics: Callable[[RowChanges], Mapping[str, object]]
    affected: Mapping[str, int]
    matching: Callable[[DataFrame], DataFrame]
    metadata: Metadata | None = None


def run_command(
    storage: Storage,
    operation: str,
    prepare: Callable[[Snapshot], Prepared],
    settings: DmlSettings,
    *,
    removes_rows: bool = True,
) -> Mapping[str, int]:
    """Prepare a command on the latest version and commit it; return its numbers."""
    snapshot = load_snapshot(storage)
    check_target(snapshot, operation, removes_rows=removes_rows)
    prepared = prepare(snapshot)
    commit_rows(prepared, settings)
    return prepared.affected


def check_target(snapshot: Snapshot, operation: str, *, removes_rows: bool = True) -> None:
    """Raise unless rows of a table may be changed, and truckee can write to it."""
    table = snapshot.storage.root
    check_writable(snapshot.protocol, snapshot.metadata, table)
    if removes_rows and snapshot.properties.append_only:
        raise AppendOnlyTargetError(table=table, operation=operation)


def commit_rows(prepared: Prepared, settings: DmlSettings) -> int:
    """Commit a prepared command, and return its version.

    Files of a commit that was refused are deleted. After an error of the store, or when
    interrupted, the commit may be there all the same, and the files are left alone.
    """
    try:
        return _committed(prepared, settings)
    except StorageError:
        raise
    except DeltaError:
        prepared.changes.discard()
        raise


def _committed(prepared: Prepared, settings: DmlSettings) -> int:
    changes = prepared.changes
    snapshot = changes.snapshot
    actions = changes.actions
    if not actions and prepared.metadata is None:
        return snapshot.version
    transaction = Transaction(snapshot.storage, snapshot)
    transaction.read_partitions(changes.reading.predicate)
    transaction.read_files(snapshot.add_files(changes.reading.files))
    if settings.txn_app_id is not None and settings.txn_version is not None:
        transaction.set_transaction(settings.txn_app_id, settings.txn_version)
    if prepared.metadata is not None:
        transaction.set_metadata(prepared.metadata)
    transaction.stage(*actions)
    return transaction.commit(
        prepared.operation,
        parameters=prepared.parameters,
        metrics=prepared.metrics(changes),
        user_metadata=settings.user_metadata,
    )
