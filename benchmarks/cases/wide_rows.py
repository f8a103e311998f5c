"""Rows of five hundred columns, read and appended: what columns cost, whatever is in them."""

from __future__ import annotations

from benchmarks import wide
from benchmarks.dml import reset
from benchmarks.wide import IMPORTS, ROWS_READ, prepare, run_spark_parquet, variants

__all__ = ["IMPORTS", "prepare", "reset"]

TITLE = "2 thousand rows of 500 columns"
SPARK = True
WARMUP = 5
REPETITIONS = 5
VARIANTS = variants(ROWS_READ)
ENGINES = {**wide.ENGINES, "spark-parquet": run_spark_parquet}
