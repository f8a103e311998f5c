"""Plan the feed of ten thousand commits: which files to read, with no file read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TITLE = "the plan of a feed of 10,000 commits"
FRESH = True
WARMUP = 1
REPETITIONS = 5
IMPORTS = {"truckee": ("truckee.changes.plan", "truckee.options.feed", "truckee.storage")}
COMMITS = {"small": 1_000, "full": 10_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.tables import write_plain_log

    table = workdir / "table"
    write_plain_log(table, commits=COMMITS[scale])
    return {"table": str(table), "start": 0}


def run_truckee(context: Any, params: dict[str, Any]) -> list[int]:
    from truckee.changes.plan import open_feed
    from truckee.options.feed import Bound, FeedOptions
    from truckee.storage import open_storage

    options = FeedOptions(start=Bound(version=params["start"]))
    plan = open_feed(open_storage(params["table"]), options).plan()
    return [plan.start, plan.end, len(plan.files)]


ENGINES = {"truckee": run_truckee}
