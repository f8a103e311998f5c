"""Checkpoints of every kind as columns: classic, multi-part, and V2 with or without sidecars.

The few rows that are not about files are read when a table is opened. Files are read when they are
needed, batch by batch, and only the columns that a snapshot keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc

from truckee.errors.log import CorruptLogFileError
from truckee.log.checkpoint.action_file import ActionFile, open_action_file
from truckee.log.checkpoint.schema import FILES, TOMBSTONES, file_rows, tombstone_rows, wire_name
from truckee.log.checkpoint.texts import partition_value_maps, stats_json
from truckee.log.checkpoint.types import check_required, check_types
from truckee.log.files.commits import decode_commit
from truckee.log.files.log_files import read_log_file
from truckee.log.files.segment import CheckpointFiles
from truckee.protocol.actions import (
    Action,
    AddFile,
    DomainMetadata,
    Metadata,
    Protocol,
    RemoveFile,
    SetTransaction,
    Sidecar,
)
from truckee.protocol.json_text import NOT_JSON
from truckee.protocol.paths import sidecar_path
from truckee.storage.base import Storage

_KINDS: dict[str, type[Action]] = {
    "protocol": Protocol,
    "metaData": Metadata,
    "txn": SetTransaction,
    "domainMetadata": DomainMetadata,
    "sidecar": Sidecar,
}


@dataclass(frozen=True)
class Checkpoint:
    """An open checkpoint.

    `actions` are those that are not about files; for a JSON checkpoint, those about files too.
    The other file actions are in `parquet_files`. `size_in_bytes` is the size of the checkpoint.
    """

    storage: Storage
    actions: tuple[Action, ...]
    parquet_files: tuple[str, ...]
    size_in_bytes: int

    def adds(self, schema: pa.Schema = FILES) -> Iterator[pa.RecordBatch]:
        """Yield the live files with columns of the schema `FILES`, or some of them.

        The batches have the same rows for any choice of columns.
        """
        if self.inline_adds:
            yield file_rows(self.inline_adds).select(schema.names)
        for path in self.parquet_files:
            with open_action_file(self.storage, path) as parquet:
                yield from action_rows(parquet, "add", schema)

    @property
    def inline_adds(self) -> list[AddFile]:
        """The live files among `actions`."""
        return [action for action in self.actions if isinstance(action, AddFile)]

    def removes(self) -> Iterator[pa.RecordBatch]:
        """Yield the tombstones in batches of the schema `TOMBSTONES`."""
        inline = [action for action in self.actions if isinstance(action, RemoveFile)]
        if inline:
            yield tombstone_rows(inline)
        for path in self.parquet_files:
            with open_action_file(self.storage, path) as parquet:
                yield from action_rows(parquet, "remove", TOMBSTONES)


def open_checkpoint(storage: Storage, files: CheckpointFiles) -> Checkpoint:
    """Return a checkpoint with its actions, except for file actions in Parquet files."""
    actions: list[Action] = []
    parquet_files: list[str] = []
    for file in files.files:
        if file.path.endswith(".json"):
            actions += decode_commit(storage, file.path, read_log_file(storage, file.path))
        else:
            actions += _read_actions(storage, file.path)
            parquet_files.append(file.path)
    sidecars = [action for action in actions if isinstance(action, Sidecar)]
    return Checkpoint(
        storage,
        tuple(actions),
        (*parquet_files, *(sidecar_path(sidecar.path) for sidecar in sidecars)),
        sum(file.size for file in files.files) + sum(each.size_in_bytes for each in sidecars),
    )


def _read_actions(storage: Storage, path: str) -> Iterator[Action]:
    """Yield the actions that are not about files; a struct of only nulls is not an action."""
    with open_action_file(storage, path) as parquet:
        for kind, action_type in _KINDS.items():
            for batch in parquet.batches(kind, [kind]):
                for row in batch.column(kind).drop_null().to_pylist(maps_as_pydicts="lossy"):
                    if any(value is not None for value in row.values()):
                        yield _action(storage, path, kind, action_type, row)


def _action(
    storage: Storage, path: str, kind: str, action_type: type[Action], row: dict[str, Any]
) -> Action:
    try:
        return msgspec.convert(_without_nulls(row), action_type)
    except NOT_JSON as error:
        raise CorruptLogFileError(
            table=storage.root, path=path, reason=f"its {kind} action is incomplete ({error})"
        ) from error


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_nulls(value) if key == "format" else value
        for key, value in row.items()
        if value is not None
    }


def action_rows(
    parquet: ActionFile, kind: str, schema: pa.Schema, groups: list[int] | None = None
) -> Iterator[pa.RecordBatch]:
    """Yield actions of a kind as rows of a schema, from some row groups or from all of them."""
    wanted = _wanted_columns(parquet, kind, schema)
    for batch in parquet.batches(kind, [f"{kind}.{child}" for child in wanted], groups):
        rows = batch.column(kind)
        present = rows.drop_null() if rows.null_count else rows
        if len(present):
            conformed = _conformed(present, schema)
            check_required(conformed, kind)
            yield conformed


def _wanted_columns(parquet: ActionFile, kind: str, schema: pa.Schema) -> list[str]:
    """Return the children of `kind` to read: those of `schema`, or typed ones that replace them.

    At least one is read, because it shows which rows have an action of that kind.
    """
    children = parquet.children(kind)
    check_types(children, kind, schema)
    names = [wire_name(name) for name in schema.names]
    wanted = [
        name
        for name in names
        if name in children
        and (name == "partitionValues" or not parquet.is_null_throughout(f"{kind}.{name}"))
    ]
    if "stats" in names and "stats_parsed" in children and not parquet.has_all_stats:
        wanted.append("stats_parsed")
    if "partitionValues" in names and "partitionValues" not in children:
        wanted += {"partitionValues_parsed"} & children.keys()
    return wanted or ["path"]


def _conformed(rows: pa.StructArray, schema: pa.Schema) -> pa.RecordBatch:
    """Return the children of a struct as the columns of `schema`, null where one is missing."""
    children = dict(zip((f.name for f in rows.type), rows.flatten(), strict=True))
    if "stats_parsed" in children:
        json = stats_json(children["stats_parsed"])
        children["stats"] = pc.coalesce(children["stats"], json) if "stats" in children else json
    if "partitionValues_parsed" in children:
        children["partitionValues"] = partition_value_maps(children["partitionValues_parsed"])
    columns = [_cast(children.get(wire_name(f.name)), f.type, len(rows)) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: pa.Array | None, data_type: pa.DataType, length: int) -> pa.Array:
    if column is None:
        return pa.nulls(length, data_type)
    if column.type == data_type or not pa.types.is_struct(data_type):
        return column.cast(data_type)
    children = dict(zip((f.name for f in column.type), column.flatten(), strict=True))
    values = [_cast(children.get(wire_name(f.name)), f.type, length) for f in data_type]
    return pa.StructArray.from_arrays(values, fields=list(data_type), mask=column.is_null())
