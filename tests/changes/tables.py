"""Small tables for tests of the feed: a log written by hand, in memory or on disk."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from truckee.deletion_vectors.bitmap import RowBitmap, encode
from truckee.log.files.commits import Commit
from truckee.protocol.actions import (
    Action,
    AddCDCFile,
    AddFile,
    CommitInfo,
    Metadata,
    Protocol,
    RemoveFile,
    encode_actions,
)
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import commit_path
from truckee.protocol.schema import StructField, StructType
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage
from values import inline_in_log, simple_schema

FEED_ON = {"delta.enableChangeDataFeed": "true"}
PROTOCOL = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("columnMapping", "deletionVectors"),
    writer_features=("changeDataFeed", "columnMapping", "deletionVectors"),
)


def vector(*rows: int) -> DeletionVectorDescriptor:
    return inline_in_log(encode(RowBitmap(rows)), cardinality=len(rows))


def add(
    path: str,
    *,
    dv: DeletionVectorDescriptor | None = None,
    rows: int | None = 10,
    data_change: bool = True,
    partition: Mapping[str, str | None] | None = None,
) -> AddFile:
    return AddFile(
        path=path,
        partition_values=dict(partition or {}),
        size=100,
        modification_time=5,
        data_change=data_change,
        stats=None if rows is None else f'{{"numRecords":{rows}}}',
        deletion_vector=dv,
    )


def remove(
    path: str,
    *,
    dv: DeletionVectorDescriptor | None = None,
    extended: bool | None = True,
    data_change: bool = True,
    partition: Mapping[str, str | None] | None = None,
) -> RemoveFile:
    return RemoveFile(
        path=path,
        deletion_timestamp=5,
        data_change=data_change,
        extended_file_metadata=extended,
        partition_values=dict(partition or {}) if extended else None,
        size=100 if extended else None,
        deletion_vector=dv,
    )


def cdc(path: str, *, partition: Mapping[str, str | None] | None = None) -> AddCDCFile:
    return AddCDCFile(path=path, partition_values=dict(partition or {}), size=50)


def merge_info(**metrics: str) -> CommitInfo:
    return CommitInfo(operation="MERGE", operation_metrics=dict(metrics))


def metadata(
    *columns: str | StructField,
    partition_by: tuple[str, ...] = (),
    **configuration: str,
) -> Metadata:
    """Metadata with the feed on; `feed="false"` turns it off, `mapping` sets column mapping."""
    properties = {"delta.enableChangeDataFeed": configuration.pop("feed", "true")}
    if "mapping" in configuration:
        properties["delta.columnMapping.mode"] = configuration.pop("mapping")
    properties |= {f"delta.{name}": value for name, value in configuration.items()}
    return Metadata(
        id="t",
        schema_string=simple_schema(*(columns or ("id long",))).to_json(),
        partition_columns=list(partition_by),
        configuration=properties,
    )


def mapped(name: str, type_name: str, column_id: int, physical: str | None = None) -> StructField:
    (field,) = simple_schema(f"{name} {type_name}").fields
    return StructField(
        name,
        field.type,
        field.nullable,
        {
            "delta.columnMapping.id": column_id,
            "delta.columnMapping.physicalName": physical or f"col-{column_id}",
        },
    )


def commit(*actions: Action, version: int = 1, timestamp_ms: int = 1000) -> Commit:
    return Commit(version, timestamp_ms, actions)


class Table:
    """A table whose commits are given one by one, the first with its protocol."""

    def __init__(self, storage: Storage | None = None) -> None:
        self.storage: Storage = MemoryStorage() if storage is None else storage
        self.version = -1

    @classmethod
    def created(cls, *columns: str | StructField, **configuration: Any) -> Table:
        return cls().commit(PROTOCOL, metadata(*columns, **configuration))

    def commit(self, *actions: Action, at_ms: int | None = None) -> Table:
        self.version += 1
        path = commit_path(self.version)
        self.storage.put_if_absent(path, encode_actions(actions) or b"\n")
        if at_ms is not None:
            assert isinstance(self.storage, LocalStorage)
            os.utime(Path(self.storage.root) / path, ns=(0, at_ms * 1_000_000))
        return self

    def commits(self, *commits: tuple[Action, ...]) -> Table:
        for actions in commits:
            self.commit(*actions)
        return self


def struct(*columns: str) -> StructType:
    return simple_schema(*columns)
