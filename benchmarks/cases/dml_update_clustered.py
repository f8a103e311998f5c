"""UPDATE of one row and of growing shares of ten million, clustered: statistics know where."""

from __future__ import annotations

from benchmarks.dml import IMPORTS, NOTES, UPDATE, prepare, reset, variants

__all__ = ["IMPORTS", "NOTES", "prepare", "reset"]

TITLE = "UPDATE in 10 M rows in 10 files: a range, of which statistics know"
SPARK = True
WARMUP = 5
REPETITIONS = 4
VARIANTS = variants("id")
ENGINES = UPDATE
