"""UPDATE of one row and of growing shares of ten million, scattered: some rows of every file."""

from __future__ import annotations

from benchmarks.dml import IMPORTS, NOTES, UPDATE, prepare, reset, variants

__all__ = ["IMPORTS", "NOTES", "prepare", "reset"]

TITLE = "UPDATE in 10 M rows in 10 files: some rows of every file"
SPARK = True
WARMUP = 5
REPETITIONS = 4
VARIANTS = variants("h")
ENGINES = UPDATE
