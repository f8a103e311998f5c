"""ALTER TABLE ... DROP FEATURE, for features that first have to go out of use.

Deletion vectors go in steps, each of them a commit that leaves a valid table:

    UNSET TBLPROPERTIES          no command writes another vector
    REORG                        no file has one
    Deletion Vector Tombstones   a VACUUM that knows no vectors keeps those of earlier versions
    DROP FEATURE

Others are switched off first:

| feature           | before it goes                                                               |
|-------------------|------------------------------------------------------------------------------|
| v2Checkpoint      | the policy becomes `classic`, and a classic checkpoint is written            |
| inCommitTimestamp | its property becomes false, and those that say since when it was on are gone |
| typeWidening      | its property is unset, files with narrower types are rewritten, and the      |
|                   | record of earlier types goes                                                 |
| columnMapping     | all files are rewritten with the columns' own names                          |
| rowTracking       | it is suspended, and all files are added again without ids                   |
"""

from __future__ import annotations

from collections.abc import Iterator

from msgspec.structs import replace
from pyspark.sql import SparkSession

from truckee.care.narrow_files import narrow_files
from truckee.care.table_root import TableRoot
from truckee.care.vacuum.protected_files import vector_path
from truckee.commands.care.optimize import purge, widen_files
from truckee.commands.care.remove_column_mapping import remove_column_mapping
from truckee.commands.ddl.alter_columns import commit_info_field
from truckee.commands.ddl.alter_properties import set_properties, unset_properties
from truckee.commands.ddl.alter_protocol import check_feature, drop_unused_feature
from truckee.commands.schema.edits import without_metadata
from truckee.commands.schema.row_tracking import take_row_ids
from truckee.log.commit.race import now_ms
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import RemoveFile
from truckee.protocol.column_metadata import TYPE_CHANGES_KEY
from truckee.protocol.paths import LogFileKind, encode_path
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import FieldChain, nested_fields
from truckee.storage.base import Storage

_VECTORS_KEY = TableProperties.enable_deletion_vectors.key
_TIMESTAMPS_KEY = TableProperties.enable_in_commit_timestamps.key
_TRACKING_KEY = TableProperties.enable_row_tracking.key
_SUSPENDED_KEY = TableProperties.row_tracking_suspended.key
_SINCE_KEYS = (
    TableProperties.in_commit_timestamp_enablement_timestamp.key,
    TableProperties.in_commit_timestamp_enablement_version.key,
)
_WIDENING_ATTEMPTS = 3


def drop_feature(
    spark: SparkSession, storage: Storage, name: str, *, truncates: bool = False
) -> int:
    """Remove a feature from a table's protocol, and return the version without it.

    The features of the module's table are switched off first, and files that need them rewritten;
    any other feature must be out of use. See `drop_unused_feature` for what becomes of earlier
    versions.
    """
    snapshot = load_snapshot(storage)
    check_feature(snapshot, name, truncate_history=truncates)
    match name:
        case "deletionVectors":
            _stop_using_vectors(spark, snapshot)
        case "v2Checkpoint":
            _stop_using_v2_checkpoints(snapshot)
        case "inCommitTimestamp":
            _stop_using_timestamps(snapshot)
        case "typeWidening" | "typeWidening-preview":
            _stop_widening(spark, snapshot)
        case "columnMapping" if snapshot.properties.column_mapping_mode != "none":
            remove_column_mapping(spark, storage, unsets=True)
        case "rowTracking":
            _stop_tracking_rows(snapshot)
    return drop_unused_feature(storage, name, truncate_history=truncates)


def _stop_tracking_rows(snapshot: Snapshot) -> None:
    storage, properties = snapshot.storage, snapshot.properties
    if properties.enable_row_tracking or not properties.row_tracking_suspended:
        set_properties(storage, {_TRACKING_KEY: "false", _SUSPENDED_KEY: "true"})
    take_row_ids(load_snapshot(storage))


def _stop_widening(spark: SparkSession, snapshot: Snapshot) -> None:
    """Let no file need the feature; if others keep adding such files, it stays in use."""
    storage = snapshot.storage
    if snapshot.properties.enable_type_widening:
        unset_properties(storage, [TableProperties.enable_type_widening.key])
    if not _widened(snapshot):
        return
    for _ in range(_WIDENING_ATTEMPTS):
        widen_files(spark, storage)
        snapshot = load_snapshot(storage)
        # A RESTORE may have brought back files that were rewritten before.
        if not narrow_files(snapshot, list(snapshot.files())):
            _forget_older_types(snapshot)
            return


def _widened(snapshot: Snapshot) -> list[FieldChain]:
    """Return the columns that record an earlier type."""
    return [
        chain
        for chain in nested_fields(snapshot.schema)
        if TYPE_CHANGES_KEY in chain.field.metadata
    ]


def _forget_older_types(snapshot: Snapshot) -> None:
    """Commit the schema without records of earlier types.

    Files that others append meanwhile have the types of the table. A RESTORE changes the metadata,
    so it conflicts.
    """
    columns = [
        {**commit_info_field(chain.field), "name": ".".join(chain.path)}
        for chain in _widened(snapshot)
    ]
    schema = without_metadata(snapshot.schema, [TYPE_CHANGES_KEY])
    metadata = replace(snapshot.metadata, schema_string=schema.to_json())
    transaction = Transaction(snapshot.storage, snapshot)
    transaction.set_metadata(metadata)
    transaction.commit("DROP FEATURE", parameters={"columns": columns})


def _stop_using_v2_checkpoints(snapshot: Snapshot) -> None:
    """Let the table be read from a classic checkpoint, from the version before the drop on."""
    storage = snapshot.storage
    if snapshot.properties.checkpoint_policy == "v2":
        set_properties(storage, {TableProperties.checkpoint_policy.key: "classic"})
        snapshot = load_snapshot(storage)
    checkpoint = snapshot.segment.checkpoint
    if checkpoint is not None and checkpoint.kind is LogFileKind.CHECKPOINT_V2:
        write_checkpoint(snapshot)


def _stop_using_timestamps(snapshot: Snapshot) -> None:
    """Commit what delta-spark commits: a false property, and none that says since when."""
    configuration = dict(snapshot.metadata.configuration)
    gone = [key for key in _SINCE_KEYS if configuration.pop(key, None) is not None]
    if snapshot.properties.enable_in_commit_timestamps:
        configuration[_TIMESTAMPS_KEY] = "false"
        gone.append(_TIMESTAMPS_KEY)
    if not gone:
        return
    transaction = Transaction(snapshot.storage, snapshot)
    transaction.set_metadata(replace(snapshot.metadata, configuration=configuration))
    parameters = {"properties": gone, "ifExists": True}
    transaction.commit("UNSET TBLPROPERTIES", parameters=parameters, is_blind_append=False)


def _stop_using_vectors(spark: SparkSession, snapshot: Snapshot) -> None:
    storage = snapshot.storage
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
