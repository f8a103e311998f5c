"""A table of very many tiny files, each of them real: links to one file for each day."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

DAYS = 100
FILES_A_DAY = {"small": 100, "full": 1_000}
ROWS_A_FILE = 10
SCHEMA = "id long, day date"
_START_MS = 1_700_000_000_000


def prepare_many_files(scale: str, workdir: Path) -> dict[str, Any]:
    """Write the table: ten commits of ten days each, then a checkpoint."""
    from truckee.log.snapshot import load_snapshot
    from truckee.log.upkeep.checkpoint_writer import write_checkpoint
    from truckee.storage import open_storage

    table = workdir / "table"
    log = table / "_delta_log"
    log.mkdir(parents=True)
    for version in range(10):
        lines: list[dict[str, Any]] = [{"commitInfo": {"operation": "WRITE", "timestamp": 0}}]
        if version == 0:
            lines += [_PROTOCOL, _METADATA]
        for number in range(10 * version, 10 * version + 10):
            lines += _day_files(table, number, FILES_A_DAY[scale])
        text = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
        (log / f"{version:020}.json").write_text(text + "\n")
    write_checkpoint(load_snapshot(open_storage(str(table))))
    return {"table": str(table), "day": _day(42), "files": DAYS * FILES_A_DAY[scale]}


def _day_files(table: Path, number: int, files: int) -> list[dict[str, Any]]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    day = _day(number)
    folder = table / f"day={day}"
    folder.mkdir()
    ids = list(range(number * ROWS_A_FILE, (number + 1) * ROWS_A_FILE))
    first = folder / "part-00000.parquet"
    pq.write_table(pa.table({"id": pa.array(ids, pa.int64())}), first)
    bounds = {"minValues": {"id": ids[0]}, "maxValues": {"id": ids[-1]}, "nullCount": {"id": 0}}
    stats = json.dumps({"numRecords": ROWS_A_FILE, **bounds}, separators=(",", ":"))
    adds = []
    for count in range(files):
        name = f"part-{count:05}.parquet"
        if count:
            os.link(first, folder / name)
        add = {
            "path": f"day={day}/{name}",
            "partitionValues": {"day": day},
            "size": first.stat().st_size,
            "modificationTime": _START_MS,
            "dataChange": True,
            "stats": stats,
        }
        adds.append({"add": add})
    return adds


def _day(number: int) -> str:
    return f"2024-{number // 28 + 1:02}-{number % 28 + 1:02}"


_PROTOCOL = {"protocol": {"minReaderVersion": 1, "minWriterVersion": 2}}
_METADATA = {
    "metaData": {
        "id": "6f0d7c52-0c39-4b76-a0b2-0f4c1f8a9d33",
        "format": {"provider": "parquet", "options": {}},
        "schemaString": json.dumps(
            {
                "type": "struct",
                "fields": [
                    {"name": name, "type": kind, "nullable": True, "metadata": {}}
                    for name, kind in (("id", "long"), ("day", "date"))
                ],
            }
        ),
        "partitionColumns": ["day"],
        "configuration": {},
        "createdTime": _START_MS,
    }
}
