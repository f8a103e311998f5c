"""Read a table, from opening it: all columns of 20 M rows, no vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reading import all_of, prepare_scan, scan_engines

TITLE = "all columns of 20 M rows, no vectors"
SPARK = True
WARMUP = 2
REPETITIONS = 5
ENGINES = scan_engines(all_of, has_vectors=False)


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    return prepare_scan(scale, workdir, deleted=0.0)
