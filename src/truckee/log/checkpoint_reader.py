"""Checkpoints of every kind, as columns: classic, multi-part, and V2 with or without sidecars.

The few rows that are not about files are read when a table is opened. Files are read when someone
asks for them, batch by batch, and only the columns that a snapshot keeps.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from truckee.errors.log import CorruptLogFileError, LogFileNotFoundError
from truckee.log.checkpoint_schema import FILES, TOMBSTONES, wire_name
from truckee.log.commits import decode_commit, read_log_file
from truckee.log.segment import CheckpointFiles
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
from truckee.protocol.paths import sidecar_path
from truckee.storage.base import Storage

T = TypeVar("T")

_BATCH_ROWS = 65_536
_KINDS: dict[str, type[Any]] = {
    "protocol": Protocol,
    "metaData": Metadata,
    "txn": SetTransaction,
    "domainMetadata": DomainMetadata,
    "sidecar": Sidecar,
}


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint, opened: its actions that are not about files, and where the files are."""

    storage: Storage
    actions: tuple[Action, ...]
    parquet_files: tuple[str, ...]

    def adds(self) -> Iterator[pa.RecordBatch]:
        """Yield the live files in batches of the schema `FILES`."""
        inline = [action for action in self.actions if isinstance(action, AddFile)]
        if inline:
            yield file_rows(inline)
        for path in self.parquet_files:
            yield from _read_column(self.storage, path, "add", FILES)

    def removes(self) -> Iterator[pa.RecordBatch]:
        """Yield the tombstones in batches of the schema `TOMBSTONES`."""
        inline = [action for action in self.actions if isinstance(action, RemoveFile)]
        if inline:
            yield tombstone_rows(inline)
        for path in self.parquet_files:
            yield from _read_column(self.storage, path, "remove", TOMBSTONES)


def open_checkpoint(storage: Storage, files: CheckpointFiles) -> Checkpoint:
    """Return a checkpoint with its actions read, but for those about files in Parquet."""
    actions: list[Action] = []
    parquet_files: list[str] = []
    for file in files.files:
        if file.path.endswith(".json"):
            actions += decode_commit(storage, file.path, read_log_file(storage, file.path))
        else:
            actions += _read_actions(storage, file.path)
            parquet_files.append(file.path)
    sidecars = [sidecar_path(a.path) for a in actions if isinstance(a, Sidecar)]
    return Checkpoint(storage, tuple(actions), (*parquet_files, *sidecars))


def _read_actions(storage: Storage, path: str) -> Iterator[Action]:
    with _open_parquet(storage, path) as parquet:
        columns = [name for name in parquet.schema_arrow.names if name in _KINDS]
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=columns):
            for name in columns:
                for row in batch.column(name).drop_null().to_pylist(maps_as_pydicts="lossy"):
                    yield _action(storage, path, name, row)


def _action(storage: Storage, path: str, kind: str, row: dict[str, Any]) -> Action:
    try:
        action: Action = msgspec.convert(_without_nulls(row), _KINDS[kind])
    except msgspec.ValidationError as error:
        raise CorruptLogFileError(
            table=storage.root, path=path, reason=f"its {kind} action is not whole: {error}"
        ) from error
    return action


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_nulls(value) if key == "format" else value
        for key, value in row.items()
        if value is not None
    }


def _open_parquet(storage: Storage, path: str) -> pq.ParquetFile:
    try:
        return pq.ParquetFile(storage.open_input(path))
    except FileNotFoundError as error:
        raise LogFileNotFoundError(table=storage.root, path=path) from error
    except pa.ArrowInvalid as error:
        raise CorruptLogFileError(
            table=storage.root, path=path, reason=f"not a Parquet file ({error})"
        ) from error


def _read_column(
    storage: Storage, path: str, kind: str, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    with _open_parquet(storage, path) as parquet:
        found = parquet.schema_arrow
        if kind not in found.names:
            return
        children = {child.name for child in found.field(kind).type}
        wanted = [f"{kind}.{wire_name(f.name)}" for f in schema if wire_name(f.name) in children]
        for batch in parquet.iter_batches(_BATCH_ROWS, columns=wanted):
            rows = batch.column(kind)
            if rows.null_count:
                rows = rows.drop_null()
            if len(rows):
                yield _conformed(rows, schema)


def _conformed(rows: pa.StructArray, schema: pa.Schema) -> pa.RecordBatch:
    """Return the children of a struct as the columns of `schema`, null where one is missing."""
    children = dict(zip((f.name for f in rows.type), rows.flatten(), strict=True))
    columns = [
        _cast(children[wire_name(f.name)], f.type)
        if wire_name(f.name) in children
        else pa.nulls(len(rows), f.type)
        for f in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _cast(column: pa.Array, data_type: pa.DataType) -> pa.Array:
    if column.type == data_type:
        return column
    if pa.types.is_struct(data_type):
        children = dict(zip((f.name for f in column.type), column.flatten(), strict=True))
        values = [
            _cast(children[wire_name(f.name)], f.type)
            if wire_name(f.name) in children
            else pa.nulls(len(column), f.type)
            for f in data_type
        ]
        return pa.StructArray.from_arrays(values, fields=list(data_type), mask=column.is_null())
    return column.cast(data_type)


def file_rows(adds: Sequence[AddFile]) -> pa.RecordBatch:
    """Return added files as rows of the schema `FILES`."""
    return _rows(adds, FILES)


def tombstone_rows(removes: Sequence[RemoveFile]) -> pa.RecordBatch:
    """Return removed files as rows of the schema `TOMBSTONES`."""
    return _rows(removes, TOMBSTONES)


def _rows(actions: Sequence[AddFile] | Sequence[RemoveFile], schema: pa.Schema) -> pa.RecordBatch:
    columns = [
        pa.array([_value(getattr(action, f.name)) for action in actions], f.type) for f in schema
    ]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def _value(value: Any) -> Any:
    if isinstance(value, dict):
        return list(value.items())
    if isinstance(value, msgspec.Struct):
        return msgspec.structs.asdict(value)
    return value
