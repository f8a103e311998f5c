"""Ask the command line for a table's history, from the start of the interpreter to its end."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

TITLE = "`truckee history --json`, with the start of the interpreter"
WARMUP = 2
REPETITIONS = 7
COMMITS = {"small": 1_000, "full": 10_000}
NOTES = {"deltalake": "a Python process that prints DeltaTable.history() as JSON"}

_DELTALAKE = """
import json, sys
from deltalake import DeltaTable
print(json.dumps(DeltaTable(sys.argv[1]).history()))
"""


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.tables import write_plain_log

    table = workdir / "table"
    commits = COMMITS[scale]
    write_plain_log(table, commits=commits, checkpoint_at=commits - 10)
    return {"table": str(table)}


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    command = Path(sys.executable).with_name("truckee")
    return _entries([str(command), "history", params["table"], "--json"])


def run_deltalake(context: Any, params: dict[str, Any]) -> int:
    return _entries([sys.executable, "-c", _DELTALAKE, params["table"]])


def _entries(command: list[str]) -> int:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(f"exit code {done.returncode}: {done.stderr.strip()}")
    text = done.stdout
    try:
        return len(json.loads(text))
    except json.JSONDecodeError:
        return len(text.splitlines())  # one entry a line


ENGINES = {"truckee": run_truckee, "deltalake": run_deltalake}
