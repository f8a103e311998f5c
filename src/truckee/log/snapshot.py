"""Snapshot: an immutable view of one version of a table.

Opening one reads the commits after the newest checkpoint and, from the checkpoint, everything but
files: protocol, metadata, transactions and domains. Files are read when they are first needed, and
stay columns; `AddFile` objects are created only for the rows that are needed.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from truckee.errors.log import LogFileNotFoundError, StateNotRecoverableError
from truckee.errors.stream_schema import SchemaNotSetError
from truckee.log.checkpoint.reader import Checkpoint, open_checkpoint
from truckee.log.checkpoint.schema import FILES, add_actions, remove_actions
from truckee.log.files.commits import decode_commit
from truckee.log.files.history import commit_timestamps
from truckee.log.files.log_files import read_in_order
from truckee.log.files.segment import LogSegment, list_log, log_segment
from truckee.log.matching_adds import LARGE_CHECKPOINT, FileFilter, matching_adds
from truckee.log.replay import (
    Tail,
    check_live_once,
    decode_state,
    few_batches,
    live_files,
    live_paths,
    tombstones,
    untouched_files,
    untouched_rows,
)
from truckee.protocol.actions import (
    AddFile,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from truckee.protocol.features import check_readable
from truckee.protocol.paths import short_name
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.storage.base import FileInfo, Storage

_log = logging.getLogger(__name__)

_LONG_TAIL = 100


@dataclass(frozen=True, eq=False)
class Snapshot:
    """One version of a table."""

    storage: Storage
    segment: LogSegment
    protocol: Protocol
    metadata: Metadata
    _checkpoint: Checkpoint | None = field(repr=False)
    _tail: Tail = field(repr=False)

    @property
    def version(self) -> int:
        """The version that this is a view of."""
        return self.segment.version

    @cached_property
    def configuration(self) -> TableConfiguration:
        """What the table is at this version, apart from its files."""
        return TableConfiguration(self.metadata, self.protocol, self.domain_metadata)

    @property
    def schema(self) -> StructType:
        """The table's columns, by their logical names; `SchemaNotSetError` if it has none yet."""
        if not self.configuration.has_schema:
            raise SchemaNotSetError(table=self.storage.root)
        return self.configuration.schema

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The logical names of the partition columns, in order."""
        return self.configuration.partition_columns

    @property
    def properties(self) -> TableProperties:
        """The table's `delta.*` properties."""
        return self.configuration.properties

    @cached_property
    def timestamp_ms(self) -> int:
        """When this version was committed, or checkpointed if only its checkpoint is left."""
        if self.segment.last_commit is not None:
            return commit_timestamps(self.storage, self.version, self.version)[self.version]
        assert self.segment.checkpoint is not None
        return max(file.modified_ms for file in self.segment.checkpoint.files)

    @cached_property
    def set_transactions(self) -> Mapping[str, SetTransaction]:
        """The last transaction of each application, without those past their retention."""
        retention_ms = self.properties.set_transaction_retention_ms
        if retention_ms is None:
            return dict(self._tail.set_transactions)
        oldest = time.time_ns() // 1_000_000 - retention_ms
        known = self._tail.set_transactions
        return {app: txn for app, txn in known.items() if (txn.last_updated or 0) > oldest}

    @cached_property
    def domain_metadata(self) -> Mapping[str, DomainMetadata]:
        """The configuration of each domain that was not removed."""
        known = self._tail.domain_metadata
        return {domain: found for domain, found in known.items() if not found.removed}

    def files_table(self) -> pa.Table:
        """Return the live files, one per row, with the columns of `checkpoint.schema.FILES`.

        `path` is spelled as in `add.path`: percent-encoded, relative to the root or absolute.
        """
        return self._files

    @cached_property
    def _files(self) -> pa.Table:
        touched, table = self._tail.files, self.storage.root
        if self._checkpoint is None:
            live_paths(touched, table)
            return live_files((), touched)
        older = untouched_files(self._checkpoint.adds, touched, table)
        return check_live_once(live_files(older, touched), table)

    def files_wanted(self, wanted: FileFilter) -> pa.Table:
        """Return the live files that a filter wants, like `files_table`.

        Of a large checkpoint whose files are not known yet, no more is read than that takes, and
        nothing is kept: the next filter may want others.
        """
        if not self._is_unread_and_large or not wanted.columns:
            return self._files.filter(wanted.wants(self._files))
        assert self._checkpoint is not None
        touched = self._tail.files
        files = live_files(matching_adds(self._checkpoint, touched, wanted), touched)
        return check_live_once(files.filter(wanted.wants(files)), self.storage.root)

    @cached_property
    def totals(self) -> FileTotals:
        """How many live files there are and how large; those of a large table are not kept."""
        if not self._is_unread_and_large:
            return FileTotals.of(self._files.to_batches())
        assert self._checkpoint is not None
        touched = self._tail.files
        older = untouched_rows(self._checkpoint.adds(COUNTED), touched, self.storage.root)
        newer = live_files((), touched).to_batches()
        return FileTotals.of(chain(older, newer))

    @property
    def _is_unread_and_large(self) -> bool:
        is_large = (
            self._checkpoint is not None and self._checkpoint.size_in_bytes >= LARGE_CHECKPOINT
        )
        return is_large and "_files" not in self.__dict__

    @property
    def num_files(self) -> int:
        """The number of live files."""
        return self.totals.files

    @property
    def size_in_bytes(self) -> int:
        """The size of all live files together."""
        return self.totals.size_in_bytes

    def files(self) -> Iterator[AddFile]:
        """Yield the live files, each with `data_change` false."""
        for batch in self._files.to_batches(max_chunksize=4096):
            yield from add_actions(batch)

    def add_files(self, table: pa.Table) -> list[AddFile]:
        """Return rows of `files_table`, for example after filtering, as actions."""
        return [add for batch in table.to_batches() for add in add_actions(batch)]

    def tombstones(self) -> Iterator[RemoveFile]:
        """Yield the removed files in the log, including those past their retention."""
        for batch in self.tombstone_batches():
            yield from remove_actions(batch)

    def tombstone_batches(self) -> Iterator[pa.RecordBatch]:
        """Yield the same in batches with the columns of `checkpoint.schema.TOMBSTONES`."""
        older = () if self._checkpoint is None else self._checkpoint.removes()
        return tombstones(untouched_rows(older, self._tail.files), self._tail.files)


def load_snapshot(storage: Storage, version: int | None = None) -> Snapshot:
    """Return a version of the table, the latest by default.

    Raises the errors of `log_segment`; `CorruptLogFileError` and `LogFileNotFoundError` for single
    files; `StateNotRecoverableError` without protocol or metadata; and those of `check_readable`
    for a table that requires features that truckee does not support.
    """
    try:
        return _loaded(storage, version)
    except LogFileNotFoundError:
        # A log cleanup may have deleted files between the listing and the read.
        return _loaded(storage, version)


def _loaded(storage: Storage, version: int | None) -> Snapshot:
    segment = log_segment(storage, version)
    _log.debug(
        "%s: version %d is read from %s and %d commits",
        short_name(storage.root),
        segment.version,
        "no checkpoint"
        if segment.checkpoint is None
        else f"the checkpoint of version {segment.checkpoint.version}",
        len(segment.commits),
    )
    tail = Tail()
    checkpoint = None
    if segment.checkpoint is not None:
        checkpoint = open_checkpoint(storage, segment.checkpoint)
        tail.fold(a for a in checkpoint.actions if not isinstance(a, (AddFile, RemoveFile)))
    _fold_files(storage, tail, segment.replay_files)
    return _checked(storage, segment, checkpoint, tail)


def update_snapshot(snapshot: Snapshot) -> Snapshot:
    """Return the latest version, reading only the commits after the snapshot.

    If there are many commits since the snapshot's checkpoint, and there is a newer checkpoint, the
    table is opened from that one instead.
    """
    storage = snapshot.storage
    listing = list_log(storage, snapshot.version)
    if listing.commits.get(snapshot.version) != snapshot.segment.last_commit:
        # Another table may have been made in its place, or its log was cleaned up.
        return load_snapshot(storage)
    newer = [version for version in sorted(listing.commits) if version > snapshot.version]
    if not newer and listing.latest == snapshot.version:
        return snapshot
    commits = (*snapshot.segment.commits, *(listing.commits[version] for version in newer))
    has_gap = newer != list(range(snapshot.version + 1, snapshot.version + 1 + len(newer)))
    if has_gap or not newer or (listing.checkpoints and len(commits) > _LONG_TAIL):
        return load_snapshot(storage)
    segment = replace(
        snapshot.segment,
        version=newer[-1],
        commits=commits,
        last_commit=listing.commits[newer[-1]],
    )
    tail = Tail(protocol=snapshot.protocol, metadata=snapshot.metadata)
    _fold_files(storage, tail, commits[-len(newer) :])
    updated = _checked(storage, segment, snapshot._checkpoint, snapshot._tail.followed_by(tail))
    if "_files" in snapshot.__dict__:
        # The files that are already loaded serve as the base, like a checkpoint.
        kept = untouched_rows(snapshot._files.to_batches(), tail.files, storage.root)
        updated.__dict__["_files"] = live_files(few_batches(kept), tail.files)
    return updated


def _fold_files(storage: Storage, tail: Tail, files: tuple[FileInfo, ...]) -> None:
    paths = [file.path for file in files]
    for path, data in zip(paths, read_in_order(storage, paths), strict=True):
        actions = decode_commit(storage, path, data, decode_state)
        # A compaction file should name each file once. Some writers keep older mentions, newest
        # first, so it is folded from its end.
        tail.fold(reversed(actions) if path.endswith(".compacted.json") else actions)


def _checked(
    storage: Storage, segment: LogSegment, checkpoint: Checkpoint | None, tail: Tail
) -> Snapshot:
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


COUNTED = pa.schema([FILES.field(name) for name in ("path", "size", "deletion_vector")])
"""The columns that files are counted by, and known by when a log is replayed."""


class FileTotals(NamedTuple):
    """What is known of all live files together."""

    files: int = 0
    vectors: int = 0
    size_in_bytes: int = 0

    @classmethod
    def of(cls, batches: Iterable[pa.RecordBatch]) -> FileTotals:
        """Return the totals of rows that have at least the columns `COUNTED`."""
        files = vectors = size = 0
        for batch in batches:
            files += len(batch)
            vectors += len(batch) - batch.column("deletion_vector").null_count
            size += pc.sum(batch.column("size")).as_py() or 0
        return cls(files, vectors, size)
