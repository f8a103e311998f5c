"""A table of many files taken back to a version with other files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.care import reset, restore_delta_spark, restore_deltalake, restore_truckee

__all__ = ["reset"]

TITLE = "restore over 10,000 files: 5,000 come back, 5,000 go"
SPARK = True
DATA_VERSION = 2
WARMUP = 1
REPETITIONS = 4
FILES = {"small": 1_000, "full": 10_000}
ENGINES = {
    "truckee": restore_truckee,
    "delta-spark": restore_delta_spark,
    "deltalake": restore_deltalake,
}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.linked_files import write_versions

    files = FILES[scale]
    half = files // 2
    write_versions(workdir / "table", first=range(files), second=range(half, files + half))
    return {"table": str(workdir / "table")}
