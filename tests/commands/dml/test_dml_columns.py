"""Conditions and values made of Columns, by name or taken from a DataFrame of the table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dml_tables import FEED, VECTORS, Table, create_table
from truckee import DeltaTable
from truckee.errors import AmbiguousColumnError, ForeignColumnError, UnresolvedColumnError


@pytest.fixture(params=["rewrite", "mark"])
def table(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Table:
    rows = spark.createDataFrame(
        [(number, number * 10, (number, "x")) for number in range(4)],
        "id long, v int, s struct<`a.b`: int, c: string>",
    )
    properties = FEED | (VECTORS if request.param == "mark" else {})
    return create_table(spark, tmp_path / "t", rows, properties=properties)


def opened(table: Table) -> DeltaTable:
    return DeltaTable.forPath(table.spark, str(table.path))


def values(table: Table) -> dict[int, Any]:
    return {row[0]: row[1] for row in table.rows()}


def test_columns_by_name_with_and_without_an_alias(table: Table) -> None:
    opened(table).delete(F.col("id") == 0)
    named = opened(table).alias("t")
    named.delete(F.col("t.id") == 1)
    named.update(F.col("t.s.`a.b`") == 2, {"t.v": F.col("t.v") + 1})
    named.update("t.id = 3", {"v": "t.v + 1"})

    assert values(table) == {2: 21, 3: 31}


def test_columns_of_the_tables_own_frame(table: Table) -> None:
    target = opened(table)
    frame = target.toDF()

    target.delete(frame["id"] == 0)
    target.update(frame.s["a.b"] == 1, {"v": frame["v"] + frame.id})
    named = target.alias("t")
    named.update(named.toDF()["id"] == 2, {"v": F.when(frame.v > 0, -frame.v)})

    assert values(table) == {1: 11, 2: -20, 3: 30}


def test_columns_of_both_sides_of_a_merge(table: Table) -> None:
    target = opened(table)
    frame = target.toDF()
    source = table.spark.createDataFrame([(1, 5), (2, 0), (9, 9)], "id long, v int")

    merge = target.merge(source, frame["id"] == source["id"])
    merge.whenMatchedDelete(source.v == 0).whenMatchedUpdate(
        frame.v > 0, {"v": frame["v"] + source["v"]}
    ).whenNotMatchedInsert(
        source["v"] > 0, {"id": source["id"], "v": source["v"]}
    ).whenNotMatchedBySourceUpdate(frame["id"] == 3, {"v": frame["v"] + 1}).execute()

    assert values(table) == {0: 0, 1: 15, 3: 31, 9: 9}


def test_columns_of_a_source_that_is_kept_before_it_is_read(table: Table) -> None:
    source = table.spark.createDataFrame([(1, 5), (9, 9)], "id long, v int")
    source = source.withColumn("r", F.rand())

    merge = opened(table).alias("t").merge(source, F.col("t.id") == source["id"])
    merge.whenMatchedUpdate(set={"v": source["v"]}).whenNotMatchedInsert(
        values={"id": source["id"], "v": source["v"]}
    ).execute()

    assert values(table) == {0: 0, 1: 5, 2: 20, 3: 30, 9: 9}


def test_columns_that_table_and_source_share_are_ambiguous(table: Table) -> None:
    target = opened(table)
    frame = target.toDF()

    with pytest.raises(AmbiguousColumnError) as error:
        target.merge(frame.where("id < 2"), frame["id"] == 1)

    assert error.value.sentence() == (
        "the condition of MERGE (=(id, 1)) names id, which can be any of [the table's, the "
        "source's], for the source was made of the table\n"
        'hint: give both sides an alias(), and write "t.id = s.id"'
    )
    source = frame.where("id < 2").alias("s")
    merge = target.alias("t").merge(source, "t.id = s.id + 2")
    merge.whenMatchedUpdate(set={"v": "s.v"}).execute()
    assert values(table) == {0: 0, 1: 10, 2: 0, 3: 10}


def test_columns_of_another_frame_are_refused(table: Table) -> None:
    other = table.spark.createDataFrame([(1, 5)], "id long, v int")

    with pytest.raises(ForeignColumnError) as error:
        opened(table).delete(other["id"] == 1)
    with pytest.raises(ForeignColumnError):
        opened(table).update("id = 1", {"v": other["v"]})
    merge = opened(table).merge(other.alias("s"), F.expr("s.id = 1"))
    with pytest.raises(ForeignColumnError):
        merge.whenMatchedDelete(table.frame()["id"] == 1).execute()

    assert error.value.sentence() == (
        'the condition of DELETE (=(id, 1)) has "id" of a DataFrame that is not part of '
        "the command\n"
        "hint: name one of [id, v, s] by text or with functions.col, or take it from toDF() of "
        "this table"
    )
    assert table.version == 0


def test_a_column_that_is_gone_from_the_table_is_unknown(table: Table) -> None:
    frame = opened(table).toDF()
    target = opened(table)
    shown = target.toDF().withColumn("w", F.lit(1))

    with pytest.raises(ForeignColumnError):
        target.delete(shown["w"] == 1)
    with pytest.raises(ForeignColumnError):
        target.delete(frame["id"] == 1)
    with pytest.raises(UnresolvedColumnError):
        target.delete(F.col("w") == 1)


def test_a_condition_names_two_columns_after_the_table_was_shown(table: Table) -> None:
    target = opened(table).alias("t")
    target.toDF()
    source = table.spark.createDataFrame([(1, 5), (9, 9)], "id long, v int").alias("s")

    target.delete(F.expr("id * 10 = v AND id = 0"))
    target.update(F.col("t.id") * 10 == F.col("t.v"), {"v": F.col("t.id") + F.col("t.v")})
    merge = target.merge(source, F.col("t.id") == F.col("s.id"))
    merge.whenMatchedUpdate(
        F.expr("s.v < t.v"), {"v": F.col("t.v") + F.col("s.v")}
    ).whenNotMatchedInsert(F.expr("s.id = s.v"), {"id": F.col("s.id"), "v": F.col("s.v")}).execute()

    assert values(table) == {1: 16, 2: 22, 3: 33, 9: 9}
