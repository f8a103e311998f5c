"""Actions and small tables for tests of transactions, each in a line."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import msgspec

from truckee.changes.plan import ChangePlan, open_feed
from truckee.log.commit.conflicts import Candidate, conflict_with
from truckee.log.commit.transaction import Transaction
from truckee.log.files.commits import Commit
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.feed import FeedOptions
from truckee.protocol.actions import Action, AddFile, CommitInfo, Metadata, Protocol, RemoveFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.storage.base import Storage
from values import simple_schema

VECTORS_ON = {"delta.enableDeletionVectors": "true"}
BASIC = Protocol(min_reader_version=1, min_writer_version=2)


def metadata(
    *columns: str,
    partitioned_by: tuple[str, ...] = (),
    properties: Mapping[str, str] | None = None,
) -> Metadata:
    return Metadata(
        id="11111111-2222-3333-4444-555555555555",
        schema_string=simple_schema(*(columns or ("id long",))).to_json(),
        partition_columns=list(partitioned_by),
        configuration=dict(properties or {}),
        created_time=1_700_000_000_000,
    )


def configuration(
    schema: StructType,
    partition_columns: Iterable[str] = (),
    *,
    mode: str = "none",
    protocol: Protocol = BASIC,
    properties: Mapping[str, str] | None = None,
) -> TableConfiguration:
    """Return the configuration of a table with these columns."""
    configured = {"delta.columnMapping.mode": mode, **(properties or {})}
    return TableConfiguration(
        Metadata(
            id="11111111-2222-3333-4444-555555555555",
            schema_string=schema.to_json(),
            partition_columns=list(partition_columns),
            configuration=configured,
        ),
        protocol,
    )


def add(
    path: str,
    *,
    partition: Mapping[str, str | None] | None = None,
    rows: int | None = 10,
    vector: DeletionVectorDescriptor | None = None,
    tight: bool | None = None,
    data_change: bool = True,
    size: int = 100,
) -> AddFile:
    """Return a new file; with a vector, its bounds are wide by default."""
    stats: dict[str, object] = {} if rows is None else {"numRecords": rows}
    if vector is not None or tight is not None:
        stats["tightBounds"] = tight or False
    return AddFile(
        path=path,
        partition_values=dict(partition or {}),
        size=size,
        modification_time=1_700_000_000_000,
        data_change=data_change,
        stats=msgspec.json.encode(stats).decode() if stats else None,
        deletion_vector=vector,
    )


def remove(of: AddFile, *, data_change: bool = True) -> RemoveFile:
    return RemoveFile(
        path=of.path,
        deletion_timestamp=1_700_000_000_000,
        data_change=data_change,
        extended_file_metadata=True,
        partition_values=of.partition_values,
        size=of.size,
        deletion_vector=of.deletion_vector,
    )


def vector(name: str, cardinality: int = 1) -> DeletionVectorDescriptor:
    """Return a descriptor that its name identifies; the vector itself does not exist."""
    return DeletionVectorDescriptor(
        storage_type="u",
        path_or_inline_dv=name.ljust(20, "0"),
        offset=1,
        size_in_bytes=36,
        cardinality=cardinality,
    )


def commit(
    version: int, *actions: Action, operation: str | None = "WRITE", blind: bool | None = None
) -> Commit:
    """Return a commit that came first."""
    info = CommitInfo(operation=operation, is_blind_append=blind, txn_id="theirs")
    return Commit(version, 1_700_000_000_000 + version, (info, *actions))


def create_table(storage: Storage, table: Metadata | None = None, *files: AddFile) -> Snapshot:
    """Create a table with files in it, and return its first version."""
    transaction = Transaction(storage, None)
    transaction.set_metadata(table or metadata())
    transaction.stage(*files)
    transaction.commit("CREATE TABLE")
    return load_snapshot(storage)


def append(storage: Storage, *files: AddFile) -> int:
    """Append files to the latest version, and return the version that they are in."""
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(*files)
    return transaction.commit("WRITE", parameters={"mode": "Append"})


def plan_changes(storage: Storage, options: FeedOptions) -> ChangePlan:
    """Return what to read for a feed, opened and planned at once."""
    return open_feed(storage, options).plan()


def check(mine: Candidate, winner: Commit) -> None:
    """Raise the conflict with a commit that came first, if there is one."""
    conflict = conflict_with(mine, winner)
    if conflict is not None:
        raise conflict


def paths(snapshot: Snapshot) -> list[str]:
    return sorted(file.path for file in snapshot.files())
