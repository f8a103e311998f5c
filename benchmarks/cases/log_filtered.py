"""Find the files that a filter wants among very many, from opening the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases.log_snapshot import LIVE_FILES

TITLE = "the files that a filter wants, of a table of 1,000,000"
FRESH = True
WARMUP = 1
REPETITIONS = 3
VARIANTS = {
    "by a column in whose order they were written": {"column": "id", "value": 12_345_678},
    "by a partition that is all over the checkpoint": {"column": "day", "value": "2024-03-05"},
}
IMPORTS = {"truckee": ("truckee.scan.snapshot_scan", "truckee.storage", "pyarrow.compute")}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.tables import write_checkpointed_log
    from truckee.log.snapshot import load_snapshot
    from truckee.log.upkeep.checkpoint_writer import write_checkpoint
    from truckee.storage import open_storage

    table = workdir / "table"
    write_checkpointed_log(table, live_files=LIVE_FILES[scale], commits=50)
    # What the generator writes has no typed statistics, which checkpoints of all writers have.
    write_checkpoint(load_snapshot(open_storage(str(table))))
    return {"table": str(table)}


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee.log.snapshot import load_snapshot
    from truckee.protocol.predicates import Comparison, column_named
    from truckee.scan.snapshot_scan import scan_files
    from truckee.storage import open_storage

    snapshot = load_snapshot(open_storage(params["table"]))
    assert snapshot.totals.files
    wanted = Comparison("=", column_named(params["column"]), params["value"])
    return len(scan_files(snapshot, wanted))


ENGINES = {"truckee": run_truckee}
