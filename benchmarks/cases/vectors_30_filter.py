"""Read a table, from opening it: a sum of rows with some text, 30 % of every file deleted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reading import filtered_sum_of, prepare_scan, scan_engines

TITLE = "a sum of rows with some text, 30 % of every file deleted"
SPARK = True
WARMUP = 2
REPETITIONS = 5
ENGINES = scan_engines(filtered_sum_of, has_vectors=True)


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    return prepare_scan(scale, workdir, deleted=0.3)
