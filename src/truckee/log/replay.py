"""Replay: the state of a table after newer actions have replaced older ones.

A file is identified by its key, (path as a URI, id of its deletion vector). Keys are looked up in
whole columns: the path alone decides almost every row, and ids of deletion vectors are compared
only if the path was found. The commits after the checkpoint are few, and are folded as objects into
a `Tail`. The checkpoint may have millions of files and stays columns: rows whose key is in the tail
are dropped, and the tail's files appended.

A path may be live only once: with two deletion vectors, its rows would be read twice. That is
checked where it costs almost nothing: paths of the tail among its own files, and among the rows
that `rows_without` has found by path anyway; paths of a checkpoint where it has files with vectors.

| checkpoint     | commits after it     | live files       |
|----------------|----------------------|------------------|
| `a`, `b`, `c`  | remove `a`           | `b`, `c`, `d`    |
|                | add `d`              |                  |
| `x`            | remove `x`, add `x` with vector 1 | `x` with vector 1 |
"""

from __future__ import annotations

import re
from collections.abc import Callable, Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TypeAlias
from urllib.parse import unquote

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from truckee.errors.log import FileLiveTwiceError
from truckee.log.checkpoint.columns import flags, typed_child
from truckee.log.checkpoint.compact import compact
from truckee.log.checkpoint.schema import FILES, file_rows, tombstone_rows
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
    """The state from the newest actions, which overrides that of a checkpoint."""

    protocol: Protocol | None = None
    metadata: Metadata | None = None
    set_transactions: dict[str, SetTransaction] = field(default_factory=dict)
    domain_metadata: dict[str, DomainMetadata] = field(default_factory=dict)
    files: dict[FileKey, FileAction] = field(default_factory=dict)

    def followed_by(self, newer: Tail) -> Tail:
        """Return the two combined; the newer one wins."""
        return Tail(
            protocol=newer.protocol or self.protocol,
            metadata=newer.metadata or self.metadata,
            set_transactions=self.set_transactions | newer.set_transactions,
            domain_metadata=self.domain_metadata | newer.domain_metadata,
            files=self.files | newer.files,
        )

    def fold(self, actions: Iterable[Action]) -> None:
        """Apply newer actions, in the order of the log."""
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
    """One line of a commit, without what is not part of the table's state."""

    add: AddFile | None = None
    remove: RemoveFile | None = None
    metaData: Metadata | None = None  # noqa: N815
    protocol: Protocol | None = None
    txn: SetTransaction | None = None
    domainMetadata: DomainMetadata | None = None  # noqa: N815


_decode_lines = msgspec.json.Decoder(_StateLine).decode_lines


def decode_state(data: bytes) -> list[Action]:
    """Return the actions of a commit that a snapshot consists of.

    The content of `commitInfo` is not fixed, and must not be able to make a table unreadable.
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


def live_paths(touched: Mapping[FileKey, FileAction], table: str) -> frozenset[str]:
    """Return the paths of the files that newer actions have added.

    Raises FileLiveTwiceError if one is there with two vectors.
    """
    found: set[str] = set()
    for (path, _), action in touched.items():
        if isinstance(action, AddFile):
            if path in found:
                raise FileLiveTwiceError(table=table, path=path)
            found.add(path)
    return frozenset(found)


def check_live_once(files: pa.Table, table: str) -> pa.Table:
    """Return the live files; FileLiveTwiceError if a file with a vector is also there otherwise."""
    vectors = files.column("deletion_vector")
    count = len(vectors) - vectors.null_count
    if not count:
        return files
    keys = pa.chunked_array([path_keys(chunk) for chunk in files.column("path").chunks])
    if count * _FEW_VECTORS < len(files):
        # Looking up few paths is cheaper than comparing all of them.
        marked = pc.unique(keys.filter(pc.is_valid(vectors)))
        same = pc.sum(pc.is_in(keys, marked)).as_py() == len(marked) == count
    else:
        same = len(pc.unique(keys)) == len(keys)
    if not same:
        counted = pc.value_counts(keys)
        [path, *_] = counted.field("values").filter(pc.greater(counted.field("counts"), 1))
        raise FileLiveTwiceError(table=table, path=path.as_py())
    return files


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


def untouched_rows(
    batches: Iterable[pa.RecordBatch],
    touched: Mapping[FileKey, FileAction],
    live_in: str | None = None,
) -> Iterator[pa.RecordBatch]:
    """Yield the batches without the rows whose key is in `touched`.

    If they are live files, `live_in` is their table: FileLiveTwiceError if a path stays that
    `touched` has added with another vector.
    """
    newer = None if live_in is None else live_paths(touched, live_in)
    paths = paths_of(touched)
    for batch in batches:
        mask = rows_without(batch, touched, paths, newer, live_in) if touched else None
        yield _filtered(batch, mask)


def few_batches(batches: Iterable[pa.RecordBatch]) -> Iterable[pa.RecordBatch]:
    """Return the same rows in another order, with small batches combined.

    A snapshot that is updated again and again gets a small batch each time.
    """
    large: list[pa.RecordBatch] = []
    small: list[pa.RecordBatch] = []
    for batch in batches:
        (small if len(batch) < _SMALL_BATCH else large).append(batch)
    if len(small) > _MANY_BATCHES:
        small = pa.Table.from_batches(small).combine_chunks().to_batches()
    return [*large, *small]


def untouched_files(
    read: Callable[[pa.Schema], Iterable[pa.RecordBatch]],
    touched: Mapping[FileKey, FileAction],
    table: str,
) -> Iterator[pa.RecordBatch]:
    """Yield the files of a checkpoint that newer commits left alone, each batch in its own memory.

    `read` yields the files with the requested columns, in the same batches each time. Most
    of the bytes are statistics. They are read after everything else, because decoding all columns
    at once takes more memory than decoding some and then the others.
    """
    paths, newer = paths_of(touched), live_paths(touched, table)
    masks: list[pa.BooleanArray | None] = []
    kept: list[pa.RecordBatch] = []
    for batch in read(_WITHOUT_STATS):
        masks.append(rows_without(batch, touched, paths, newer, table) if touched else None)
        kept.append(compact(_filtered(batch, masks[-1])))
    for rows, mask, batch in zip(kept, masks, read(_ONLY_STATS), strict=True):
        stats = compact(_filtered(batch, mask))
        columns = (stats if name == "stats" else rows for name in FILES.names)
        yield pa.RecordBatch.from_arrays(
            [part.column(name) for part, name in zip(columns, FILES.names, strict=True)],
            schema=FILES,
        )


_ONLY_STATS = pa.schema([FILES.field("stats")])
_WITHOUT_STATS = FILES.remove(FILES.get_field_index("stats"))


def _filtered(batch: pa.RecordBatch, mask: pa.BooleanArray | None) -> pa.RecordBatch:
    return batch if mask is None else batch.filter(mask)


def file_key(action: FileAction) -> FileKey:
    """Return the key of a file (protocol: Action Reconciliation)."""
    vector = action.deletion_vector
    return path_key(action.path), None if vector is None else vector.unique_id


def path_key(path: str) -> str:
    """Return the same key for two spellings of one URI: `a%20b` is `a b`.

    A path with a scheme and one without are different URIs, even if a store would find the same
    file.
    """
    if path[:5].lower() == "file:":
        return f"file:{decode_path(path)}"
    return decode_path(path)


def paths_of(keys: Iterable[FileKey]) -> pa.StringArray:
    """Return the paths of keys, for `rows_without`."""
    return typed_child(list({path for path, _ in keys}), pa.string())


def rows_without(
    batch: pa.RecordBatch,
    keys: Container[FileKey],
    paths: pa.StringArray,
    newer: Container[str] | None = None,
    table: str | None = None,
) -> pa.BooleanArray | None:
    """Return the rows that have none of the keys, None if that is all of them.

    `paths` are those of the keys, and `newer` those that are live among them: FileLiveTwiceError if
    a row that stays has one. The batch has the columns `path` and `deletion_vector`.
    """
    found = path_keys(batch.column("path"))
    suspects = pc.indices_nonzero(pc.is_in(found, paths))
    gone = []
    for row, path, vector in zip(
        suspects.to_pylist(),
        found.take(suspects).to_pylist(),
        batch.column("deletion_vector").take(suspects).to_pylist(),
        strict=True,
    ):
        if (path, vector and DeletionVectorDescriptor(**vector).unique_id) in keys:
            gone.append(row)
        elif newer is not None and path in newer:
            raise FileLiveTwiceError(table=table or "", path=path)
    if not gone:
        return None
    keep = [True] * len(batch)
    for row in gone:
        keep[row] = False
    return flags(keep)


_ESCAPE = re.compile(rb"%[0-9A-Fa-f]{2}")


def path_keys(paths: pa.StringArray) -> pa.StringArray:
    """Return `path_key` of each path, at almost no cost if nothing is escaped.

    Whole columns are unescaped by one replacement for each escape that occurs. The order does not
    matter, except that `%25` comes last, because only it produces new percent signs.
    """
    data = _bytes_of(paths)
    if b":/" in data and pc.any(pc.starts_with(paths, "file:", ignore_case=True)).as_py():
        return typed_child([path_key(path) for path in paths.to_pylist()], pa.string())
    if b"%" not in data:
        return paths
    escapes = set(_ESCAPE.findall(data)) - {b"%25"}
    if any(escape[1:2] >= b"8" for escape in escapes):
        return typed_child([unquote(path) for path in paths.to_pylist()], pa.string())
    for escape in (*escapes, b"%25"):
        text = escape.decode()
        paths = pc.replace_substring(paths, text, unquote(text))
    return paths


def _bytes_of(texts: pa.StringArray) -> bytes:
    """Return the bytes of all texts; to search them is faster than to ask each text."""
    _, offsets, data = texts.buffers()
    if data is None or not len(texts):
        return b""
    ends = memoryview(offsets).cast("i")
    start, end = ends[texts.offset], ends[texts.offset + len(texts)]
    return bytes(data[start:end])


_SMALL_BATCH, _MANY_BATCHES = 1024, 64
_FEW_VECTORS = 8
