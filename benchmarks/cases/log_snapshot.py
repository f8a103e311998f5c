"""Load the latest snapshot of a table with many live files: a checkpoint and fifty commits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

TITLE = "the latest snapshot, with its files as an Arrow table"
DATA_VERSION = 1
FRESH = True
WARMUP = 1
REPETITIONS = 5
IMPORTS = {
    "truckee": ("truckee.log.snapshot", "truckee.storage"),
    "deltalake": ("deltalake",),
}
LIVE_FILES = {"small": 100_000, "full": 1_000_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.tables import write_checkpointed_log

    table = workdir / "table"
    write_checkpointed_log(table, live_files=LIVE_FILES[scale], commits=50)
    return {"table": str(table)}


def run_truckee(context: Any, params: dict[str, Any]) -> list[int]:
    from truckee.log.snapshot import load_snapshot
    from truckee.storage import open_storage

    snapshot = load_snapshot(open_storage(params["table"]))
    files = snapshot.files_table()
    assert files.num_rows == snapshot.num_files
    return [snapshot.version, files.num_rows]


def run_deltalake(context: Any, params: dict[str, Any]) -> list[int]:
    from deltalake import DeltaTable

    table = DeltaTable(params["table"])
    files = table.get_add_actions()
    return [table.version(), files.num_rows]


ENGINES = {"truckee": run_truckee, "deltalake": run_deltalake}
