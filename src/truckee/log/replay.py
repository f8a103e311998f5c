"""The fold: what is left of a log when newer actions have replaced older ones.

A file is known by its key, (path as a URI, id of its deletion vector). The commits after the
checkpoint are few and folded as objects into a `Tail`. The checkpoint may hold millions of files
and stays in columns: rows whose key the tail mentions are dropped, the tail's own files appended.

| checkpoint     | commits after it     | live files       |
|----------------|----------------------|------------------|
| `a`, `b`, `c`  | remove `a`           | `b`, `c`, `d`    |
|                | add `d`              |                  |
| `x`            | remove `x`, add `x` with vector 1 | `x` with vector 1 |
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from truckee.log.checkpoint_schema import FILES, file_rows, tombstone_rows
from truckee.log.columns import column, flags
from truckee.protocol.actions import (
    Action,
    AddFile,
    DomainMetadata,
    FileAction,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import decode_path

FileKey: TypeAlias = tuple[str, str | None]


@dataclass
class Tail:
    """What the newest actions say; a checkpoint counts only where they are silent."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    set_transactions: dict[str, SetTransaction] = field(default_factory=dict)
    domain_metadata: dict[str, DomainMetadata] = field(default_factory=dict)
    files: dict[FileKey, FileAction] = field(default_factory=dict)

    def followed_by(self, newer: Tail) -> Tail:
        """Return what both say together; the newer one wins."""
        return Tail(
            protocol=newer.protocol or self.protocol,
            metadata=newer.metadata or self.metadata,
            set_transactions=self.set_transactions | newer.set_transactions,
            domain_metadata=self.domain_metadata | newer.domain_metadata,
            files=self.files | newer.files,
        )

    def fold(self, actions: Iterable[Action]) -> None:
        """Let newer actions, in the order of the log, replace what is known."""
        for action in actions:
            match action:
                case AddFile() | RemoveFile():
                    self.files[file_key(action)] = action
                case Protocol():
                    self.protocol = action
                case Metadata():
                    self.metadata = action
                case SetTransaction():
                    self.set_transactions[action.app_id] = action
                case DomainMetadata():
                    self.domain_metadata[action.domain] = action
                case _:
                    pass


class _StateLine(msgspec.Struct):
    """One line of a commit, as far as it is about the table's state."""

    add: AddFile | None = None
    remove: RemoveFile | None = None
    metaData: Metadata | None = None  # noqa: N815
    protocol: Protocol | None = None
    txn: SetTransaction | None = None
    domainMetadata: DomainMetadata | None = None  # noqa: N815


_decode_lines = msgspec.json.Decoder(_StateLine).decode_lines


def decode_state(data: bytes) -> list[Action]:
    """Return the actions of a commit that a snapshot is made of.

    What stands in `commitInfo` is free and must not be able to make a table unreadable.
    """
    actions: list[Action] = []
    for line in _decode_lines(data):
        action = (
            line.add
            or line.remove
            or line.metaData
            or line.protocol
            or line.txn
            or line.domainMetadata
        )
        if action is not None:
            actions.append(action)
    return actions


def file_key(action: FileAction) -> FileKey:
    """Return what a file is known by (protocol: Action Reconciliation)."""
    vector = action.deletion_vector
    return path_key(action.path), None if vector is None else vector.unique_id


def path_key(path: str) -> str:
    """Return what two spellings of one URI have in common: `a%20b` is `a b`.

    A path with a scheme and one without are different URIs, even if a store would find the same
    file.
    """
    if path[:5].lower() == "file:":
        return f"file:{decode_path(path)}"
    return decode_path(path)


def live_files(kept: Iterable[pa.RecordBatch], touched: Mapping[FileKey, FileAction]) -> pa.Table:
    """Return the files of the table: older ones that were kept, then those added since."""
    batches = list(kept)
    adds = [action for action in touched.values() if isinstance(action, AddFile)]
    if adds:
        batches.append(file_rows(adds))
    return pa.Table.from_batches(batches, schema=FILES)


def tombstones(
    kept: Iterable[pa.RecordBatch], touched: Mapping[FileKey, FileAction]
) -> Iterator[pa.RecordBatch]:
    """Yield the removed files: older ones that were kept, then those removed since."""
    yield from kept
    removes = [action for action in touched.values() if isinstance(action, RemoveFile)]
    if removes:
        yield tombstone_rows(removes)


def untouched(
    batches: Iterable[pa.RecordBatch], touched: Mapping[FileKey, object]
) -> Iterator[pa.RecordBatch]:
    """Yield the batches without the rows whose key is among the touched ones.

    Almost every row is settled by its path alone; the ids of deletion vectors are looked at only
    where the path was found.
    """
    if not touched:
        yield from batches
        return
    paths = column(list({path for path, _ in touched}), pa.string())
    for batch in batches:
        keys = path_keys(batch.column("path"))
        suspects = pc.indices_nonzero(pc.is_in(keys, paths))
        vectors = batch.column("deletion_vector").take(suspects).to_pylist()
        gone = [
            row
            for row, path, vector in zip(
                suspects.to_pylist(), keys.take(suspects).to_pylist(), vectors, strict=True
            )
            if (path, vector and DeletionVectorDescriptor(**vector).unique_id) in touched
        ]
        yield _without_rows(batch, gone) if gone else batch


def _without_rows(batch: pa.RecordBatch, rows: Iterable[int]) -> pa.RecordBatch:
    keep = [True] * len(batch)
    for row in rows:
        keep[row] = False
    return batch.filter(flags(keep))


_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")


def path_keys(paths: pa.StringArray) -> pa.StringArray:
    """Return `path_key` of each path, at next to no cost where nothing is escaped.

    Whole columns are unescaped by one replacement per escape that occurs: an escape stands for
    itself wherever it is found, and `%25` comes last, since it alone makes new percent signs.
    """
    has_scheme = pc.any(pc.match_substring(paths, ":/")).as_py()
    if has_scheme and pc.any(pc.starts_with(paths, "file:", ignore_case=True)).as_py():
        return column([path_key(path) for path in paths.to_pylist()], pa.string())
    if not pc.any(pc.match_substring(paths, "%")).as_py():
        return paths
    escapes = set(_ESCAPE.findall(paths.buffers()[2])) - {b"%25"}
    if any(escape[1:2] >= b"8" for escape in escapes):
        return column([unquote(path) for path in paths.to_pylist()], pa.string())
    for escape in (*escapes, b"%25"):
        text = escape.decode()
        paths = pc.replace_substring(paths, text, unquote(text))
    return paths


_null_columns: dict[pa.DataType, pa.Array] = {}


def compact(batch: pa.RecordBatch) -> pa.RecordBatch:
    """Return the same rows in one block of memory of just their size.

    What a Parquet reader returns is scattered over buffers that were grown while reading, and an
    allocator that keeps the holes between them doubles the memory that a million files take.
    Columns that are null throughout, as tags and vectors often are, share one array.
    """
    columns = {name: batch.column(name) for name in batch.schema.names}
    full = {name: column for name, column in columns.items() if column.null_count < len(batch)}
    whole = pa.RecordBatch.from_pydict(full)
    block = whole.serialize(memory_pool=pa.system_memory_pool())
    kept = pa.ipc.read_record_batch(block, whole.schema)
    pa.default_memory_pool().release_unused()
    return pa.RecordBatch.from_arrays(
        [
            kept.column(f.name) if f.name in full else _nulls(len(batch), f.type)
            for f in batch.schema
        ],
        schema=batch.schema,
    )


def _nulls(length: int, data_type: pa.DataType) -> pa.Array:
    known = _null_columns.get(data_type)
    if known is None or len(known) < length:
        known = _null_columns[data_type] = pa.nulls(length, data_type)
    return known.slice(0, length)
