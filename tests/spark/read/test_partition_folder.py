"""A path that goes on to a partition folder is a filter on the table, as delta-spark has it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from plans import files_read
from truckee.errors import NotADeltaTableError


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    path = tmp_path / "t"
    rows = [(1, "a:b", 7), (2, "a:b", 8), (3, None, 7)]
    frame = spark.createDataFrame(rows, "id int, text string, k long")
    truckee.write(frame).partitionBy("text", "k").save(str(path))
    return path


def ids(spark: SparkSession, path: str) -> list[int]:
    return sorted(row.id for row in truckee.read(spark).load(path).collect())


def test_a_partition_folder_gives_the_rows_of_that_partition(
    spark: SparkSession, table: Path
) -> None:
    assert ids(spark, f"{table}/text=a%3Ab") == [1, 2]
    assert ids(spark, f"{table}/text=a%3Ab/k=8/") == [2]
    assert ids(spark, f"{table}/text=__HIVE_DEFAULT_PARTITION__") == [3]
    assert ids(spark, f"{table}/k=9") == []


def test_only_files_of_the_partition_are_read(spark: SparkSession, table: Path) -> None:
    frame = truckee.read(spark).load(f"{table}/k=8")

    assert files_read(frame) == [1]


def test_a_folder_that_is_no_partition_of_the_table_is_refused(
    spark: SparkSession, table: Path
) -> None:
    with pytest.raises(NotADeltaTableError) as refused:
        truckee.read(spark).load(f"{table}/id=1")

    assert str(refused.value) == (
        f"[DELTA_TABLE_NOT_FOUND] {table}/id=1 is not a Delta table: it is no partition of the "
        f"table at {table}\nhint: give the folder that holds _delta_log"
    )


def test_a_table_in_a_folder_that_looks_like_a_partition_is_that_table(
    spark: SparkSession, table: Path
) -> None:
    truckee.write(spark.range(4).selectExpr("cast(id as int) id")).save(f"{table}/k=7")

    assert ids(spark, f"{table}/k=7") == [0, 1, 2, 3]
