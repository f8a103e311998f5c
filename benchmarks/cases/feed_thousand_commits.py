"""The feed of a thousand commits of a thousand rows each."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reading import feed_engines

TITLE = "changes of 1,000 commits of 1,000 rows"
SPARK = True
WARMUP = 20
REPETITIONS = 5
ENGINES = feed_engines(start=0, is_limited_by_parquet=True)
COMMITS = {"small": 100, "full": 1_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    for number in range(COMMITS[scale]):
        add = writer.data_file(f"part-{number:04}.parquet", number * 1000, 1000)
        writer.commit([{"add": add}])
    return {"table": str(writer.table)}
