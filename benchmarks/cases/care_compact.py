"""Two thousand small files written together."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.care import (
    compact_delta_spark,
    compact_deltalake,
    compact_truckee,
    reset,
)

__all__ = ["reset"]

TITLE = "compaction of 2,000 files of 1,000 rows"
SPARK = True
WARMUP = 1
REPETITIONS = 4
FILES = {"small": 100, "full": 2_000}
ENGINES = {
    "truckee": compact_truckee,
    "delta-spark": compact_delta_spark,
    "deltalake": compact_deltalake,
}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.dml import prepare_table

    columns = {"id": "long", "h": "long", "x": "long", "s": "string", "f": "double"}
    files = FILES[scale]
    return {"table": prepare_table(workdir, 1_000 * files, files, columns)["plain"]}
