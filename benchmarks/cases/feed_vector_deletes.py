"""The feed of two hundred commits, each of which deletes a thousandth of a table by vector."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from benchmarks.reading import feed_engines

TITLE = "changes of 200 commits that each delete 0.1 % of 10 M rows by vector"
SPARK = True
WARMUP = 1
REPETITIONS = 3
ENGINES = feed_engines(start=1)
ROWS = {"small": 100_000, "full": 1_000_000}
COMMITS = {"small": 20, "full": 200}
FILES = 10


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    rows = ROWS[scale]
    adds = [writer.data_file(f"part-{i:02}.parquet", i * rows, rows) for i in range(FILES)]
    writer.commit([{"add": add} for add in adds])
    chosen = random.Random(7)
    left = [list(range(rows)) for _ in adds]
    for each in left:
        chosen.shuffle(each)
    gone: list[list[int]] = [[] for _ in adds]
    for _ in range(COMMITS[scale]):
        for rows_left, rows_gone in zip(left, gone, strict=True):
            rows_gone.extend(rows_left.pop() for _ in range(rows // 1000))
        adds = writer.mark(adds, iter(gone))
    return {"table": str(writer.table)}
