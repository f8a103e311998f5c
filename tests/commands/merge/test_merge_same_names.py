"""A merge that takes every column, the join key among them, from a source of the same names."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import truckee
from truckee import DeltaTable


def test_key_that_is_updated_from_the_source_has_both_images(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    schema = "id long, s struct<x: int, y: string>"
    writer = truckee.write(spark.createDataFrame([(1, (1, "a")), (2, (2, "b"))], schema))
    writer.option("delta.enableChangeDataFeed", "true").option(
        "delta.enableDeletionVectors", "true"
    ).save(path)
    table = DeltaTable.forPath(spark, path)
    source = spark.createDataFrame([(1, (9, "z")), (3, (3, "c"))], schema)

    merge = table.alias("t").merge(source.alias("s"), "t.id = s.id")
    merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    changes = table.changes(startingVersion=1).collect()
    assert sorted((row["_change_type"], row["id"], row["s"]["y"]) for row in changes) == [
        ("insert", 3, "c"),
        ("update_postimage", 1, "z"),
        ("update_preimage", 1, "a"),
    ]
