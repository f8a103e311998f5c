"""ALTER TABLE ... DROP FEATURE, for features that first have to go out of use.

Deletion vectors go in steps, each of them a commit that leaves a valid table:

    UNSET TBLPROPERTIES          no command writes another vector
    REORG                        no file has one
    Deletion Vector Tombstones   a VACUUM that knows no vectors keeps those of earlier versions
    DROP FEATURE
"""

from __future__ import annotations

from collections.abc import Iterator

from pyspark.sql import SparkSession

from truckee.care.table_root import TableRoot
from truckee.care.vacuum.protected_files import vector_path
from truckee.commands.care.optimize import purge
from truckee.commands.ddl.alter_properties import unset_properties
from truckee.commands.ddl.alter_protocol import drop_unused_feature
from truckee.log.commit.race import now_ms
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import RemoveFile
from truckee.protocol.paths import encode_path
from truckee.protocol.properties import TableProperties
from truckee.storage.base import Storage

_VECTORS = "deletionVectors"
_VECTORS_KEY = TableProperties.enable_deletion_vectors.key


def drop_feature(
    spark: SparkSession, storage: Storage, name: str, *, truncates: bool = False
) -> int:
    """Remove a feature from a table's protocol, and return the version without it.

    Files with deletion vectors are rewritten first; any other feature must be out of use. See
    `drop_unused_feature` for what becomes of earlier versions.
    """
    if name == _VECTORS:
        _stop_using_vectors(spark, storage)
    return drop_unused_feature(storage, name, truncate_history=truncates)


def _stop_using_vectors(spark: SparkSession, storage: Storage) -> None:
    snapshot = load_snapshot(storage)
    if _VECTORS not in snapshot.configuration.features:
        return
    if snapshot.properties.enable_deletion_vectors:
        unset_properties(storage, [_VECTORS_KEY])
    purge(spark, storage)
    _keep_vector_files(load_snapshot(storage))


def _keep_vector_files(snapshot: Snapshot) -> None:
    """Record the files of vectors that earlier versions need as removed files of their own.

    A client without deletion vectors does not see that a removed file had one. Its VACUUM would
    delete the vector, and with it the way back to that version.
    """
    transaction = Transaction(snapshot.storage, snapshot)
    time_ms = now_ms()
    for path in sorted(set(_needed_vector_files(snapshot, time_ms))):
        transaction.stage(
            RemoveFile(path=encode_path(path), deletion_timestamp=time_ms, data_change=False)
        )
    transaction.commit("Deletion Vector Tombstones")


def _needed_vector_files(snapshot: Snapshot, time_ms: int) -> Iterator[str]:
    root = TableRoot(snapshot.storage)
    since_ms = time_ms - snapshot.properties.deleted_file_retention_ms
    removed = list(snapshot.tombstones())
    recorded = {remove.path for remove in removed if remove.deletion_vector is None}
    for remove in removed:
        path = vector_path(remove.deletion_vector, root)
        is_needed = (remove.deletion_timestamp or 0) >= since_ms
        if path is not None and is_needed and encode_path(path) not in recorded:
            yield path
