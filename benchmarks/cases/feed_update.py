"""UPDATE with the feed on: 16 columns, 12 million rows, 3 % of the rows of every file change."""

from __future__ import annotations

from benchmarks.dml import IMPORTS, reset, update_delta_spark, update_deltalake, update_truckee
from benchmarks.feed_dml import NOTES, prepare, update_floor

__all__ = ["IMPORTS", "NOTES", "prepare", "reset"]

TITLE = "UPDATE with the feed on, 12 M rows of 16 columns, 3 % of every file"
SPARK = True
# Times fall up to the fourth run: 13.7, 6.9, 5.8, 5.5, 5.8, 6.0, 5.6, 5.3 s by truckee, and
# 14.9, 5.8, 5.1, 5.1, 5.0, 5.0, 5.1, 5.1 s by Spark alone.
WARMUP = 4
REPETITIONS = 3
ENGINES = {
    "truckee": update_truckee,
    "spark-parquet": update_floor,
    "delta-spark": update_delta_spark,
    "deltalake": update_deltalake,
}
