"""DELETE, UPDATE and MERGE on a table of five hundred columns: what columns cost."""

from __future__ import annotations

from benchmarks.dml import reset
from benchmarks.wide import ENGINES, IMPORTS, NOTES, ROWS_CHANGED, prepare, variants

__all__ = ["ENGINES", "IMPORTS", "NOTES", "prepare", "reset"]

TITLE = "2 thousand rows of 500 columns"
SPARK = True
WARMUP = 5
REPETITIONS = 5
VARIANTS = variants(ROWS_CHANGED)
