"""Checkpoints of every kind, as columns: classic, multi-part, and V2 with or without sidecars.

The few rows that are not about files are read when a table is opened. Files are read when someone
asks for them, batch by batch, and only the columns that a snapshot keeps.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from truckee.errors.log import CorruptLogFileError, LogFileNotFoundError
from truckee.log.checkpoint_schema import FILES, TOMBSTONES, file_rows, tombstone_rows, wire_name
from truckee.log.commits import decode_commit
from truckee.log.log_files import read_log_file
from truckee.log.parsed_columns import partition_value_maps, stats_json
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

# Small enough that decoding a batch takes little memory beside the files that are kept.
_LEAST_BATCH_ROWS, _MOST_BATCH_ROWS = 4_096, 16_384

_KINDS: dict[str, type[Action]] = {
    "protocol": Protocol,
    "metaData": Metadata,
    "txn": SetTransaction,
    "domainMetadata": DomainMetadata,
    "sidecar": Sidecar,
}


@dataclass(frozen=True)
class Checkpoint:
    """One checkpoint, opened.

    `actions` are all that are not about files, and those of a JSON checkpoint about files too.
    The other files are in `parquet_files`.
    """

    storage: Storage
    actions: tuple[Action, ...]
    parquet_files: tuple[str, ...]

    def adds(self, schema: pa.Schema = FILES) -> Iterator[pa.RecordBatch]:
        """Yield the live files with columns of the schema `FILES`, or some of them.

        Whatever the columns, the batches hold the same rows.
        """
        inline = [action for action in self.actions if isinstance(action, AddFile)]
        if inline:
            yield file_rows(inline).select(schema.names)
        for path in self.parquet_files:
            yield from _read_rows(self.storage, path, "add", schema)

    def removes(self) -> Iterator[pa.RecordBatch]:
        """Yield the tombstones in batches of the schema `TOMBSTONES`."""
        inline = [action for action in self.actions if isinstance(action, RemoveFile)]
        if inline:
            yield tombstone_rows(inline)
        for path in self.parquet_files:
            yield from _read_rows(self.storage, path, "remove", TOMBSTONES)


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
    sidecars = [sidecar_path(action.path) for action in actions if isinstance(action, Sidecar)]
    return Checkpoint(storage, tuple(actions), (*parquet_files, *sidecars))


def _read_actions(storage: Storage, path: str) -> Iterator[Action]:
    """Yield the actions that are not about files; metadata without a schema is none."""
    with _parquet_file(storage, path) as parquet:
        for kind, action_type in _KINDS.items():
            for batch in _batches(parquet, kind, [kind]):
                for row in batch.column(kind).drop_null().to_pylist(maps_as_pydicts="lossy"):
                    if kind != "metaData" or row.get("schemaString") is not None:
                        yield _action(storage, path, kind, action_type, row)


def _action(
    storage: Storage, path: str, kind: str, action_type: type[Action], row: dict[str, Any]
) -> Action:
    try:
        return msgspec.convert(_without_nulls(row), action_type)
    except msgspec.ValidationError as error:
        raise CorruptLogFileError(
            table=storage.root, path=path, reason=f"its {kind} action is not whole ({error})"
        ) from error


def _without_nulls(row: dict[str, Any]) -> dict[str, Any]:
    return {
        key: _without_nulls(value) if key == "format" else value
        for key, value in row.items()
        if value is not None
    }


def _read_rows(
    storage: Storage, path: str, kind: str, schema: pa.Schema
) -> Iterator[pa.RecordBatch]:
    for rows in _read_structs(storage, path, kind, schema):
        present = rows.drop_null() if rows.null_count else rows
        if len(present):
            yield _conformed(present, schema)


def _read_structs(
    storage: Storage, path: str, kind: str, schema: pa.Schema
) -> Iterator[pa.StructArray]:
    with _parquet_file(storage, path) as parquet:
        wanted = _wanted_columns(parquet, kind, schema)
        for batch in _batches(parquet, kind, [f"{kind}.{child}" for child in wanted]):
            yield batch.column(kind)


def _wanted_columns(parquet: pq.ParquetFile, kind: str, schema: pa.Schema) -> list[str]:
    """Return the children of `kind` to read: those of `schema`, or typed ones that replace them.

    One is always read, since it tells in which rows there is an action of that kind.
    """
    if kind not in parquet.schema_arrow.names:
        return []
    children = {child.name for child in parquet.schema_arrow.field(kind).type}
    present = children - _null_throughout(parquet, kind, children - {"partitionValues"})
    names = [wire_name(name) for name in schema.names]
    wanted = [name for name in names if name in present]
    if "stats" in names and "stats_parsed" in present and not _has_all_stats(parquet):
        wanted.append("stats_parsed")
    if "partitionValues" in names and "partitionValues" not in children:
        wanted += {"partitionValues_parsed"} & present
    return wanted or ["path"]


def _null_throughout(parquet: pq.ParquetFile, kind: str, children: set[str]) -> set[str]:
    """Return the children of `kind` that the footer knows to be null in every row."""
    found = set(children)
    for group in range(parquet.num_row_groups):
        metadata = parquet.metadata.row_group(group)
        for index in range(metadata.num_columns):
            column = metadata.column(index)
            path = column.path_in_schema.split(".")
            if path[0] == kind and _nulls(column) != column.num_values:
                found.discard(path[1])
    return found


def _has_all_stats(parquet: pq.ParquetFile) -> bool:
    """Return whether every file has its statistics as JSON, going by the footer alone."""
    found = False
    for group in range(parquet.num_row_groups):
        nulls = _null_counts(parquet, group)
        if nulls.get("add.stats") != nulls.get("add.path"):
            return False
        found = "add.stats" in nulls
    return found


def _batches(parquet: pq.ParquetFile, kind: str, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield the given columns, leaving out row groups without any action of that kind."""
    if kind not in parquet.schema_arrow.names or not columns:
        return
    groups = [g for g in range(parquet.num_row_groups) if _may_hold(parquet, g, kind)]
    if groups:
        rows = min(max(parquet.metadata.num_rows // 16, _LEAST_BATCH_ROWS), _MOST_BATCH_ROWS)
        # One thread: a table is opened in a moment either way, and threads take memory each.
        yield from parquet.iter_batches(rows, row_groups=groups, columns=columns, use_threads=False)


def _may_hold(parquet: pq.ParquetFile, group: int, kind: str) -> bool:
    rows = parquet.metadata.row_group(group).num_rows
    nulls = [n for path, n in _null_counts(parquet, group).items() if path.startswith(f"{kind}.")]
    return not nulls or any(n is None or n < rows for n in nulls)


def _null_counts(parquet: pq.ParquetFile, group: int) -> dict[str, int | None]:
    """Return how often each direct child of an action is null, None where nobody counted."""
    metadata = parquet.metadata.row_group(group)
    columns = (metadata.column(index) for index in range(metadata.num_columns))
    return {c.path_in_schema: _nulls(c) for c in columns if c.path_in_schema.count(".") == 1}


def _nulls(column: pq.ColumnChunkMetaData) -> int | None:
    if not column.is_stats_set or not column.statistics.has_null_count:
        return None
    return int(column.statistics.null_count)


@contextmanager
def _parquet_file(storage: Storage, path: str) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file that is read as a stream of pages, and say it if it is broken."""
    try:
        with (
            storage.open_input(path) as source,
            pq.ParquetFile(source, pre_buffer=False, buffer_size=1 << 16) as parquet,
        ):
            yield parquet
    except FileNotFoundError as error:
        raise LogFileNotFoundError(table=storage.root, path=path) from error
    except (pa.ArrowInvalid, OSError) as error:
        raise CorruptLogFileError(
            table=storage.root, path=path, reason=f"it is not a whole Parquet file ({error})"
        ) from error


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
