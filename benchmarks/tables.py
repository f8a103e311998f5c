"""Logs of generated tables, written as text and Parquet with no engine in between.

The data files that these logs name do not exist: only the log is measured.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

_START_MS = 1_700_000_000_000
_BATCH = 50_000
_STRINGS = pa.map_(pa.string(), pa.string())
_SCHEMA_STRING = json.dumps(
    {
        "type": "struct",
        "fields": [
            {"name": name, "type": kind, "nullable": True, "metadata": {}}
            for name, kind in (
                ("id", "long"),
                ("price", "double"),
                ("name", "string"),
                ("day", "string"),
            )
        ],
    },
    separators=(",", ":"),
)
_METADATA = {
    "id": "b7f5c1d2-5e43-4a53-9a2f-3f1a7a3c9d10",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": _SCHEMA_STRING,
    "partitionColumns": ["day"],
    "configuration": {"delta.enableChangeDataFeed": "true"},
    "createdTime": _START_MS,
}
_PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 4}
_CHECKPOINT_SCHEMA = pa.schema(
    {
        "txn": pa.struct({"appId": pa.string(), "version": pa.int64(), "lastUpdated": pa.int64()}),
        "add": pa.struct(
            {
                "path": pa.string(),
                "partitionValues": _STRINGS,
                "size": pa.int64(),
                "modificationTime": pa.int64(),
                "dataChange": pa.bool_(),
                "tags": _STRINGS,
                "stats": pa.string(),
            }
        ),
        "remove": pa.struct(
            {
                "path": pa.string(),
                "deletionTimestamp": pa.int64(),
                "dataChange": pa.bool_(),
                "extendedFileMetadata": pa.bool_(),
                "partitionValues": _STRINGS,
                "size": pa.int64(),
            }
        ),
        "metaData": pa.struct(
            {
                "id": pa.string(),
                "name": pa.string(),
                "description": pa.string(),
                "format": pa.struct({"provider": pa.string(), "options": _STRINGS}),
                "schemaString": pa.string(),
                "partitionColumns": pa.list_(pa.string()),
                "configuration": _STRINGS,
                "createdTime": pa.int64(),
            }
        ),
        "protocol": pa.struct({"minReaderVersion": pa.int32(), "minWriterVersion": pa.int32()}),
    }
)


def write_checkpointed_log(table: Path, *, live_files: int, commits: int) -> None:
    """Write a table with a checkpoint and so many commits after it.

    Each of the commits adds ten files and removes five, and `live_files` are left at the end. One
    file in a hundred of the checkpoint is a tombstone.
    """
    version = 100
    in_checkpoint = live_files - 5 * commits
    log = _log_folder(table)
    _write_commit(log, version, [_commit_info(version)])
    _write_checkpoint(log, version, in_checkpoint)
    for step in range(commits):
        number = version + 1 + step
        adds = [_add(in_checkpoint + 10 * step + i) for i in range(10)]
        removes = [_remove(5 * step + i, number) for i in range(5)]
        _write_commit(log, number, [_commit_info(number), *adds, *removes])


def write_plain_log(table: Path, *, commits: int, checkpoint_at: int | None = None) -> int:
    """Write a table of so many commits, and return how many files are live at its end.

    Each commit adds a file; every tenth also removes the one that was added five versions ago.
    """
    log = _log_folder(table)
    removed = 0
    for version in range(commits):
        actions = [_commit_info(version), _add(version)]
        if version == 0:
            actions += [{"protocol": _PROTOCOL}, {"metaData": _METADATA}]
        if version % 10 == 9:
            actions.append(_remove(version - 5, version))
            removed += 1
        _write_commit(log, version, actions)
    if checkpoint_at is not None:
        gone = {v - 5 for v in range(checkpoint_at + 1) if v % 10 == 9}
        live = [n for n in range(checkpoint_at + 1) if n not in gone]
        _write_checkpoint_rows(log, checkpoint_at, live, sorted(gone))
    return commits - removed


def _log_folder(table: Path) -> Path:
    log = table / "_delta_log"
    log.mkdir(parents=True)
    return log


def _write_commit(log: Path, version: int, actions: list[dict[str, Any]]) -> None:
    lines = (json.dumps(action, separators=(",", ":")) for action in actions)
    (log / f"{version:020}.json").write_text("\n".join(lines) + "\n")


def _write_checkpoint(log: Path, version: int, files: int) -> None:
    tombstones = range(10 * files, 10 * files + files // 100)
    _write_checkpoint_rows(log, version, range(files), tombstones)


def _write_checkpoint_rows(log: Path, version: int, live: Any, tombstones: Any) -> None:
    path = log / f"{version:020}.checkpoint.parquet"
    rows = 2 + len(live) + len(tombstones)
    with pq.ParquetWriter(path, _CHECKPOINT_SCHEMA, compression="snappy") as writer:
        writer.write_table(_table([{"protocol": _PROTOCOL}, {"metaData": _METADATA}]))
        for numbers in _batches(live):
            writer.write_table(_table([_add(n) for n in numbers]))
        for numbers in _batches(tombstones):
            writer.write_table(_table([_remove(n, version) for n in numbers]))
    hint = {"version": version, "size": rows, "sizeInBytes": path.stat().st_size}
    (log / "_last_checkpoint").write_text(json.dumps(hint))


def _batches(numbers: Any) -> Iterator[Any]:
    for start in range(0, len(numbers), _BATCH):
        yield numbers[start : start + _BATCH]


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    return pa.Table.from_pylist(rows, schema=_CHECKPOINT_SCHEMA)


def _add(number: int) -> dict[str, Any]:
    low = number * 1000
    stats = {
        "numRecords": 1000,
        "minValues": {"id": low, "price": 0.25, "name": f"item-{low:012}"},
        "maxValues": {"id": low + 999, "price": 99.75, "name": f"item-{low + 999:012}"},
        "nullCount": {"id": 0, "price": number % 7, "name": 0},
    }
    return {
        "add": {
            "path": _path(number),
            "partitionValues": {"day": _day(number)},
            "size": 20_000 + number % 5_000,
            "modificationTime": _START_MS + number,
            "dataChange": True,
            "stats": json.dumps(stats, separators=(",", ":")),
        }
    }


def _remove(number: int, version: int) -> dict[str, Any]:
    return {
        "remove": {
            "path": _path(number),
            "deletionTimestamp": 4_000_000_000_000 + version,  # far ahead: never expired
            "dataChange": True,
            "extendedFileMetadata": True,
            "partitionValues": {"day": _day(number)},
            "size": 20_000 + number % 5_000,
        }
    }


def _path(number: int) -> str:
    unique = f"{number * 2654435761 % 2**64:016x}-{number:012x}"
    return f"day={_day(number)}/part-{number % 200:05}-{unique}.c000.snappy.parquet"


def _day(number: int) -> str:
    return f"2024-{number // 28 % 12 + 1:02}-{number % 28 + 1:02}"


def _commit_info(version: int) -> dict[str, Any]:
    return {
        "commitInfo": {
            "timestamp": _START_MS + version * 1000,
            "operation": "WRITE",
            "operationParameters": {"mode": "Append", "partitionBy": '["day"]'},
            "isolationLevel": "Serializable",
            "isBlindAppend": True,
            "operationMetrics": {
                "numFiles": "1",
                "numOutputRows": "1000",
                "numOutputBytes": "20000",
            },
            "engineInfo": "benchmarks",
            "txnId": f"00000000-0000-4000-8000-{version:012}",
        }
    }
