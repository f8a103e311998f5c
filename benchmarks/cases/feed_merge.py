"""MERGE with the feed on: 16 columns, 12 million rows, 3 % of the rows of every file change."""

from __future__ import annotations

from benchmarks.dml import IMPORTS, reset
from benchmarks.feed_dml import (
    NOTES,
    merge_delta_spark,
    merge_deltalake,
    merge_floor,
    merge_truckee,
    prepare,
)

__all__ = ["IMPORTS", "NOTES", "prepare", "reset"]

TITLE = "MERGE with the feed on, 12 M rows of 16 columns, 3 % of every file"
SPARK = True
WARMUP = 2
REPETITIONS = 3
ENGINES = {
    "truckee": merge_truckee,
    "spark-parquet": merge_floor,
    "delta-spark": merge_delta_spark,
    "deltalake": merge_deltalake,
}
