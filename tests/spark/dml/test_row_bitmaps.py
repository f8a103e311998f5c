"""Rows as bitmaps: every row once, whichever task found it, and repeats are told."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.spark.dml.row_bitmaps import marked_bitmaps, paired_bitmaps, row_bitmaps
from truckee.spark.read.relations import FILE, ROW

FAR = 5_000_000_000  # past what 32 bits hold


def test_rows_of_many_tasks_are_united_by_file(spark: SparkSession) -> None:
    rows = spark.range(0, 3000, 1, 7).selectExpr(
        f"cast(id % 3 as int) AS {FILE}", f"if(id = 2999, {FAR}, id div 3) AS {ROW}"
    )

    found = row_bitmaps(rows)

    assert list(found) == [0, 1, 2]
    assert found[0] == RowBitmap(range(1000))
    assert found[2] == RowBitmap([*range(999), FAR])


def test_marks_are_bitmaps_of_their_own_and_null_marks_nothing(spark: SparkSession) -> None:
    rows = spark.range(0, 10, 1, 3).selectExpr(f"1 AS {FILE}", f"id AS {ROW}", "id AS n")

    found = marked_bitmaps(rows, [F.col("n") < 3, F.lit(True), F.lit(None).cast("boolean")])

    assert found.rows == {1: RowBitmap(range(10))}
    assert found.by_mark == ({1: RowBitmap(range(3))}, {1: RowBitmap(range(10))}, {})
    assert not found.has_repeats


def test_a_row_that_comes_twice_is_told_within_a_task_and_across_tasks(spark: SparkSession) -> None:
    once = spark.range(0, 10, 1, 2).selectExpr(f"1 AS {FILE}", f"id AS {ROW}")
    across = spark.range(0, 2, 1, 2).selectExpr(f"1 AS {FILE}", f"7L AS {ROW}")

    repeats = [marked_bitmaps(f, ()).has_repeats for f in (once, once.union(once), across)]

    assert repeats == [False, True, True]


def test_both_sides_of_pairs_are_told_and_repeats_of_each(spark: SparkSession) -> None:
    pairs = spark.createDataFrame(
        [(4, 1, 0), (4, 2, FAR), (5, 2, FAR)], f"{FILE} int, {ROW} long, number long"
    )

    rows, numbers = paired_bitmaps(pairs, [F.col(ROW) == 1], "number")

    assert (rows.rows, rows.has_repeats) == ({4: RowBitmap([1, 2]), 5: RowBitmap([2])}, False)
    assert (numbers.rows, numbers.has_repeats) == (RowBitmap([0, FAR]), True)
    assert numbers.by_mark == (RowBitmap([0]),)


def test_no_rows_are_no_bitmaps(spark: SparkSession) -> None:
    rows = spark.range(0).selectExpr(f"1 AS {FILE}", f"id AS {ROW}")

    assert row_bitmaps(rows) == {}
