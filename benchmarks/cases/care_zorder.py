"""Twenty million rows put in Z-order by two columns, in files of which a filter then skips most."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.care import (
    path_of,
    reset,
    zorder_delta_spark,
    zorder_deltalake,
    zorder_truckee,
)

__all__ = ["reset"]

TITLE = "Z-order of 20 M rows by two columns, and a filter on the second"
SPARK = True
WARMUP = 1
REPETITIONS = 3
ROWS = {"small": 500_000, "full": 20_000_000}
FILES = 16
NOTES = {"deltalake": "sorts all rows in memory"}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchmarks.dml import write_log

    rows, table = ROWS[scale], workdir / "table"
    table.mkdir()
    dice = np.random.default_rng(7)
    adds = []
    for number in range(FILES):
        each = rows // FILES
        data = pa.table(
            {
                "a": dice.integers(0, 1 << 40, each),
                "b": dice.integers(0, 1 << 20, each),
                "x": dice.random(each),
            }
        )
        name = f"part-{number:02}.parquet"
        pq.write_table(data, table / name)
        adds.append(_add(table, name, each))
    write_log(table, adds, {"a": "long", "b": "long", "x": "double"}, marks=False)
    size = sum(add["size"] for add in adds)
    return {"table": str(table), "file_size": size // FILES}


def _add(table: Path, name: str, rows: int) -> dict[str, Any]:
    return {
        "path": name,
        "partitionValues": {},
        "size": (table / name).stat().st_size,
        "modificationTime": 0,
        "dataChange": True,
        "stats": f'{{"numRecords":{rows}}}',
    }


def files_with(path: str, value: int) -> int:
    """Return how many files of the last commit may have a value of the second column."""
    last = max((Path(path) / "_delta_log").glob("*.json"))
    actions = [json.loads(line) for line in last.read_text().splitlines()]
    stats = [json.loads(action["add"]["stats"]) for action in actions if "add" in action]
    return sum(each["minValues"]["b"] <= value <= each["maxValues"]["b"] for each in stats)


def _run(engine: Any) -> Any:
    def run(context: Any, params: dict[str, Any]) -> dict[str, Any]:
        removed = engine(context, params)
        skips = files_with(path_of(context), 1 << 19) <= FILES // 2
        return {"files removed": removed, "a filter skips half of the files": skips}

    return run


ENGINES = {
    "truckee": _run(zorder_truckee),
    "delta-spark": _run(zorder_delta_spark),
    "deltalake": _run(zorder_deltalake),
}
