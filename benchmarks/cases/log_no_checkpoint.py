"""Open a table whose log was never checkpointed: every commit has to be read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases.log_snapshot import IMPORTS, run_deltalake, run_truckee

__all__ = ["IMPORTS"]

TITLE = "the latest snapshot of a log without a checkpoint"
FRESH = True
WARMUP = 1
REPETITIONS = 5
COMMITS = {"small": 10_000, "full": 50_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.tables import write_plain_log

    table = workdir / "table"
    write_plain_log(table, commits=COMMITS[scale])
    return {"table": str(table)}


ENGINES = {"truckee": run_truckee, "deltalake": run_deltalake}
