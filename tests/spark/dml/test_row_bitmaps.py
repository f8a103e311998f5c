"""Rows as bitmaps: every row once, whichever task found it, and repeats are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import StoredRows, VectorOf, loaded_rows, read_deletion_vectors
from truckee.spark.dml import row_bitmaps as module
from truckee.spark.dml.row_bitmaps import (
    found_rows,
    marked_bitmaps,
    paired_bitmaps,
    row_bitmaps,
    united_vectors,
)
from truckee.spark.read.relations import FILE, ROW
from truckee.storage.local import LocalStorage

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


def test_a_task_with_more_bytes_than_its_share_writes_vectors(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One task has two rows of file 7; two tasks have half a million rows of files 7 and 8.
    few = spark.range(0, 2, 1, 1).selectExpr(f"7 AS {FILE}", f"id AS {ROW}")
    many = spark.range(0, 500_000, 1, 2).selectExpr(
        f"cast(7 + id % 2 AS int) AS {FILE}", f"1000 + 2 * id AS {ROW}"
    )
    monkeypatch.setattr(module, "MOST_SENT", 2000)

    found = found_rows(few.union(many), str(tmp_path))

    storage = LocalStorage(str(tmp_path))
    seven, eight = found[7], found[8]
    assert isinstance(seven, StoredRows)
    assert isinstance(eight, StoredRows)
    assert (len(seven.vectors), seven.others) == (2, RowBitmap([0, 1]))
    assert (len(seven), len(eight)) == (250_002, 250_000)
    assert loaded_rows(storage, seven) == RowBitmap([0, 1, *range(1000, 1_001_000, 4)])
    assert loaded_rows(storage, eight) == RowBitmap(range(1002, 1_001_002, 4))
    names = {vector.file_path for rows in (seven, eight) for vector in rows.vectors}
    assert {path.name for path in tmp_path.iterdir()} == names


def test_tasks_unite_vectors_and_rows(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SENT", 0)
    rows = spark.range(0, 30, 1, 3).selectExpr(f"1 AS {FILE}", f"id AS {ROW}")
    found = found_rows(rows, str(tmp_path))[1]
    assert isinstance(found, StoredRows)
    vectors = [VectorOf(descriptor=each) for each in found.vectors]

    united = united_vectors(
        spark, str(tmp_path), [(vectors, RowBitmap([99])), (vectors[:1], RowBitmap())]
    )

    storage = LocalStorage(str(tmp_path))
    read = read_deletion_vectors(storage, [VectorOf(descriptor=each) for each in united])
    assert read[0] == RowBitmap([*range(30), 99])
    assert len(read[1]) == 10
