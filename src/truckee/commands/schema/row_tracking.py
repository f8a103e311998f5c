"""Row tracking switched on and off: ids for rows that have none, and columns to keep them in.

The rows of a table get ids in three steps, each of which leaves a table that can be read:

1. The protocol lists the feature, so that all writers give ids to the rows of new files.
2. Backfill: the files without ids are added again, with ids, in commits that change no data.
3. The property `delta.enableRowTracking` says that all rows have ids, and keep them.

If that is interrupted, it can be repeated: files that have got ids keep them. When the feature is
dropped, the same happens in the other direction, while `delta.rowTrackingSuspended` keeps writers
from giving ids.
"""

from __future__ import annotations

from uuid import uuid4

import pyarrow as pa
import pyarrow.compute as pc
from msgspec.structs import replace

from truckee.commands.table_plan import table_plan
from truckee.errors.commands.alter import RowTrackingSuspendedError
from truckee.errors.commit import RowIdsWithoutStatisticsError
from truckee.errors.transaction import ConcurrentAppendException, ConcurrentDeleteReadException
from truckee.log.commit.conflicts import ROW_TRACKING_BACKFILL, ROW_TRACKING_UNBACKFILL
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, update_snapshot
from truckee.protocol.actions import AddFile, Metadata
from truckee.protocol.properties import TableProperties
from truckee.scan.scan_file import num_records

FILES_PER_COMMIT = 100_000

_FEATURE = "rowTracking"
_ROW_ID_KEY = TableProperties.materialized_row_id_column_name.key
_COMMIT_VERSION_KEY = TableProperties.materialized_row_commit_version_column_name.key


def with_row_tracking(metadata: Metadata) -> Metadata:
    """Return the metadata with names for these columns, if row tracking is on and needs them."""
    properties = TableProperties.from_configuration(metadata.configuration)
    check_row_tracking(properties)
    if not properties.enable_row_tracking:
        return metadata
    names = {
        _ROW_ID_KEY: f"_row-id-col-{uuid4()}",
        _COMMIT_VERSION_KEY: f"_row-commit-version-col-{uuid4()}",
    }
    return replace(metadata, configuration={**names, **metadata.configuration})


def check_row_tracking(properties: TableProperties) -> None:
    """Raise if rows must have ids, and must not get any."""
    if properties.enable_row_tracking and properties.row_tracking_suspended:
        raise RowTrackingSuspendedError


def files_without_row_ids(snapshot: Snapshot) -> pa.Table:
    """Return the files of a table whose rows have no ids."""
    files = snapshot.files_table()
    return files.filter(pc.is_null(files.column("base_row_id")))


def backfill_row_ids(snapshot: Snapshot, *, files_per_commit: int = FILES_PER_COMMIT) -> Snapshot:
    """Give ids to all rows of a table that have none; return a version where all rows have one.

    Raises before it changes anything if the number of rows of a file is unknown.
    """
    for path, stats in _paths_and_stats(files_without_row_ids(snapshot)):
        if num_records(stats) is None:
            raise RowIdsWithoutStatisticsError(table=snapshot.storage.root, path=path)
    if _FEATURE not in snapshot.configuration.features:
        snapshot = _with_feature(snapshot)
    batches = _Batches(ROW_TRACKING_BACKFILL, files_per_commit)
    while (files := files_without_row_ids(snapshot)).num_rows:
        if snapshot.properties.row_tracking_suspended:
            raise RowTrackingSuspendedError
        snapshot = batches.commit(snapshot, files)
    return snapshot


def take_row_ids(snapshot: Snapshot, *, files_per_commit: int = FILES_PER_COMMIT) -> Snapshot:
    """Take the ids from all rows of a table where row tracking is suspended.

    If somebody ends the suspension meanwhile, rows are left that have ids.
    """
    batches = _Batches(ROW_TRACKING_UNBACKFILL, files_per_commit)
    while snapshot.properties.row_tracking_suspended:
        files = snapshot.files_table()
        files = files.filter(pc.is_valid(files.column("base_row_id")))
        if not files.num_rows:
            break
        snapshot = batches.commit(snapshot, files)
    return snapshot


def _paths_and_stats(files: pa.Table) -> list[tuple[str, str | None]]:
    columns = (files.column(name).to_pylist() for name in ("path", "stats"))
    return list(zip(*columns, strict=True))


def _with_feature(snapshot: Snapshot) -> Snapshot:
    plan = table_plan(snapshot.storage, snapshot, snapshot.metadata, features=[_FEATURE])
    new = plan.protocol
    shown = {
        "minReaderVersion": new.min_reader_version,
        "minWriterVersion": new.min_writer_version,
        "readerFeatures": new.reader_features,
        "writerFeatures": new.writer_features,
    }
    plan.transaction().commit("UPGRADE PROTOCOL", parameters={"newProtocol": shown})
    return update_snapshot(snapshot)


class _Batches:
    """Commits that add files again, some at a time."""

    def __init__(self, operation: str, files_per_commit: int) -> None:
        self._operation = operation
        self._size = files_per_commit
        self._number = 0

    def commit(self, snapshot: Snapshot, files: pa.Table) -> Snapshot:
        """Add the first of these files again, without ids; return the table after that.

        A backfill gives them new ids when it is committed. If others touched one of the files
        meanwhile, nothing is committed.
        """
        adds = snapshot.add_files(files.slice(0, self._size))
        transaction = Transaction(snapshot.storage, snapshot)
        transaction.read_files(adds)
        transaction.stage(*(_without_row_ids(add) for add in adds))
        try:
            transaction.commit(self._operation, parameters={"batchId": str(self._number)})
            self._number += 1
        except (ConcurrentAppendException, ConcurrentDeleteReadException):
            # A smaller batch is less likely to meet others.
            self._size = max(1, self._size // 2)
        return update_snapshot(snapshot)


def _without_row_ids(add: AddFile) -> AddFile:
    return replace(add, base_row_id=None, default_row_commit_version=None, data_change=False)
