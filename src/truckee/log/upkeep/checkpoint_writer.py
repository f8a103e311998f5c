"""Writes a checkpoint and `_last_checkpoint`: a whole version, so that readers can start there.

A checkpoint has the protocol, the metadata, the transactions of applications, the metadata
domains, the live files and the unexpired tombstones. It is a Parquet file with one nullable struct
column for each kind of action; in each row exactly one is not null.

| kind    | files                                                                              |
|---------|------------------------------------------------------------------------------------|
| classic | `<version>.checkpoint.parquet` with everything                                     |
| V2      | `_sidecars/<version>.checkpoint.<part>.<parts>.<uuid>.parquet` with the file       |
|         | actions, 50,000 each at most, and                                                  |
|         | `<version>.checkpoint.<uuid>.json` with the rest and the names of the sidecars     |

File actions stay columns throughout. `_last_checkpoint`, the hint for readers, is written last, so
that it always names a complete checkpoint.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from itertools import chain
from typing import Any, TypeAlias
from uuid import uuid4

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from truckee.log.checkpoint.schema import (
    DOMAIN_METADATA,
    METADATA,
    PROTOCOL,
    SET_TRANSACTION,
    TOMBSTONES,
    wire_name,
)
from truckee.log.checkpoint.structs import (
    parsed_partition_values,
    parsed_stats,
    stats_type,
)
from truckee.log.files.segment import last_checkpoint_version
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import (
    Action,
    CheckpointMetadata,
    DomainMetadata,
    Metadata,
    Protocol,
    SetTransaction,
    Sidecar,
    encode_actions,
)
from truckee.protocol.paths import (
    LAST_CHECKPOINT_PATH,
    checkpoint_path,
    checkpoint_v2_path,
    sidecar_name,
    sidecar_path,
)
from truckee.storage.base import Storage

SIDECAR_ACTIONS = 50_000

_Column: TypeAlias = tuple[str, pa.Array]
"""Rows of one kind of action: its name on the wire, and its structs."""

_STATE_KINDS: dict[type[Action], tuple[str, pa.DataType]] = {
    Protocol: ("protocol", PROTOCOL),
    Metadata: ("metaData", METADATA),
    SetTransaction: ("txn", SET_TRANSACTION),
    DomainMetadata: ("domainMetadata", DOMAIN_METADATA),
}


class V2Hint(msgspec.Struct, kw_only=True, rename="camel"):
    """The top-level file of a V2 checkpoint, as `_last_checkpoint` names it."""

    path: str
    size_in_bytes: int
    modification_time: int


class LastCheckpoint(msgspec.Struct, kw_only=True, rename="camel", omit_defaults=True):
    """The content of `_last_checkpoint`; `size` is the number of actions."""

    version: int
    size: int
    size_in_bytes: int
    num_of_add_files: int
    v2_checkpoint: V2Hint | None = None


def write_checkpoint(snapshot: Snapshot) -> None:
    """Write the checkpoint of a snapshot's version, of the kind that the table requires."""
    wants_v2 = snapshot.properties.checkpoint_policy == "v2"
    if wants_v2 and "v2Checkpoint" in snapshot.configuration.features:
        hint = write_v2_checkpoint(snapshot)
    else:
        hint = write_classic_checkpoint(snapshot)
    _write_hint(snapshot.storage, hint)


def write_classic_checkpoint(snapshot: Snapshot) -> LastCheckpoint:
    """Write a checkpoint of one Parquet file, and return its entry for `_last_checkpoint`.

    An existing one is kept: it has the same content, and somebody may be reading it.
    """
    state = _state_actions(snapshot)
    files = _FileActions(snapshot)
    types = dict(_STATE_KINDS.values())
    data = _parquet({**types, **files.types}, chain(_state_columns(state), files.columns()))
    with suppress(FileExistsError):
        snapshot.storage.put_if_absent(checkpoint_path(snapshot.version), data)
    return LastCheckpoint(
        version=snapshot.version,
        size=len(state) + files.count,
        size_in_bytes=len(data),
        num_of_add_files=snapshot.num_files,
    )


def write_v2_checkpoint(
    snapshot: Snapshot, *, sidecar_actions: int = SIDECAR_ACTIONS
) -> LastCheckpoint:
    """Write sidecars and then the file that names them; return the `_last_checkpoint` entry."""
    storage, version = snapshot.storage, snapshot.version
    files = _FileActions(snapshot)
    parts = files.pieces(sidecar_actions)
    sidecars = [
        _write_sidecar(
            storage,
            sidecar_name(version, part, parts, str(uuid4())),
            _parquet(files.types, [column]),
        )
        for part, column in enumerate(files.columns(sidecar_actions), 1)
    ]
    state = _state_actions(snapshot)
    top: list[Action] = [CheckpointMetadata(version=version), *state, *sidecars]
    data = encode_actions(top)
    path = checkpoint_v2_path(version, str(uuid4()), "json")
    storage.put_if_absent(path, data)
    return LastCheckpoint(
        version=version,
        size=files.count + len(top),
        size_in_bytes=len(data) + sum(sidecar.size_in_bytes for sidecar in sidecars),
        num_of_add_files=snapshot.num_files,
        v2_checkpoint=V2Hint(
            path=path.rpartition("/")[2], size_in_bytes=len(data), modification_time=_now_ms()
        ),
    )


def _write_sidecar(storage: Storage, name: str, data: bytes) -> Sidecar:
    storage.put_if_absent(sidecar_path(name), data)
    return Sidecar(path=name, size_in_bytes=len(data), modification_time=_now_ms())


def _write_hint(storage: Storage, hint: LastCheckpoint) -> None:
    newest = last_checkpoint_version(storage)
    if newest is None or newest <= hint.version:
        storage.write(LAST_CHECKPOINT_PATH, msgspec.json.encode(hint))


def _state_actions(snapshot: Snapshot) -> list[Action]:
    return [
        snapshot.protocol,
        snapshot.metadata,
        *snapshot.set_transactions.values(),
        *snapshot.domain_metadata.values(),
    ]


def _state_columns(actions: Iterable[Action]) -> Iterator[_Column]:
    """Yield the actions that are not about files, a column for each kind."""
    found = list(actions)
    for kind, (name, data_type) in _STATE_KINDS.items():
        rows = [_row(action) for action in found if isinstance(action, kind)]
        if rows:
            yield name, pa.array(rows, data_type)


def _row(action: Action) -> Any:
    """Return an action as Arrow expects it: maps as pairs, lists as they are."""
    row = msgspec.to_builtins(action)
    if isinstance(action, Metadata):
        row["configuration"] = list(row["configuration"].items())
        row["format"]["options"] = list(row["format"]["options"].items())
    return row


class _FileActions:
    """The live files and the tombstones of a snapshot, in the form of a checkpoint."""

    def __init__(self, snapshot: Snapshot) -> None:
        properties = snapshot.properties
        self._as_json = properties.checkpoint_write_stats_as_json
        self._as_struct = properties.checkpoint_write_stats_as_struct
        self._stats_type = stats_type(snapshot.configuration)
        self._partitions = snapshot.configuration.partition_fields
        self._files = snapshot.files_table()
        self._tombstones = _unexpired_tombstones(snapshot)
        self.types: dict[str, pa.DataType] = {
            "add": self._adds(_no_rows(self._files)).type,
            "remove": _removes(_no_rows(self._tombstones)).type,
        }

    @property
    def count(self) -> int:
        """The number of actions."""
        return int(self._files.num_rows + self._tombstones.num_rows)

    def pieces(self, length: int) -> int:
        """Return how many pieces `columns` yields."""
        return sum(-(-rows.num_rows // length) for rows in (self._files, self._tombstones))

    def columns(self, length: int = SIDECAR_ACTIONS) -> Iterator[_Column]:
        """Yield the files, then the tombstones, in pieces of at most `length`."""
        for batch in _pieces(self._files, length):
            yield "add", self._adds(batch)
        for batch in _pieces(self._tombstones, length):
            yield "remove", _removes(batch)

    def _adds(self, batch: pa.RecordBatch) -> pa.StructArray:
        columns = _with_data_change(_wire_columns(batch), after="modificationTime")
        stats = columns.pop("stats")
        if self._as_json:
            columns["stats"] = stats
        if self._as_struct and self._partitions:
            columns["partitionValues_parsed"] = parsed_partition_values(
                columns["partitionValues"], self._partitions
            )
        if self._as_struct:
            columns["stats_parsed"] = parsed_stats(stats, self._stats_type)
        return _structs(columns)


def _removes(batch: pa.RecordBatch) -> pa.StructArray:
    return _structs(_with_data_change(_wire_columns(batch), after="deletionTimestamp"))


def _no_rows(table: pa.Table) -> pa.RecordBatch:
    return pa.RecordBatch.from_pylist([], table.schema)


def _pieces(rows: pa.Table, length: int) -> Iterator[pa.RecordBatch]:
    for start in range(0, rows.num_rows, length):
        yield from rows.slice(start, length).combine_chunks().to_batches()


def _unexpired_tombstones(snapshot: Snapshot) -> pa.Table:
    oldest = _now_ms() - snapshot.properties.deleted_file_retention_ms
    rows = pa.Table.from_batches(snapshot.tombstone_batches(), TOMBSTONES)
    deleted = pc.fill_null(rows.column("deletion_timestamp"), 0)
    return rows.filter(pc.greater(deleted, oldest))


def _wire_columns(batch: pa.RecordBatch) -> dict[str, pa.Array]:
    """Return the columns of rows by the names they have on the wire, also inside vectors."""
    return {
        wire_name(name): _wire_struct(column) if pa.types.is_struct(column.type) else column
        for name, column in zip(batch.schema.names, batch.columns, strict=True)
    }


def _wire_struct(column: pa.StructArray) -> pa.StructArray:
    names = [wire_name(field.name) for field in column.type]
    return pa.StructArray.from_arrays(column.flatten(), names, mask=column.is_null())


def _with_data_change(columns: dict[str, pa.Array], *, after: str) -> dict[str, pa.Array]:
    """Return the columns with `dataChange`, always false, at its usual place."""
    placed: dict[str, pa.Array] = {}
    for name, column in columns.items():
        placed[name] = column
        if name == after:
            placed["dataChange"] = pa.repeat(pa.scalar(False), len(column))
    return placed


def _structs(columns: dict[str, pa.Array]) -> pa.StructArray:
    return pa.StructArray.from_arrays(list(columns.values()), list(columns))


def _parquet(types: Mapping[str, pa.DataType], columns: Iterable[_Column]) -> bytes:
    """Return a Parquet file; in each row one column is set, and all others are null.

    Each of `columns` becomes a row group, and is computed after the one before it is encoded.
    """
    schema = pa.schema(types)
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, schema) as writer:
        for name, column in columns:
            arrays = [
                column if field.name == name else pa.nulls(len(column), field.type)
                for field in schema
            ]
            writer.write_batch(pa.RecordBatch.from_arrays(arrays, schema=schema))
    data: bytes = sink.getvalue().to_pybytes()
    return data


def _now_ms() -> int:
    return time.time_ns() // 1_000_000
