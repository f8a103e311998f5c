"""UPDATE with the feed on: 16 columns, 12 million rows, 3 % of the rows of every file change."""

from __future__ import annotations

from benchmarks.dml import IMPORTS, reset, update_delta_spark, update_deltalake, update_truckee
from benchmarks.feed_dml import NOTES, prepare, update_floor

__all__ = ["IMPORTS", "NOTES", "prepare", "reset"]

TITLE = "UPDATE with the feed on, 12 M rows of 16 columns, 3 % of every file"
SPARK = True
WARMUP = 2
REPETITIONS = 3
ENGINES = {
    "truckee": update_truckee,
    "spark-parquet": update_floor,
    "delta-spark": update_delta_spark,
    "deltalake": update_deltalake,
}
