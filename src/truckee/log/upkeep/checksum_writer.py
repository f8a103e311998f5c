"""Writes the checksum of a version, `%020d.crc`: totals of the table's state.

A reader can check its replay against them, and finds protocol and metadata without a replay. They
are written only once. After an append they are computed from those of the version before, so
nothing has to be replayed; after any other commit they are counted.

| field                        | meaning                                                       |
|------------------------------|---------------------------------------------------------------|
| `tableSizeBytes`, `numFiles` | size and number of the live files                             |
| `numDeletedRecordsOpt`       | rows that deletion vectors of live files mark                 |
| `numDeletionVectorsOpt`      | live files that have a deletion vector                        |
| `setTransactions`            | the last version of each application, where none ever expires |
| `domainMetadata`             | the metadata domains                                          |
| `txnId`                      | the transaction that wrote the version                        |
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import msgspec
import pyarrow.compute as pc
from msgspec import Struct, field
from msgspec.structs import replace

from truckee.errors.storage import StorageError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import (
    Action,
    AddFile,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from truckee.protocol.features import supported_features
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.paths import checksum_path
from truckee.protocol.properties import TableProperties
from truckee.storage.base import Storage


def _one() -> int:
    return 1


class VersionChecksum(Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """The fields of a checksum file that truckee writes."""

    txn_id: str | None = None
    table_size_bytes: int
    num_files: int
    num_deleted_records_opt: int | None = None
    num_deletion_vectors_opt: int | None = None
    num_metadata: int = field(default_factory=_one)
    num_protocol: int = field(default_factory=_one)
    in_commit_timestamp_opt: int | None = None
    set_transactions: tuple[SetTransaction, ...] | None = None
    domain_metadata: tuple[DomainMetadata, ...] | None = None
    metadata: Metadata
    protocol: Protocol


def write_checksum(
    storage: Storage,
    version: int,
    actions: Sequence[Action],
    snapshot: Callable[[], Snapshot],
) -> None:
    """Write the checksum of a version from the actions that made it.

    `snapshot` loads that version, and is called only if its files have to be counted. An existing
    checksum is kept.
    """
    checksum = _appended(storage, version, actions) or counted_checksum(snapshot())
    info = next((action for action in actions if isinstance(action, CommitInfo)), CommitInfo())
    checksum = replace(
        checksum, txn_id=info.txn_id, in_commit_timestamp_opt=info.in_commit_timestamp
    )
    try:
        storage.put_if_absent(checksum_path(version), msgspec.json.encode(checksum))
    except FileExistsError:
        return


def counted_checksum(snapshot: Snapshot) -> VersionChecksum:
    """Return the totals of a snapshot, counted over all of its files."""
    vectors = snapshot.files_table().column("deletion_vector")
    has_vectors = "deletionVectors" in snapshot.configuration.features
    deleted = pc.sum(pc.struct_field(vectors, "cardinality")).as_py() or 0
    return VersionChecksum(
        table_size_bytes=snapshot.size_in_bytes,
        num_files=snapshot.num_files,
        num_deleted_records_opt=deleted if has_vectors else None,
        num_deletion_vectors_opt=len(vectors) - vectors.null_count if has_vectors else None,
        set_transactions=_transactions(snapshot.set_transactions.values(), snapshot.metadata),
        domain_metadata=_sorted_domains(snapshot.domain_metadata.values()),
        metadata=snapshot.metadata,
        protocol=snapshot.protocol,
    )


def _appended(storage: Storage, version: int, actions: Sequence[Action]) -> VersionChecksum | None:
    """Return the totals of a version that only added new files; None if it is not certain.

    An add with `dataChange` false may be of an existing file, and a remove may name a file that is
    not in the table. So with either, the files are counted.
    """
    adds = [action for action in actions if isinstance(action, AddFile)]
    if not all(add.data_change for add in adds):
        return None
    if any(isinstance(action, RemoveFile) for action in actions):
        return None
    before = _empty(actions) if version == 0 else _read_checksum(storage, version - 1)
    return None if before is None else _plus(before, adds, actions)


def _empty(actions: Sequence[Action]) -> VersionChecksum | None:
    metadata = next((action for action in actions if isinstance(action, Metadata)), None)
    protocol = next((action for action in actions if isinstance(action, Protocol)), None)
    if metadata is None or protocol is None:
        return None
    return VersionChecksum(
        table_size_bytes=0,
        num_files=0,
        num_deleted_records_opt=0,
        num_deletion_vectors_opt=0,
        set_transactions=(),
        domain_metadata=(),
        metadata=metadata,
        protocol=protocol,
    )


def _read_checksum(storage: Storage, version: int) -> VersionChecksum | None:
    try:
        return msgspec.json.decode(storage.read(checksum_path(version)), type=VersionChecksum)
    except (FileNotFoundError, StorageError, *NOT_JSON):
        return None


def _plus(
    before: VersionChecksum, adds: Sequence[AddFile], actions: Sequence[Action]
) -> VersionChecksum | None:
    new = {type(action): action for action in actions}
    metadata, protocol = new.get(Metadata, before.metadata), new.get(Protocol, before.protocol)
    assert isinstance(metadata, Metadata)
    assert isinstance(protocol, Protocol)
    vectors = [add.deletion_vector for add in adds if add.deletion_vector is not None]
    deleted, count = before.num_deleted_records_opt, before.num_deletion_vectors_opt
    if "deletionVectors" not in supported_features(protocol):
        deleted = count = None
    elif deleted is None or count is None:
        return None
    else:
        deleted, count = deleted + sum(v.cardinality for v in vectors), count + len(vectors)
    return VersionChecksum(
        table_size_bytes=before.table_size_bytes + sum(add.size for add in adds),
        num_files=before.num_files + len(adds),
        num_deleted_records_opt=deleted,
        num_deletion_vectors_opt=count,
        set_transactions=_merged_transactions(before, actions, metadata),
        domain_metadata=_merged_domains(before, actions),
        metadata=metadata,
        protocol=protocol,
    )


def _merged_transactions(
    before: VersionChecksum, actions: Iterable[Action], metadata: Metadata
) -> tuple[SetTransaction, ...] | None:
    if before.set_transactions is None:
        return None
    known = {action.app_id: action for action in before.set_transactions}
    known |= {action.app_id: action for action in actions if isinstance(action, SetTransaction)}
    return _transactions(known.values(), metadata)


def _transactions(
    transactions: Iterable[SetTransaction], metadata: Metadata
) -> tuple[SetTransaction, ...] | None:
    # If transactions expire, the correct value depends on the time of reading.
    properties = TableProperties.from_configuration(metadata.configuration)
    if properties.set_transaction_retention_ms is not None:
        return None
    return tuple(sorted(transactions, key=lambda action: action.app_id))


def _merged_domains(
    before: VersionChecksum, actions: Iterable[Action]
) -> tuple[DomainMetadata, ...] | None:
    if before.domain_metadata is None:
        return None
    known = {action.domain: action for action in before.domain_metadata}
    known |= {action.domain: action for action in actions if isinstance(action, DomainMetadata)}
    return _sorted_domains(action for action in known.values() if not action.removed)


def _sorted_domains(domains: Iterable[DomainMetadata]) -> tuple[DomainMetadata, ...]:
    return tuple(sorted(domains, key=lambda action: action.domain))
