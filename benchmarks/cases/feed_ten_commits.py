"""The feed of ten commits that insert twenty million rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reading import feed_engines

TITLE = "changes of 10 commits, 20 M rows"
SPARK = True
WARMUP = 1
REPETITIONS = 5
ENGINES = feed_engines(start=0, is_limited_by_parquet=True)
ROWS = {"small": 100_000, "full": 2_000_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    rows = ROWS[scale]
    for number in range(10):
        add = writer.data_file(f"part-{number:02}.parquet", number * rows, rows)
        writer.commit([{"add": add}])
    return {"table": str(writer.table)}
