"""Ten million rows written into a hundred partitions of a new table."""

from __future__ import annotations

from benchmarks.writing import prepare, reset, write_engines

__all__ = ["prepare", "reset"]

TITLE = "10 M rows written into 100 partitions of a new table"
SPARK = True
WARMUP = 1
REPETITIONS = 3
IMPORTS = {"truckee": ("truckee.writer",), "deltalake": ("deltalake",)}
NOTES = {
    "spark-parquet": "df.write.parquet of the same frame, without statistics in a log",
    "deltalake": "streams the rows out of a Parquet file",
}
ENGINES = write_engines("day")
