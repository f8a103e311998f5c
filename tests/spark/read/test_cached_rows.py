"""Rows that Spark keeps in memory: found again, and read again after a commit."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.sql import DataFrame, SparkSession

from truckee.table import DeltaTable


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """A table with the rows 0 to 9, as `kept` in the catalog."""
    path = str(tmp_path / "t")
    append(spark, path, 0, 10)
    spark.sql(f"CREATE TABLE kept USING delta LOCATION '{path}'")
    yield path
    spark.catalog.clearCache()
    spark.sql("DROP TABLE kept")


def append(spark: SparkSession, path: str, start: int, end: int) -> None:
    spark.range(start, end, numPartitions=1).write.format("delta").mode("append").save(path)


def load(spark: SparkSession, path: str, **options: str) -> DataFrame:
    return spark.read.format("delta").options(**options).load(path)


def is_from_memory(rows: DataFrame) -> bool:
    return "InMemoryRelation" in rows._jdf.queryExecution().withCachedData().toString()


def ids(rows: DataFrame) -> list[int]:
    # A query of its own: `rows.collect()` twice is one query, which Spark plans once.
    return sorted(row.id for row in rows.select("id").collect())


def test_a_cached_table_is_read_from_memory(spark: SparkSession, path: str) -> None:
    spark.sql("CACHE TABLE kept")

    cached = spark.catalog.isCached("kept")
    by_name, by_path = spark.table("kept"), load(spark, path)
    in_memory = [is_from_memory(rows.where("id > 3")) for rows in (by_name, by_path)]
    spark.sql("UNCACHE TABLE kept")

    assert cached
    assert in_memory == [True, True]
    assert not spark.catalog.isCached("kept")
    assert not is_from_memory(spark.table("kept"))


def test_cached_rows_are_read_again_after_a_commit(spark: SparkSession, path: str) -> None:
    rows = load(spark, path).where("id < 20").cache()
    table = DeltaTable.forPath(spark, path)
    assert ids(rows) == list(range(10))

    table.delete("id < 5")
    assert ids(rows) == [5, 6, 7, 8, 9]
    append(spark, path, 10, 12)
    assert ids(rows) == [5, 6, 7, 8, 9, 10, 11]
    spark.sql("INSERT INTO kept VALUES (12)")
    assert ids(rows) == [5, 6, 7, 8, 9, 10, 11, 12]
    table.update("id = 5", {"id": "id + 8"})
    assert ids(rows) == [6, 7, 8, 9, 10, 11, 12, 13]
    table.alias("t").merge(
        spark.range(13, 15).alias("s"), "t.id = s.id"
    ).whenMatchedDelete().whenNotMatchedInsertAll().execute()

    assert ids(rows) == [6, 7, 8, 9, 10, 11, 12, 14]
    assert is_from_memory(load(spark, path).where("id < 20"))


def test_commits_of_others_are_seen_after_a_refresh(spark: SparkSession, path: str) -> None:
    spark.catalog.cacheTable("kept")
    assert spark.table("kept").count() == 10

    write_deltalake(path, pa.table({"id": pa.array([10], pa.int64())}), mode="append")
    before = spark.table("kept").count()
    spark.sql("REFRESH TABLE kept")

    assert before == 10
    assert spark.table("kept").count() == 11
    assert is_from_memory(spark.table("kept"))


def test_versions_are_not_taken_for_each_other(spark: SparkSession, path: str) -> None:
    append(spark, path, 10, 12)
    first = load(spark, path, versionAsOf="0").cache()
    assert first.count() == 10

    again, second, latest = (
        load(spark, path, versionAsOf="0"),
        load(spark, path, versionAsOf="1"),
        load(spark, path),
    )

    assert [is_from_memory(rows) for rows in (again, second, latest)] == [True, False, False]
    assert [rows.count() for rows in (again, second, latest)] == [10, 12, 12]


def test_a_table_that_was_made_anew_is_another(spark: SparkSession, path: str) -> None:
    load(spark, path).cache().count()

    shutil.rmtree(path)
    write_deltalake(path, pa.table({"id": pa.array([77], pa.int64())}))

    assert ids(load(spark, path)) == [77]


def test_rows_that_a_query_needs_twice_are_shuffled_once(spark: SparkSession, path: str) -> None:
    groups = "SELECT id % 3 AS g, sum(id) AS s FROM kept GROUP BY id % 3"
    joined = spark.sql(
        f"SELECT a.g, a.s, b.s AS t FROM ({groups}) a JOIN ({groups}) b ON a.g = b.g"
    )

    found = sorted((row.g, row.s, row.t) for row in joined.collect())

    assert found == [(0, 18, 18), (1, 12, 12), (2, 15, 15)]
    assert "ReusedExchange" in joined._jdf.queryExecution().executedPlan().toString()
