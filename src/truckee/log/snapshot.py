"""Snapshot: an immutable view of one version of a table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truckee.errors.log import StateNotRecoverableError
from truckee.log.checkpoint_reader import Checkpoint, open_checkpoint
from truckee.log.commits import decode_commit, read_commit, read_in_order
from truckee.log.replay import Tail, fold, live_files, tombstones
from truckee.log.segment import LogSegment, list_log, log_segment
from truckee.protocol.actions import (
    AddFile,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.features import check_readable
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import StructType, parse_schema
from truckee.storage.base import Storage


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One version of a table. Files are read from the checkpoint when they are first asked for."""

    storage: Storage
    segment: LogSegment
    protocol: Protocol
    metadata: Metadata
    _checkpoint: Checkpoint | None
    _tail: Tail

    @property
    def version(self) -> int:
        """The version that this is a view of."""
        return self.segment.version

    @cached_property
    def schema(self) -> StructType:
        """The table's columns, by their logical names."""
        return parse_schema(self.metadata.schema_string)

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The logical names of the partition columns, in order."""
        return tuple(self.metadata.partition_columns)

    @cached_property
    def properties(self) -> TableProperties:
        """The table's `delta.*` properties."""
        return TableProperties.from_configuration(self.metadata.configuration)

    @cached_property
    def timestamp_ms(self) -> int:
        """When this version was committed."""
        if self.segment.last_commit is not None:
            return read_commit(self.storage, self.version).timestamp_ms
        assert self.segment.checkpoint is not None
        return max(file.modified_ms for file in self.segment.checkpoint.files)

    @cached_property
    def set_transactions(self) -> Mapping[str, SetTransaction]:
        """The last version of each application."""
        return dict(self._tail.set_transactions)

    @cached_property
    def domain_metadata(self) -> Mapping[str, DomainMetadata]:
        """The configuration of each domain that is not removed."""
        return {d: m for d, m in self._tail.domain_metadata.items() if not m.removed}

    @cached_property
    def _files(self) -> pa.Table:
        older = () if self._checkpoint is None else self._checkpoint.adds()
        return live_files(older, self._tail.files)

    def files_table(self) -> pa.Table:
        """Return the live files, one a row, with the columns of `checkpoint_schema.FILES`."""
        return self._files

    @property
    def num_files(self) -> int:
        """The number of live files."""
        return int(self._files.num_rows)

    @cached_property
    def size_in_bytes(self) -> int:
        """The size of all live files together."""
        return pc.sum(self._files.column("size")).as_py() or 0

    def files(self) -> Iterator[AddFile]:
        """Yield the live files."""
        for batch in self._files.to_batches(max_chunksize=4096):
            yield from add_files(batch)

    def add_files(self, table: pa.Table) -> list[AddFile]:
        """Return rows of `files_table`, filtered or not, as actions."""
        return add_files(table)

    def tombstones(self) -> Iterator[RemoveFile]:
        """Yield the removed files that the log still knows, expired ones included."""
        older = () if self._checkpoint is None else self._checkpoint.removes()
        for batch in tombstones(older, self._tail.files):
            for row in batch.to_pylist(maps_as_pydicts="lossy"):
                yield RemoveFile(data_change=False, **_with_vector(row))


def add_files(rows: pa.Table | pa.RecordBatch) -> list[AddFile]:
    """Return rows of the schema `FILES` as actions, with `data_change` false."""
    return [
        AddFile(data_change=False, **_with_vector(row))
        for row in rows.to_pylist(maps_as_pydicts="lossy")
    ]


def _with_vector(row: dict[str, Any]) -> dict[str, Any]:
    vector = row["deletion_vector"]
    if vector is not None:
        row["deletion_vector"] = DeletionVectorDescriptor(**vector)
    return row


def load_snapshot(storage: Storage, version: int | None = None) -> Snapshot:
    """Return a version of the table, the latest unless told otherwise.

    Raises the errors of `log_segment`; `CorruptLogFileError` and `LogFileNotFoundError` for what
    is wrong with single files; `StateNotRecoverableError` without protocol or metadata; and those
    of `check_readable` for a table that demands more than is known here.
    """
    segment = log_segment(storage, version)
    checkpoint = segment.checkpoint and open_checkpoint(storage, segment.checkpoint)
    tail = Tail()
    if checkpoint is not None:
        fold(tail, (a for a in checkpoint.actions if not isinstance(a, (AddFile, RemoveFile))))
    return _replayed(storage, segment, checkpoint, tail)


def _replayed(
    storage: Storage, segment: LogSegment, checkpoint: Checkpoint | None, tail: Tail
) -> Snapshot:
    paths = [file.path for file in segment.replayed]
    for path, data in zip(paths, read_in_order(storage, paths), strict=True):
        fold(tail, decode_commit(storage, path, data))
    if tail.protocol is None:
        raise StateNotRecoverableError(
            table=storage.root, version=segment.version, missing="protocol"
        )
    check_readable(tail.protocol, storage.root)
    if tail.metadata is None:
        raise StateNotRecoverableError(
            table=storage.root, version=segment.version, missing="metaData"
        )
    return Snapshot(storage, segment, tail.protocol, tail.metadata, checkpoint, tail)


def update_snapshot(snapshot: Snapshot) -> Snapshot:
    """Return the latest version, reading only what came after the snapshot."""
    return load_snapshot(snapshot.storage)
