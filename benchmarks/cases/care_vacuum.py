"""A table of many files, half of which no version needs any more: those are deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.care import reset, vacuum_delta_spark, vacuum_deltalake, vacuum_truckee

__all__ = ["reset"]

TITLE = "vacuum of 100,000 files, half of them dead"
SPARK = True
DATA_VERSION = 3
WARMUP = 1
REPETITIONS = 3
FILES = {"small": 2_000, "full": 100_000}
NOTES = {"deltalake": "takes the dead files from the log, and lists nothing"}
ENGINES = {
    "truckee": vacuum_truckee,
    "delta-spark": vacuum_delta_spark,
    "deltalake": vacuum_deltalake,
}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.linked_files import write_versions

    files = FILES[scale]
    write_versions(workdir / "table", first=range(files), second=range(files // 2))
    return {"table": str(workdir / "table")}
