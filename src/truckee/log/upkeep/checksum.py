"""Reads version checksums, `%020d.crc`: totals of a version, written beside its commit.

They are optional, and serve to check a log, never to replace it. So opening a table does not read
them; `verify_checksum` does.

| field of the file                         | is compared with                                |
|-------------------------------------------|-------------------------------------------------|
| `numFiles`, `tableSizeBytes`              | number and size of the live files               |
| `numDeletionVectorsOpt`, `numDeletedRecordsOpt` | live files with vectors, rows in those    |
| `protocol`                                | versions and sets of features                   |
| `metadata`                                | id, schema, partition columns, configuration    |
| `setTransactions`, `domainMetadata`       | the versions, the configurations                |
| `inCommitTimestampOpt`                    | the timestamp of the version                    |
"""

from __future__ import annotations

from collections.abc import Iterator

import msgspec
import pyarrow.compute as pc
from msgspec import Struct

from truckee.errors.log import ChecksumMismatchError, CorruptLogFileError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import DomainMetadata, Metadata, Protocol, SetTransaction
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.paths import checksum_path
from truckee.protocol.schema import parse_schema
from truckee.storage.base import Storage


class Checksum(Struct, frozen=True, kw_only=True, rename="camel"):
    """The content of a checksum file; writers leave out what they do not count."""

    table_size_bytes: int | None = None
    num_files: int | None = None
    num_deleted_records_opt: int | None = None
    num_deletion_vectors_opt: int | None = None
    in_commit_timestamp_opt: int | None = None
    set_transactions: tuple[SetTransaction, ...] | None = None
    domain_metadata: tuple[DomainMetadata, ...] | None = None
    metadata: Metadata | None = None
    protocol: Protocol | None = None


def verify_checksum(snapshot: Snapshot) -> bool:
    """Compare a snapshot with its checksum, and return whether there is one.

    Raises `ChecksumMismatchError` with every difference, and `CorruptLogFileError` for a checksum
    that cannot be read.
    """
    checksum = read_checksum(snapshot.storage, snapshot.version)
    if checksum is None:
        return False
    differences = tuple(_differences(checksum, snapshot))
    if differences:
        raise ChecksumMismatchError(
            table=snapshot.storage.root, version=snapshot.version, differences=differences
        )
    return True


def read_checksum(storage: Storage, version: int) -> Checksum | None:
    """Return the checksum of a version, None if there is none."""
    path = checksum_path(version)
    try:
        return msgspec.json.decode(storage.read(path), type=Checksum)
    except FileNotFoundError:
        return None
    except NOT_JSON as error:
        raise CorruptLogFileError(table=storage.root, path=path, reason=str(error)) from error


def _differences(checksum: Checksum, snapshot: Snapshot) -> Iterator[str]:
    vectors = snapshot.files_table().column("deletion_vector")
    deleted = pc.sum(pc.struct_field(vectors, "cardinality")).as_py() or 0
    counts = (
        ("files", checksum.num_files, snapshot.num_files),
        ("bytes", checksum.table_size_bytes, snapshot.size_in_bytes),
        (
            "deletion vectors",
            checksum.num_deletion_vectors_opt,
            len(vectors) - vectors.null_count,
        ),
        ("deleted rows", checksum.num_deleted_records_opt, deleted),
    )
    for what, said, found in counts:
        if said is not None and said != found:
            yield f"it has {found} {what}, the checksum says {said}"
    yield from _differing_parts(checksum, snapshot)


def _differing_parts(checksum: Checksum, snapshot: Snapshot) -> Iterator[str]:
    protocol, metadata = checksum.protocol, checksum.metadata
    if protocol is not None and _demands(protocol) != _demands(snapshot.protocol):
        yield "its protocol differs"
    if metadata is not None and _identity(metadata) != _identity(snapshot.metadata):
        yield "its metadata differs"
    if checksum.set_transactions is not None and _has_lasting_transactions(snapshot):
        said = {txn.app_id: txn.version for txn in checksum.set_transactions}
        if said != {app: txn.version for app, txn in snapshot.set_transactions.items()}:
            yield "its transactions differ"
    if checksum.domain_metadata is not None:
        configurations = {d.domain: d.configuration for d in checksum.domain_metadata}
        found = {name: d.configuration for name, d in snapshot.domain_metadata.items()}
        if configurations != found:
            yield "its metadata domains differ"
    if (
        checksum.in_commit_timestamp_opt is not None
        and snapshot.properties.enable_in_commit_timestamps
        and checksum.in_commit_timestamp_opt != snapshot.timestamp_ms
    ):
        yield "its timestamp differs"


def _demands(protocol: Protocol) -> tuple[object, ...]:
    return (
        protocol.min_reader_version,
        protocol.min_writer_version,
        frozenset(protocol.reader_features or ()),
        frozenset(protocol.writer_features or ()),
    )


def _identity(metadata: Metadata) -> tuple[object, ...]:
    return (
        metadata.id,
        parse_schema(metadata.schema_string),
        metadata.partition_columns,
        metadata.configuration,
    )


def _has_lasting_transactions(snapshot: Snapshot) -> bool:
    return snapshot.properties.set_transaction_retention_ms is None
