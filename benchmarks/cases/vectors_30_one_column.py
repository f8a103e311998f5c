"""Read a table, from opening it: a sum over one column, 30 % of every file deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reading import prepare_scan, scan_engines, sum_of

TITLE = "a sum over one column, 30 % of every file deleted"
SPARK = True
WARMUP = 2
REPETITIONS = 5
ENGINES = scan_engines(sum_of, has_vectors=True)


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    return prepare_scan(scale, workdir, deleted=0.3)
