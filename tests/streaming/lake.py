"""Tables on disk, made with truckee itself."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import DataFrame, SparkSession

import truckee
from truckee import DeltaTable


def append(spark: SparkSession, path: Path, first: int, count: int = 3, **options: str) -> None:
    rows = spark.range(first, first + count).selectExpr("id", "concat('v', id) AS value")
    truckee.write(rows.coalesce(1)).mode("append").options(**options).save(str(path))


def changing_table(spark: SparkSession, path: Path, *, vectors: bool = True) -> DeltaTable:
    """A table with inserts, an update, a delete, and its feed."""
    properties = {
        "delta.enableChangeDataFeed": "true",
        "delta.enableDeletionVectors": str(vectors).lower(),
    }
    append(spark, path, 0, 10, **properties)
    table = DeltaTable.forPath(spark, str(path))
    table.update("id < 2", {"value": "'new'"})
    table.delete("id = 5")
    append(spark, path, 10, 4)
    table.delete("id IN (6, 11)")
    return table


def batch_feed(spark: SparkSession, path: Path) -> DataFrame:
    reader = truckee.read(spark).option("readChangeFeed", True).option("startingVersion", 0)
    return reader.load(str(path))
