"""Plan a feed of a table with very many live files: what it takes should follow the commits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases.feed_plan import IMPORTS, run_truckee

__all__ = ["IMPORTS"]

TITLE = "the plan of a feed of 1,000 commits, on a table of 1,000,000 files"
FRESH = True
WARMUP = 1
REPETITIONS = 5
LIVE_FILES = {"small": 100_000, "full": 1_000_000}
COMMITS = {"small": 100, "full": 1_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.tables import write_checkpointed_log

    table = workdir / "table"
    write_checkpointed_log(table, live_files=LIVE_FILES[scale], commits=COMMITS[scale])
    return {"table": str(table), "start": 101}


ENGINES = {"truckee": run_truckee}
