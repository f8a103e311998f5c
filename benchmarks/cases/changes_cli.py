"""Ask the command line for the changes of a small table, from the start of the interpreter."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TITLE = "`truckee changes --json` of a small table, with the start of the interpreter"
WARMUP = 2
REPETITIONS = 7
ROWS = {"small": 1_000, "full": 1_000}
UPDATED = 10
NOTES = {"deltalake": "a Python process that prints load_cdf() as JSON"}

_DELTALAKE = """
import json, sys
import pyarrow as pa
from deltalake import DeltaTable
rows = pa.table(DeltaTable(sys.argv[1]).load_cdf(starting_version=0).read_all())
print(json.dumps(rows.to_pylist(), default=str))
"""


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    rows = ROWS[scale]
    kept = writer.data_file("part-00.parquet", 0, rows)
    changed = writer.change_file("_change_data/cdc-00.parquet", range(UPDATED), 1)
    writer.commit([{"add": kept}])
    writer.commit([{"cdc": changed}], "UPDATE")
    return {"table": str(workdir / "table")}


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    command = Path(sys.executable).with_name("truckee")
    return _count([str(command), "changes", params["table"], "--from", "0", "--json"])


def run_deltalake(context: Any, params: dict[str, Any]) -> int:
    return _count([sys.executable, "-c", _DELTALAKE, params["table"]])


def _count(command: list[str]) -> int:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")
    return len(json.loads(done.stdout))


ENGINES = {"truckee": run_truckee, "deltalake": run_deltalake}
