"""MERGE of a small and a large source, of which one half matches, into ten million rows."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.dml import IMPORTS, MERGE, NOTES, ROWS, reset, write_source
from benchmarks.dml import prepare as prepare_table

__all__ = ["IMPORTS", "NOTES", "reset"]

TITLE = "MERGE into 10 M rows in 10 files, half of the source matching"
SPARK = True
WARMUP = 5
REPETITIONS = 5
SHARES = {"10 thousand": 0.001, "1 million": 0.1}
VARIANTS = {name: {"size": name} for name in SHARES}
ENGINES = MERGE


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    params = prepare_table(scale, workdir)
    sources = {name: str(workdir / f"source-{i}.parquet") for i, name in enumerate(SHARES)}
    for name, path in sources.items():
        write_source(Path(path), int(ROWS[scale] * SHARES[name]), ROWS[scale])
    return params | {"sources": sources}
