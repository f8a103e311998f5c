"""The commit of files that are already written: it happens once, however often it is requested."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import msgspec

from truckee.arrow.write import WriteTarget, discard
from truckee.commands.commit import Discardable, commit_written
from truckee.commands.removed_files import file_removals
from truckee.commands.schema.identity_marks import with_identity_marks
from truckee.commands.table_plan import TablePlan
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import AddFile
from truckee.scan.scan_file import num_records
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.streaming.write_plan import WritePlan

BATCH_OPERATION = "WRITE"
STREAM_OPERATION = "STREAMING UPDATE"


class ArrowFiles(NamedTuple):
    """Files that Python workers have written for a commit."""

    target: WriteTarget
    adds: tuple[AddFile, ...]

    def discard(self) -> None:
        """Delete the files."""
        discard(self.target, self.adds)


def commit_arrow_files(
    planned: WritePlan,
    adds: Iterable[AddFile],
    *,
    operation: str = BATCH_OPERATION,
    parameters: Mapping[str, Any] | None = None,
    txn: tuple[str, int] | None = None,
) -> int | None:
    """Commit files that Python workers have written, and return the version that has them.

    None means that the same write was committed before, as `txn`, the application and its version,
    tells. If the commit is refused, its files are deleted. If it is unknown whether it happened,
    they are kept.
    """
    files = ArrowFiles(planned.target, tuple(adds))
    storage = open_storage(planned.target.url, planned.target.store_options)
    return commit_write(
        planned,
        files.adds,
        files,
        storage=storage,
        operation=operation,
        parameters=parameters,
        txn=txn,
    )


def commit_write(
    planned: WritePlan,
    adds: tuple[AddFile, ...],
    files: Discardable,
    *,
    storage: Storage,
    operation: str,
    parameters: Mapping[str, Any] | None = None,
    txn: tuple[str, int] | None = None,
    identity_marks: Mapping[str, int] | None = None,
    reads_table: bool = False,
) -> int | None:
    """The same for files of any origin; `reads_table` says that its rows depend on the table."""
    snapshot = read_snapshot(planned, storage)
    metadata = with_identity_marks(planned.target.table.metadata, identity_marks or {})
    after = planned.target.table.after(metadata, None)
    table = TablePlan(storage, snapshot, after, planned.domains)
    transaction = table.transaction()
    txn = txn or planned.txn
    if txn is not None and not transaction.set_transaction(*txn):
        files.discard()
        return None
    # A stream that replaces the rows of its table depends on it, even if it creates the table.
    if reads_table or (planned.is_overwrite and operation == STREAM_OPERATION):
        transaction.read_whole_table()
    metrics = _stage(transaction, planned, snapshot, adds, operation)
    return commit_written(
        transaction,
        files,
        operation,
        parameters=_parameters(planned) if parameters is None else parameters,
        metrics=metrics,
        user_metadata=planned.user_metadata,
    )


def read_snapshot(planned: WritePlan, storage: Storage) -> Snapshot | None:
    """Return the version for which a write was planned, None if there was no table."""
    if planned.read_version is None:
        return None
    return load_snapshot(storage, planned.read_version)


def is_committed(planned: WritePlan, storage: Storage, txn: tuple[str, int]) -> bool:
    """Return whether an application's version was part of the table when the write was planned."""
    snapshot = read_snapshot(planned, storage)
    known = None if snapshot is None else snapshot.set_transactions.get(txn[0])
    return known is not None and known.version >= txn[1]


def stream_parameters(mode: str, query: str, batch: int) -> dict[str, str]:
    """Return what commitInfo says of a batch of a stream."""
    return {"outputMode": mode, "queryId": query, "epochId": str(batch)}


def _stage(
    transaction: Transaction,
    planned: WritePlan,
    snapshot: Snapshot | None,
    adds: tuple[AddFile, ...],
    operation: str,
) -> dict[str, object]:
    """Put the files into a transaction, and return the metrics of the commit."""
    removed: tuple[AddFile, ...] = ()
    if planned.is_overwrite and snapshot is not None:
        transaction.read_whole_table()
        removed = tuple(snapshot.files())
    data_change = planned.target.data_change
    transaction.stage(*adds, *file_removals(removed, data_change=data_change))
    metrics: dict[str, object] = {
        "numOutputRows": sum(num_records(add.stats) or 0 for add in adds),
        "numOutputBytes": sum(add.size for add in adds),
    }
    if operation == STREAM_OPERATION:
        return {**metrics, "numAddedFiles": len(adds), "numRemovedFiles": len(removed)}
    metrics["numFiles"] = len(adds)
    if planned.is_overwrite and snapshot is not None:
        metrics["numRemovedFiles"] = len(removed)
        metrics["numRemovedBytes"] = sum(file.size for file in removed)
    return metrics


def _parameters(planned: WritePlan) -> dict[str, Any]:
    return {
        "mode": "Overwrite" if planned.is_overwrite else "Append",
        "partitionBy": msgspec.json.encode(list(planned.partition_by)).decode(),
        "canOverwriteSchema": True if planned.overwrite_schema and planned.is_overwrite else None,
        "canMergeSchema": True if planned.merge_schema else None,
    }
