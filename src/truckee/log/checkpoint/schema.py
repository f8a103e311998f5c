"""The Arrow schemas of a snapshot's files and of the checkpoints they are read from.

In memory, files are columns with the names of `AddFile` and `RemoveFile`. On the wire they are the
children of one nullable struct column per action kind, named as in JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow as pa

from truckee.log.checkpoint.columns import typed_child
from truckee.protocol.actions import AddFile, RemoveFile
from truckee.protocol.deletion_vector import DeletionVectorDescriptor

STRING_MAP = pa.map_(pa.string(), pa.string())

DELETION_VECTOR = pa.struct(
    [
        pa.field("storage_type", pa.string()),
        pa.field("path_or_inline_dv", pa.string()),
        pa.field("offset", pa.int32()),
        pa.field("size_in_bytes", pa.int32()),
        pa.field("cardinality", pa.int64()),
    ]
)

FILES = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("partition_values", STRING_MAP),
        pa.field("size", pa.int64()),
        pa.field("modification_time", pa.int64()),
        pa.field("stats", pa.string()),
        pa.field("tags", STRING_MAP),
        pa.field("deletion_vector", DELETION_VECTOR),
        pa.field("base_row_id", pa.int64()),
        pa.field("default_row_commit_version", pa.int64()),
        pa.field("clustering_provider", pa.string()),
    ]
)
"""The columns of a snapshot's live files; `path` is spelled as in `add.path`."""

TOMBSTONES = pa.schema(
    [
        pa.field("path", pa.string()),
        pa.field("deletion_timestamp", pa.int64()),
        pa.field("extended_file_metadata", pa.bool_()),
        pa.field("partition_values", STRING_MAP),
        pa.field("size", pa.int64()),
        pa.field("deletion_vector", DELETION_VECTOR),
        pa.field("base_row_id", pa.int64()),
        pa.field("default_row_commit_version", pa.int64()),
    ]
)
"""The columns of a snapshot's removed files; a checkpoint keeps neither their tags nor stats."""


def file_rows(adds: Sequence[AddFile]) -> pa.RecordBatch:
    """Return added files as rows of the schema `FILES`."""
    return _rows(adds, FILES)


def tombstone_rows(removes: Sequence[RemoveFile]) -> pa.RecordBatch:
    """Return removed files as rows of the schema `TOMBSTONES`."""
    return _rows(removes, TOMBSTONES)


def _rows(actions: Sequence[AddFile | RemoveFile], schema: pa.Schema) -> pa.RecordBatch:
    columns = [typed_child([getattr(a, f.name) for a in actions], f.type) for f in schema]
    return pa.RecordBatch.from_arrays(columns, schema=schema)


def add_actions(rows: pa.RecordBatch) -> Iterator[AddFile]:
    """Yield rows of the schema `FILES` as actions, with `data_change` false."""
    for row in _records(rows):
        row["partition_values"] = row.get("partition_values") or {}
        yield AddFile(data_change=False, **row)


def remove_actions(rows: pa.RecordBatch) -> Iterator[RemoveFile]:
    """Yield rows of the schema `TOMBSTONES` as actions, with `data_change` false."""
    for row in _records(rows):
        yield RemoveFile(data_change=False, **row)


def _records(rows: pa.RecordBatch) -> Iterator[dict[str, Any]]:
    """Yield rows as keyword arguments, without columns that are null in every row."""
    names = [n for n in rows.schema.names if rows.column(n).null_count < rows.num_rows]
    columns = [rows.column(name).to_pylist(maps_as_pydicts="lossy") for name in names]
    if "deletion_vector" in names:
        vectors = columns[names.index("deletion_vector")]
        vectors[:] = [v and DeletionVectorDescriptor(**v) for v in vectors]
    for values in zip(*columns, strict=True):
        yield dict(zip(names, values, strict=True))


def wire_name(name: str) -> str:
    """Return the camelCase name that a field has in JSON and in checkpoints."""
    first, *rest = name.split("_")
    return first + "".join(part.capitalize() for part in rest)


PROTOCOL = pa.struct(
    [
        pa.field("minReaderVersion", pa.int32()),
        pa.field("minWriterVersion", pa.int32()),
        pa.field("readerFeatures", pa.list_(pa.string())),
        pa.field("writerFeatures", pa.list_(pa.string())),
    ]
)
METADATA = pa.struct(
    [
        pa.field("id", pa.string()),
        pa.field("name", pa.string()),
        pa.field("description", pa.string()),
        pa.field(
            "format",
            pa.struct([pa.field("provider", pa.string()), pa.field("options", STRING_MAP)]),
        ),
        pa.field("schemaString", pa.string()),
        pa.field("partitionColumns", pa.list_(pa.string())),
        pa.field("configuration", STRING_MAP),
        pa.field("createdTime", pa.int64()),
    ]
)
SET_TRANSACTION = pa.struct(
    [
        pa.field("appId", pa.string()),
        pa.field("version", pa.int64()),
        pa.field("lastUpdated", pa.int64()),
    ]
)
DOMAIN_METADATA = pa.struct(
    [
        pa.field("domain", pa.string()),
        pa.field("configuration", pa.string()),
        pa.field("removed", pa.bool_()),
    ]
)
