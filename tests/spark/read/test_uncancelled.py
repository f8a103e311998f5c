"""Few rows are compared by one task, with an operator of our own instead of Spark's aggregation."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from plans import plan_text
from truckee.spark.read.row_pairing import uncancelled_rows

pytestmark = pytest.mark.spark

SPILL = "spark.shuffle.spill.numElementsForceSpillThreshold"


@pytest.fixture(params=["in memory", "spilled"])
def memory(request: pytest.FixtureRequest, spark: SparkSession) -> Iterator[None]:
    """Spark's sorter with all rows in memory, or with a file for every ten of its records.

    A record is a row that is sorted, or many rows of together up to 64 KiB that are only kept.
    """
    if request.param == "in memory":
        yield
        return
    conf = spark.sparkContext._jsc.sc().conf()
    conf.set(SPILL, "10")
    try:
        yield
    finally:
        conf.remove(SPILL)


def compared(frame: DataFrame, *columns: str, within: tuple[str, ...] = ()) -> DataFrame:
    found = uncancelled_rows(frame.coalesce(1), columns, within=within)
    assert "TruckeeUncancelled" in plan_text(found)
    return found


def test_it_is_the_difference_of_multisets(spark: SparkSession, memory: None) -> None:
    chosen = Random(3)
    texts = [*["", "a", "ä" * 9] * 20, "b" * 70_000]
    rows = [
        (chosen.choice([None, 1, 2, chosen.randrange(10**6)]), chosen.choice(texts))
        for _ in range(1500)
    ]
    kinds = ["delete", "insert", "update_preimage", "update_postimage", "", None]
    changes = [(*row, chosen.choice(kinds)) for row in rows]
    expected: Counter[Any] = Counter()
    for number, text, kind in changes:
        expected[number, text] += 1 if kind in ("insert", "update_postimage") else -1

    frame = spark.createDataFrame(changes, "i long, s string, _change_type string")
    found = Counter(map(tuple, compared(frame, "i", "s").collect()))

    assert found == {
        (*row, "insert" if count > 0 else "delete"): abs(count)
        for row, count in expected.items()
        if count
    }
    assert any(count > 1 for count in found.values())


def test_every_type_is_compared_as_spark_groups_it(spark: SparkSession) -> None:
    row = """
        CAST(NULL AS int) AS a, double('NaN') AS b, {zero} AS c, date'2024-01-01' AS d,
        timestamp'2024-01-01 00:00:00' AS e, CAST(1.50 AS decimal(10, 2)) AS f,
        CAST(-12345678901234567890.5 AS decimal(30, 1)) AS g, X'00FF' AS h, array(0D, {zero}) AS i,
        named_struct('x', float({zero}), 'y', CAST(NULL AS string)) AS j, true AS k,
        tinyint(-1) AS l, '' AS m
    """
    one, same = row.format(zero="-0D"), row.format(zero="0D")
    other = same.replace("tinyint(-1)", "tinyint(1)")
    frame = spark.sql(
        f"SELECT {one}, 'delete' AS _change_type UNION ALL SELECT {same}, 'insert'"
        f" UNION ALL SELECT {other}, 'insert'"
    )

    found = compared(frame, *frame.columns[:-1]).select("l", "_change_type").collect()

    assert [tuple(row) for row in found] == [(1, "insert")]


def test_more_rows_than_hashes_are_kept(spark: SparkSession) -> None:
    frame = spark.range(0, 2_000_000, 1, 2).selectExpr(
        "id DIV 2 * 2 + IF(id % 10 = 3, 1, 0) AS id",
        "IF(id % 2 = 0, 'update_preimage', 'update_postimage') AS _change_type",
    )

    found = compared(frame, "id").groupBy("_change_type").count().collect()

    assert {tuple(row) for row in found} == {("delete", 200_000), ("insert", 200_000)}


@pytest.mark.slow
def test_many_different_rows_are_all_left(spark: SparkSession) -> None:
    frame = spark.range(0, 2_000_000, 1, 2).selectExpr(
        "id AS id", "IF(id % 2 = 0, 'delete', 'insert') AS _change_type"
    )

    found = compared(frame, "id").selectExpr("count(*)", "count(DISTINCT id)").collect()

    assert [tuple(row) for row in found] == [(2_000_000, 2_000_000)]


def test_some_columns_and_rows_of_the_result_can_be_chosen(spark: SparkSession) -> None:
    rows = [(1, "a", "delete"), (1, "b", "insert"), (2, "c", "delete"), (2, "c", "insert")]
    frame = spark.createDataFrame(rows, "id int, name string, _change_type string")

    found = compared(frame, "id", "name")

    assert [tuple(row) for row in found.select("name").where("id = 1").collect()] == [
        ("a",),
        ("b",),
    ]
    assert [tuple(row) for row in found.where("_change_type = 'insert'").collect()] == [
        (1, "b", "insert")
    ]
    assert found.count() == 2
    assert found.where("name = 'c'").count() == 0


def test_rows_are_compared_within_a_version(spark: SparkSession) -> None:
    rows = [("r", 1, "insert"), ("r", 2, "delete"), ("q", 2, "insert"), ("q", 2, "delete")]
    frame = spark.createDataFrame(rows, "name string, v int, _change_type string")

    found = compared(frame, "name", within=("v",)).collect()

    assert sorted(map(tuple, found)) == [("r", "delete", 2), ("r", "insert", 1)]
