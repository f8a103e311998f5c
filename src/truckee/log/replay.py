"""The fold: what is left of a log when newer actions have replaced older ones.

A file is known by its key, (decoded path, id of its deletion vector). The commits after the
checkpoint are few and folded as objects into a `Tail`. The checkpoint may hold millions of files
and stays in columns: rows whose key the tail mentions are dropped, the tail's own files appended.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

import pyarrow as pa
import pyarrow.compute as pc

from truckee.log.checkpoint_reader import file_rows, tombstone_rows
from truckee.log.checkpoint_schema import FILES
from truckee.protocol.actions import (
    Action,
    AddFile,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
)
from truckee.protocol.paths import decode_path, decode_paths

FileKey: TypeAlias = tuple[str, str | None]


@dataclass
class Tail:
    """What the newest actions say; a checkpoint counts only where they are silent."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    set_transactions: dict[str, SetTransaction] = field(default_factory=dict)
    domain_metadata: dict[str, DomainMetadata] = field(default_factory=dict)
    files: dict[FileKey, AddFile | RemoveFile] = field(default_factory=dict)

    def copy(self) -> Tail:
        """Return a tail that can grow on its own."""
        return Tail(
            self.protocol,
            self.metadata,
            dict(self.set_transactions),
            dict(self.domain_metadata),
            dict(self.files),
        )


def file_key(action: AddFile | RemoveFile) -> FileKey:
    """Return what a file is known by (protocol: Action Reconciliation)."""
    vector = action.deletion_vector
    return decode_path(action.path), None if vector is None else vector.unique_id


def fold(tail: Tail, actions: Iterable[Action]) -> None:
    """Let newer actions, in the order of the log, replace what the tail knows."""
    for action in actions:
        match action:
            case AddFile() | RemoveFile():
                # Taken out first, so that files stand in the order they were last touched.
                key = file_key(action)
                tail.files.pop(key, None)
                tail.files[key] = action
            case Protocol():
                tail.protocol = action
            case Metadata():
                tail.metadata = action
            case SetTransaction():
                tail.set_transactions[action.app_id] = action
            case DomainMetadata():
                tail.domain_metadata[action.domain] = action
            case _:
                pass


def live_files(
    older: Iterable[pa.RecordBatch], touched: Mapping[FileKey, AddFile | RemoveFile]
) -> pa.Table:
    """Return the files of the table: older ones that were not touched since, then newer ones."""
    batches = list(untouched(older, touched))
    adds = [action for action in touched.values() if isinstance(action, AddFile)]
    if adds:
        batches.append(file_rows(adds))
    return pa.Table.from_batches(batches, schema=FILES)


def tombstones(
    older: Iterable[pa.RecordBatch], touched: Mapping[FileKey, AddFile | RemoveFile]
) -> Iterator[pa.RecordBatch]:
    """Yield the removed files: older ones that were not touched since, then newer ones."""
    yield from untouched(older, touched)
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
    paths = pa.array({path for path, _ in touched}, pa.string())
    for batch in batches:
        if not len(paths):
            yield batch
            continue
        decoded = decode_paths(batch.column("path"))
        suspects = pc.indices_nonzero(pc.is_in(decoded, paths)).to_pylist()
        gone = [row for row in suspects if _key_at(batch, decoded, row) in touched]
        if gone:
            keep = pc.invert(pc.is_in(pa.array(range(len(batch)), pa.int64()), pa.array(gone)))
            batch = batch.filter(keep)
        yield batch


def _key_at(batch: pa.RecordBatch, decoded: pa.Array, row: int) -> FileKey:
    vector = batch.column("deletion_vector")[row].as_py()
    if vector is None:
        return decoded[row].as_py(), None
    at = "" if vector["offset"] is None else f"@{vector['offset']}"
    return decoded[row].as_py(), f"{vector['storage_type']}{vector['path_or_inline_dv']}{at}"
