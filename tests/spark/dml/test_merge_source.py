"""The source of a MERGE: how it is kept, and how it is joined."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pyspark.sql import DataFrame, SparkSession

from plans import plan_text
from session_settings import set_as
from truckee.spark.dml.merge_source import NUMBER, Source, merge_source

BROADCAST = "spark.sql.autoBroadcastJoinThreshold"
MANY = 400_000


@pytest.fixture
def target(spark: SparkSession) -> DataFrame:
    return spark.range(0, 1_000_000_000).withColumnRenamed("id", "key")


@pytest.fixture
def source(spark: SparkSession, target: DataFrame) -> Source:
    rows = spark.range(MANY).selectExpr("id", "id x", "id y", "cast(id as string) s")
    return merge_source(
        rows, target, target["key"] == rows["id"], materialize="auto", brings_rows=True
    )


def joined(target: DataFrame, source: Source) -> str:
    on = target["key"] == source.rows["id"]
    return plan_text(target.join(source.to_join({"ID", NUMBER}), on))


def test_rows_of_a_source_have_numbers_that_stay(source: Source) -> None:
    assert source.has_numbers
    assert source.num_rows == source.rows.select(NUMBER).distinct().count() == MANY
    numbered = {row["id"]: row[NUMBER] for row in source.rows.where("id % 1000 = 0").collect()}
    backwards = source.rows.orderBy("s").where("id % 1000 = 0").collect()
    assert {row["id"]: row[NUMBER] for row in backwards} == numbered


def test_few_rows_go_to_every_task(spark: SparkSession, target: DataFrame, source: Source) -> None:
    few = "BroadcastHashJoin"

    assert few not in plan_text(target.join(source.rows, target["key"] == source.rows["id"]))
    assert few in joined(target, source)
    assert few not in joined(target, replace(source, num_rows=1000 * MANY))
    with set_as(spark, {BROADCAST: "-1"}):
        assert few not in joined(target, source)


@pytest.mark.parametrize(
    ("materialize", "brings_rows", "kept"),
    [("auto", False, False), ("auto", True, True), ("all", False, True), ("none", True, False)],
)
def test_a_source_that_cannot_change_is_kept_where_its_rows_are_needed(
    spark: SparkSession, target: DataFrame, materialize: str, brings_rows: bool, kept: bool
) -> None:
    rows = spark.range(3)

    found = merge_source(
        rows, target, target["key"] == rows["id"], materialize=materialize, brings_rows=brings_rows
    )

    assert (found.has_numbers, NUMBER in found.rows.columns) == (kept, kept)
    assert found.num_rows == 3
