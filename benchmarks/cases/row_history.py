"""The history of one row among ten million, over a thousand commits that update rows by vector."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TITLE = "one row's history in 1,000 commits and 10 M rows"
SPARK = True
WARMUP = 2
REPETITIONS = 5
VARIANTS = {"without Spark": {"how": "arrow"}, "with Spark": {"how": "spark"}}
ROWS = {"small": 1_000_000, "full": 10_000_000}
COMMITS = {"small": 100, "full": 1_000}
FILES = 10
ROW = 7


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    rows = ROWS[scale] // FILES
    adds = [writer.data_file(f"part-{i:02}.parquet", i * rows, rows) for i in range(FILES)]
    writer.commit([{"add": add} for add in adds])
    marked: list[set[int]] = [set() for _ in adds]
    for commit in range(1, COMMITS[scale]):
        # Every commit updates some rows of one file; that of the row in question is the first.
        at = commit % FILES
        wanted = {ROW} if at == 0 and commit < 2 * FILES else set()
        ids = sorted(
            {*wanted, *(rows // 2 + commit * 10 + step for step in range(10))} - marked[at]
        )
        marked[at] |= set(ids)
        new = writer.file_of(f"new-{commit:04}.parquet", [at * rows + row for row in ids], step=1)
        [adds[at]] = writer.mark([adds[at]], iter([sorted(marked[at])]), [{"add": new}], "UPDATE")
    return {"table": str(workdir / "table")}


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    import truckee
    from truckee import DeltaTable

    condition = f"id = {ROW}"
    if params["how"] == "arrow":
        return int(truckee.open(params["table"]).row_history(condition).to_arrow().num_rows)
    table = DeltaTable.forPath(context.spark, params["table"])
    return len(table.row_history(condition).collect())


ENGINES = {"truckee": run_truckee}
