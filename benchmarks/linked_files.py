"""A table of two versions and very many files, all of them links to a few."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

# ext4 allows 65,000 links to a file, and the table of each engine links to these files again.
_LINKS = 10_000
_LONG_AGO_S = 1_600_000_000
_PROTOCOL = {"minReaderVersion": 1, "minWriterVersion": 2}
_METADATA = {
    "id": "5b1f6d1e-0f5a-4b0c-9e0b-3f8f4a3a7c11",
    "format": {"provider": "parquet", "options": {}},
    "schemaString": json.dumps(
        {
            "type": "struct",
            "fields": [{"name": "id", "type": "long", "nullable": True, "metadata": {}}],
        }
    ),
    "partitionColumns": [],
    # Without it delta-spark does not go back to a version that is years old.
    "configuration": {"delta.deletedFileRetentionDuration": "interval 100000 days"},
    "createdTime": _LONG_AGO_S * 1000,
}


def write_versions(table: Path, *, first: range, second: range) -> None:
    """Write version 0 with the files `first`, version 1 with `second`; all are years old."""
    log = table / "_delta_log"
    log.mkdir(parents=True)
    _link_files(table, sorted({*first, *second}))
    size = (table / _name(first[0])).stat().st_size
    start: list[dict[str, Any]] = [{"protocol": _PROTOCOL}, {"metaData": _METADATA}]
    _commit(log, 0, start + [_add(number, size) for number in first])
    gone = [_remove(number, size) for number in sorted({*first} - {*second})]
    _commit(log, 1, gone + [_add(number, size) for number in sorted({*second} - {*first})])


def _link_files(table: Path, numbers: list[int]) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    origin = table / _name(numbers[0])
    pq.write_table(pa.table({"id": pa.array([1], pa.int64())}), origin)
    os.utime(origin, (_LONG_AGO_S, _LONG_AGO_S))
    for place, number in enumerate(numbers[1:], 1):
        if place % _LINKS == 0:
            copy = table / _name(number)
            copy.write_bytes(origin.read_bytes())
            os.utime(copy, (_LONG_AGO_S, _LONG_AGO_S))
            origin = copy
        else:
            os.link(origin, table / _name(number))


def _commit(log: Path, version: int, actions: list[dict[str, Any]]) -> None:
    info = {"commitInfo": {"timestamp": _LONG_AGO_S * 1000, "operation": "WRITE"}}
    text = "\n".join(json.dumps(action) for action in [info, *actions])
    path = log / f"{version:020}.json"
    path.write_text(text + "\n")
    os.utime(path, (_LONG_AGO_S + version, _LONG_AGO_S + version))


def _name(number: int) -> str:
    return f"part-{number:06}.parquet"


def _add(number: int, size: int) -> dict[str, Any]:
    stats = '{"numRecords":1,"minValues":{"id":1},"maxValues":{"id":1},"nullCount":{"id":0}}'
    file = {"path": _name(number), "partitionValues": {}, "size": size, "dataChange": True}
    return {"add": file | {"modificationTime": _LONG_AGO_S * 1000, "stats": stats}}


def _remove(number: int, size: int) -> dict[str, Any]:
    file = {"path": _name(number), "deletionTimestamp": _LONG_AGO_S * 1000, "dataChange": True}
    more = {"extendedFileMetadata": True, "partitionValues": {}, "size": size}
    return {"remove": file | more}
