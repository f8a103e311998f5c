"""Rows as bitmaps: every row once, whichever task found it, and repeats are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import (
    PartFiles,
    StoredRows,
    VectorOf,
    loaded_rows,
    read_deletion_vectors,
)
from truckee.spark.dml import row_bitmaps as module
from truckee.spark.dml.row_bitmaps import (
    FileRows,
    found_rows,
    is_in,
    is_number_in,
    marked_rows,
    rows_of_pairs,
    united_vectors,
)
from truckee.spark.read.relations import FILE, ROW
from truckee.storage.local import LocalStorage

FAR = 5_000_000_000  # past what 32 bits hold


@pytest.fixture
def parts(tmp_path: Path) -> PartFiles:
    """The table into which tasks write rows that are too many to be sent."""
    return PartFiles(LocalStorage(str(tmp_path)))


@pytest.fixture(params=["sent", "stored"])
def both_ways(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> bool:
    """Let tasks send all that they find, or store it; return whether they store it."""
    if request.param == "stored":
        monkeypatch.setattr(module, "MOST_SENT", 0)
    return bool(request.param == "stored")


def loaded(found: FileRows, parts: PartFiles) -> dict[int, RowBitmap]:
    return {file: loaded_rows(parts.storage, rows) for file, rows in found.items()}


def names_on_disk(parts: PartFiles) -> set[str]:
    return {path.name for path in Path(parts.storage.root).iterdir()}


def test_rows_of_many_tasks_are_united_by_file(
    spark: SparkSession, parts: PartFiles, both_ways: bool
) -> None:
    rows = spark.range(0, 3000, 1, 7).selectExpr(
        f"cast(id % 3 as int) AS {FILE}", f"if(id = 2999, {FAR}, id div 3) AS {ROW}"
    )

    found = marked_rows(rows, (), parts).rows

    assert list(found) == [0, 1, 2]
    assert loaded(found, parts)[0] == RowBitmap(range(1000))
    assert loaded(found, parts)[2] == RowBitmap([*range(999), FAR])
    # However many tasks found rows of a file, one vector has them.
    assert [isinstance(each, StoredRows) for each in found.values()] == [both_ways] * 3
    assert all(len(each.vectors) == 1 for each in found.values() if isinstance(each, StoredRows))
    assert names_on_disk(parts) == parts.paths
    assert bool(parts.paths) == both_ways


@pytest.mark.usefixtures("both_ways")
def test_marks_are_bitmaps_of_their_own_and_null_marks_nothing(
    spark: SparkSession, parts: PartFiles
) -> None:
    rows = spark.range(0, 10, 1, 3).selectExpr(f"1 AS {FILE}", f"id AS {ROW}", "id AS n")
    marks = [F.col("n") < 3, F.lit(True), F.lit(None).cast("boolean"), F.col("n") >= 9]

    found = marked_rows(rows, marks, parts)

    assert loaded(found.rows, parts) == {1: RowBitmap(range(10))}
    few, all_rows, none, last = (loaded(each, parts) for each in found.by_mark)
    assert few == {1: RowBitmap(range(3))}
    assert all_rows == {1: RowBitmap(range(10))}
    assert none == {}
    assert last == {1: RowBitmap([9])}
    assert not found.has_repeats


@pytest.mark.usefixtures("both_ways")
def test_a_row_that_comes_twice_is_told_within_a_task_and_across_tasks(
    spark: SparkSession, parts: PartFiles
) -> None:
    once = spark.range(0, 10, 1, 2).selectExpr(f"1 AS {FILE}", f"id AS {ROW}")
    across = spark.range(0, 2, 1, 2).selectExpr(f"1 AS {FILE}", f"7L AS {ROW}")
    within = spark.range(0, 2, 1, 1).selectExpr(f"1 AS {FILE}", f"7L AS {ROW}")

    repeats = [
        marked_rows(frame, (), parts).has_repeats
        for frame in (once, once.union(once), across, within)
    ]

    assert repeats == [False, True, True, True]


@pytest.mark.usefixtures("both_ways")
def test_a_mark_of_one_of_two_repeats_is_not_one_of_all_rows(
    spark: SparkSession, parts: PartFiles
) -> None:
    rows = spark.range(0, 4, 1, 4).selectExpr(f"1 AS {FILE}", f"id div 2 AS {ROW}", "id AS n")

    found = marked_rows(rows, [F.col("n") == 1], parts)

    assert loaded(found.by_mark[0], parts) == {1: RowBitmap([0])}
    assert found.has_repeats


@pytest.mark.usefixtures("both_ways")
def test_both_sides_of_pairs_are_told_and_repeats_of_each(
    spark: SparkSession, parts: PartFiles
) -> None:
    pairs = spark.createDataFrame(
        [(4, 1, 0), (4, 2, FAR), (5, 2, FAR)], f"{FILE} int, {ROW} long, number long"
    ).repartition(3)

    rows, numbers = rows_of_pairs(pairs, [F.col(ROW) == 1], "number", parts)

    assert loaded(rows.rows, parts) == {4: RowBitmap([1, 2]), 5: RowBitmap([2])}
    assert loaded(numbers.rows, parts) == {0: RowBitmap([0]), 1: RowBitmap([FAR - 2**32])}
    assert (rows.has_repeats, numbers.has_repeats) == (False, True)
    assert [loaded(each, parts) for each in numbers.by_mark] == [{0: RowBitmap([0])}]


def test_vectors_of_numbers_are_in_files_that_no_commit_names(
    spark: SparkSession, parts: PartFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SENT", 0)
    pairs = spark.range(0, 9, 1, 3).selectExpr(f"4 AS {FILE}", f"id AS {ROW}", "id AS number")

    rows, numbers = rows_of_pairs(pairs, (), "number", parts)

    of_rows, of_numbers = (
        {v.file_path for r in each.rows.values() if isinstance(r, StoredRows) for v in r.vectors}
        for each in (rows, numbers)
    )
    assert of_rows.isdisjoint(of_numbers)
    assert of_rows | of_numbers == parts.paths


@pytest.mark.usefixtures("both_ways")
def test_rows_and_numbers_are_found_again(spark: SparkSession, parts: PartFiles) -> None:
    pairs = spark.range(0, 100, 1, 5).selectExpr(
        f"cast(id % 3 AS int) AS {FILE}", f"id AS {ROW}", f"{FAR} * (id % 2) + id AS number"
    )
    rows, numbers = rows_of_pairs(pairs.where("id % 7 = 0"), (), "number", parts)
    root = parts.storage.root

    again = pairs.where(is_in(spark, rows.rows, "rows", root))
    by_number = pairs.where(is_number_in(spark, numbers.rows, "numbers", root, number="number"))

    expected = list(range(0, 100, 7))
    assert sorted(row[0] for row in again.select(ROW).collect()) == expected
    assert sorted(row[0] for row in by_number.select(ROW).collect()) == expected
    none = pairs.where(is_in(spark, {}, "no rows", root))
    assert none.count() == 0


def test_no_rows_are_no_bitmaps(spark: SparkSession, parts: PartFiles) -> None:
    rows = spark.range(0).selectExpr(f"1 AS {FILE}", f"id AS {ROW}")

    assert marked_rows(rows, (), parts).rows == found_rows(rows, parts) == {}


def test_what_comes_to_the_driver_does_not_grow_with_the_rows(
    spark: SparkSession, parts: PartFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    records = module._records

    def measured(data: bytes, width: int) -> object:
        sizes.append(len(data))
        return records(data, width)

    monkeypatch.setattr(module, "_records", measured)

    for count in (100_000, 3_000_000):
        pairs = spark.range(0, count, 1, 6).selectExpr(
            f"cast(id % 3 AS int) AS {FILE}", f"3 * id AS {ROW}", "5 * id AS number"
        )
        rows, numbers = rows_of_pairs(pairs, [F.col(ROW) % 2 == 0], "number", parts)
        assert sum(map(len, rows.rows.values())) == sum(map(len, numbers.rows.values())) == count
        assert sum(map(len, rows.by_mark[0].values())) == count // 2

    few, many = sizes
    assert 100_000 < few <= module.MOST_SENT
    assert many < 1000


def test_a_task_with_more_bytes_than_its_share_writes_vectors(
    spark: SparkSession, parts: PartFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One task has two rows of file 7; two tasks have half a million rows of files 7 and 8.
    few = spark.range(0, 2, 1, 1).selectExpr(f"7 AS {FILE}", f"id AS {ROW}")
    many = spark.range(0, 500_000, 1, 2).selectExpr(
        f"cast(7 + id % 2 AS int) AS {FILE}", f"1000 + 2 * id AS {ROW}"
    )
    monkeypatch.setattr(module, "MOST_SENT", 2000)

    found = found_rows(few.union(many), parts)

    seven, eight = found[7], found[8]
    assert isinstance(seven, StoredRows)
    assert isinstance(eight, StoredRows)
    assert (len(seven.vectors), seven.others) == (2, RowBitmap([0, 1]))
    assert (len(seven), len(eight)) == (250_002, 250_000)
    assert loaded_rows(parts.storage, seven) == RowBitmap([0, 1, *range(1000, 1_001_000, 4)])
    assert loaded_rows(parts.storage, eight) == RowBitmap(range(1002, 1_001_002, 4))
    names = {vector.file_path for rows in (seven, eight) for vector in rows.vectors}
    assert names_on_disk(parts) == names == parts.paths


def test_tasks_unite_vectors_and_rows(
    spark: SparkSession, parts: PartFiles, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_SENT", 0)
    rows = spark.range(0, 30, 1, 3).selectExpr(f"1 AS {FILE}", f"id AS {ROW}")
    found = found_rows(rows, parts)[1]
    assert isinstance(found, StoredRows)
    vectors = [VectorOf(descriptor=each) for each in found.vectors]

    united = united_vectors(
        spark, parts.storage.root, [(vectors, RowBitmap([99])), (vectors[:1], RowBitmap())]
    )

    read = read_deletion_vectors(parts.storage, [VectorOf(descriptor=each) for each in united])
    assert read[0] == RowBitmap([*range(30), 99])
    assert len(read[1]) == 10
