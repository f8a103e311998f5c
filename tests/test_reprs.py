"""What users hold tells what it is, and keeps the values of options to itself."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import truckee


def test_tables_readers_writers_and_builders_tell_what_they_are(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = f"{tmp_path}/t"
    df = spark.range(2)
    truckee.write(df).save(path)
    table = truckee.DeltaTable.forPath(spark, path)
    merge = table.merge(df.alias("s"), "s.id = id").whenNotMatchedInsertAll()

    assert repr(table) == f"DeltaTable.forPath(spark, '{path}')"
    assert "bigint" in table._repr_html_()
    assert repr(merge) == f"DeltaMergeBuilder('{path}', 1 clause)"
    assert repr(table.optimize()) == f"DeltaOptimizeBuilder('{path}', where=[])"
    assert repr(truckee.DeltaTable.create(spark).location("x")) == (
        "DeltaTableBuilder('x', 0 columns)"
    )
    assert repr(truckee.write(df).option("fs.s3a.secret.key", "hush")) == (
        "truckee.write(df).mode('ErrorIfExists').option('fs.s3a.secret.key', ...)"
    )
    assert repr(truckee.read(spark).option("versionAsOf", 1)) == (
        "truckee.read(spark).option('versionAsOf', ...)"
    )
