"""Tables on disk that no engine wrote: data files by pyarrow, and a log that is given by hand.

    table = DataTable(tmp_path / "t", "id long", "part string", partition_by=("part",))
    file = table.file("a.parquet", {"id": [1, 2]}, partition={"part": "x"})
    table.commit(file)
    table.commit(*marked(file, vector(1)))

Nothing is checked, so a test can commit what a writer would refuse.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from msgspec.structs import replace

from truckee.deletion_vectors.bitmap import RowBitmap, encode
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    Metadata,
    Protocol,
    RemoveFile,
    encode_actions,
)
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import commit_path, encode_path
from truckee.protocol.schema import StructField, StructType, parse_schema
from truckee.storage.local import LocalStorage
from values import inline_in_log, simple_schema

PROTOCOL = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("columnMapping", "deletionVectors", "timestampNtz"),
    writer_features=("changeDataFeed", "columnMapping", "deletionVectors", "timestampNtz"),
)
FEED_ON = {"delta.enableChangeDataFeed": "true"}
_BOUNDED = (pa.types.is_integer, pa.types.is_string, pa.types.is_date)


class DataTable:
    """A table whose files and commits are made one by one; version 0 sets its schema."""

    def __init__(
        self,
        path: Path,
        *columns: str | StructField,
        partition_by: Sequence[str] = (),
        properties: Mapping[str, str] = FEED_ON,
    ) -> None:
        self.path = path
        self.storage = LocalStorage(str(path))
        self.version = -1
        self.metadata = metadata(*columns, partition_by=partition_by, properties=properties)
        self.commit(PROTOCOL, self.metadata)

    def __str__(self) -> str:
        return str(self.path)

    @property
    def schema(self) -> StructType:
        return parse_schema(self.metadata.schema_string)

    def file(
        self,
        name: str,
        rows: Mapping[str, Sequence[Any]] | pa.Table,
        *,
        partition: Mapping[str, str | None] | None = None,
        rows_per_group: int | None = None,
        stats: bool = True,
    ) -> AddFile:
        """Write a data file, at a path below the root or an absolute one, and return its action."""
        data = rows if isinstance(rows, pa.Table) else pa.table(dict(rows))
        path = self.path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        pq.write_table(data, path, row_group_size=rows_per_group)
        return AddFile(
            path=encode_path(name),
            partition_values=dict(partition or {}),
            size=path.stat().st_size,
            modification_time=1_700_000_000_000,
            data_change=True,
            stats=statistics(data) if stats else None,
        )

    def change_file(
        self,
        name: str,
        rows: Mapping[str, Sequence[Any]] | pa.Table,
        *,
        partition: Mapping[str, str | None] | None = None,
    ) -> AddCDCFile:
        """Write a change file, which has a column `_change_type`."""
        file = self.file(name, rows, partition=partition)
        return AddCDCFile(path=file.path, partition_values=file.partition_values, size=file.size)

    def commit(self, *actions: Action, at_ms: int | None = None) -> int:
        """Commit actions as they are, and return their version."""
        self.version += 1
        for action in actions:
            if isinstance(action, Metadata):
                self.metadata = action
        self.storage.put_if_absent(commit_path(self.version), encode_actions(actions) or b"\n")
        if at_ms is not None:
            self.touch(self.version, at_ms)
        return self.version

    def touch(self, version: int, at_ms: int) -> None:
        """Give a commit another time."""
        os.utime(self.path / commit_path(version), ns=(0, at_ms * 1_000_000))


def metadata(
    *columns: str | StructField,
    partition_by: Sequence[str] = (),
    properties: Mapping[str, str] = FEED_ON,
) -> Metadata:
    return Metadata(
        id="11111111-2222-3333-4444-555555555555",
        schema_string=simple_schema(*(columns or ("id long",))).to_json(),
        partition_columns=list(partition_by),
        configuration=dict(properties),
        created_time=1_700_000_000_000,
    )


def mapped(name: str, type_name: str, column_id: int, physical: str | None = None) -> StructField:
    """A column of a table with column mapping."""
    (field,) = simple_schema(f"{name} {type_name}").fields
    numbers = {
        "delta.columnMapping.id": column_id,
        "delta.columnMapping.physicalName": physical or f"col-{column_id}",
    }
    return replace(field, metadata=numbers)


def vector(*rows: int) -> DeletionVectorDescriptor:
    """An inline vector that marks these rows."""
    return inline_in_log(encode(RowBitmap(rows)), cardinality=len(set(rows)))


def removed(add: AddFile, *, data_change: bool = True) -> RemoveFile:
    """The action that takes a live file out of the table."""
    return RemoveFile(
        path=add.path,
        deletion_timestamp=1_700_000_000_000,
        data_change=data_change,
        extended_file_metadata=True,
        partition_values=add.partition_values,
        size=add.size,
        stats=add.stats,
        deletion_vector=add.deletion_vector,
    )


def with_vector(add: AddFile, marks: DeletionVectorDescriptor | None) -> AddFile:
    """The same file with other rows marked as deleted."""
    stats = add.stats
    if stats is not None and marks is not None:
        wide = {**msgspec.json.decode(stats), "tightBounds": False}
        stats = msgspec.json.encode(wide).decode()
    return replace(add, deletion_vector=marks, stats=stats)


def marked(add: AddFile, marks: DeletionVectorDescriptor | None) -> tuple[RemoveFile, AddFile]:
    """The two actions that give a live file another vector."""
    return removed(add), with_vector(add, marks)


def statistics(data: pa.Table) -> str:
    """Statistics of numbers, texts and dates at the top level."""
    names = [f.name for f in data.schema if any(known(f.type) for known in _BOUNDED)]
    bounds = {name: pc.min_max(data[name]).as_py() for name in names if data.num_rows}
    known = {name: bound for name, bound in bounds.items() if bound["min"] is not None}
    found = {
        "numRecords": data.num_rows,
        "minValues": {name: bound["min"] for name, bound in known.items()},
        "maxValues": {name: bound["max"] for name, bound in known.items()},
        "nullCount": {name: data[name].null_count for name in names},
    }
    return msgspec.json.encode(found).decode()
