"""replaceOn and replaceUsing: rows that match one of the data give way to the data."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import truckee
from truckee.doors.enable import enable
from truckee.errors.base import DeltaError
from writing import commit_info, last_version

NAME = "rows_to_replace"


@pytest.fixture
def enabled(spark: SparkSession) -> Iterator[SparkSession]:
    yield enable(spark)
    spark.sql(f"DROP TABLE IF EXISTS {NAME}")


@pytest.fixture(params=["true", "false"], ids=["vectors", "rewrites"])
def table(enabled: SparkSession, tmp_path: Path, request: Any) -> str:
    path = str(tmp_path / "t")
    enabled.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, name STRING) USING delta TBLPROPERTIES ("
        f"'delta.enableDeletionVectors' = '{request.param}', 'delta.enableChangeDataFeed' = 'true')"
    )
    rows(enabled, (1, "a"), (2, "b"), (3, "c"), (None, "n")).coalesce(1).write.format("delta").mode(
        "append"
    ).save(path)
    return path


def rows(spark: SparkSession, *values: tuple[int | None, str]) -> DataFrame:
    return spark.createDataFrame(values, "id BIGINT, name STRING")


def found(spark: SparkSession, path: str) -> list[tuple[Any, ...]]:
    frame = spark.read.format("delta").load(path)
    return sorted((tuple(row) for row in frame.collect()), key=repr)


def test_replace_using_replaces_rows_with_the_same_values(
    enabled: SparkSession, table: str
) -> None:
    new = rows(enabled, (2, "x"), (2, "y"), (9, "z"), (None, "m"))

    new.write.format("delta").mode("overwrite").option("replaceUsing", "id").save(table)

    expected = [(1, "a"), (2, "x"), (2, "y"), (3, "c"), (9, "z"), (None, "m"), (None, "n")]
    assert found(enabled, table) == sorted(expected, key=repr)
    info = commit_info(table, 2)
    assert info["operation"] == "WRITE"
    assert info["operationParameters"]["replaceUsingCols"] == "(id)"
    assert info["operationMetrics"]["numDeletedRows"] == "1"


def test_replace_on_replaces_rows_that_the_condition_is_true_of(
    enabled: SparkSession, table: str
) -> None:
    new = rows(enabled, (2, "x"), (None, "m")).alias("s")

    new.write.format("delta").mode("overwrite").option("targetAlias", "t").option(
        "replaceOn", "t.id <=> s.id"
    ).save(table)

    assert found(enabled, table) == sorted([(1, "a"), (2, "x"), (3, "c"), (None, "m")], key=repr)
    assert commit_info(table, 2)["operationParameters"]["replaceOnCond"] == "t.id <=> s.id"


def test_the_feed_has_what_went_and_what_came(enabled: SparkSession, table: str) -> None:
    rows(enabled, (2, "x")).write.format("delta").mode("overwrite").option(
        "replaceUsing", "id"
    ).save(table)

    changes = truckee.table_changes(enabled, table, 2)
    told = {(row.id, row.name, row._change_type) for row in changes.collect()}
    assert told == {(2, "b", "delete"), (2, "x", "insert")}


def test_rows_that_differ_each_time_are_matched_as_they_are_written(
    enabled: SparkSession, table: str
) -> None:
    new = enabled.range(1).select(
        (F.floor(F.rand() * 3) + 1).cast("bigint").alias("id"), F.lit("x").alias("name")
    )

    new.write.format("delta").mode("overwrite").option("replaceUsing", "id").save(table)

    ids = [row[0] for row in found(enabled, table)]
    assert sorted(i for i in ids if i is not None) == [1, 2, 3]


def test_a_table_by_its_name_takes_both_ways(enabled: SparkSession) -> None:
    rows(enabled, (1, "a"), (2, "b")).write.format("delta").saveAsTable(NAME)

    rows(enabled, (2, "x")).write.format("delta").mode("overwrite").option(
        "replaceUsing", "id"
    ).saveAsTable(NAME)
    renamed = enabled.createDataFrame([(1, "y")], "key BIGINT, word STRING").alias("s")
    renamed.write.format("delta").mode("overwrite").option("replaceOn", "id = s.key").insertInto(
        NAME
    )

    assert sorted(tuple(row) for row in enabled.table(NAME).collect()) == [(1, "y"), (2, "x")]


@pytest.mark.parametrize(
    ("options", "code"),
    [
        ({"replaceOn": "true", "replaceUsing": "id"}, "DELTA_INCOMPATIBLE_DATAFRAME_OPTIONS"),
        (
            {"replaceUsing": "id", "replaceWhere": "id = 1"},
            "DELTA_OVERWRITE_BY_FILTER_INCOMPATIBLE_REPLACE_ON_OR_USING",
        ),
        (
            {"replaceUsing": "id", "partitionOverwriteMode": "dynamic"},
            "DELTA_DYNAMIC_PARTITION_OVERWRITE_INCOMPATIBLE_REPLACE_ON_OR_USING",
        ),
        (
            {"replaceUsing": "id", "overwriteSchema": "true"},
            "DELTA_INCOMPATIBLE_DATAFRAME_OPTIONS",
        ),
        ({"replaceUsing": "id", "dataChange": "false"}, "DELTA_INCOMPATIBLE_DATAFRAME_OPTIONS"),
        ({"replaceUsing": "nothing"}, "UNRESOLVED_INSERT_REPLACE_USING_COLUMN"),
        ({"replaceOn": "id = 1"}, "DELTA_INSERT_REPLACE_ON_AMBIGUOUS_COLUMNS_IN_CONDITION"),
        ({"replaceOn": "t.id = 1"}, "DELTA_INSERT_REPLACE_ON_UNRESOLVED_COLUMNS_IN_CONDITION"),
        ({"targetAlias": "t"}, "DELTA_ILLEGAL_USAGE"),
    ],
)
def test_what_does_not_go_together_is_refused_before_a_row_goes(
    enabled: SparkSession, table: str, options: dict[str, str], code: str
) -> None:
    with pytest.raises(DeltaError) as caught:
        truckee.write(rows(enabled, (1, "x"))).mode("overwrite").options(**options).save(table)

    assert caught.value.code == code
    assert last_version(table) == 1


def test_columns_that_go_by_place_must_be_at_the_same_place(enabled: SparkSession) -> None:
    rows(enabled, (1, "a")).write.format("delta").saveAsTable(NAME)
    turned = enabled.createDataFrame([("a", 1)], "name STRING, id BIGINT")

    with pytest.raises(Exception, match="other places in the data"):
        turned.write.format("delta").mode("overwrite").option("replaceUsing", "id").insertInto(NAME)


def test_an_append_and_a_new_table_take_neither(enabled: SparkSession, table: str) -> None:
    new = rows(enabled, (1, "x"))

    with pytest.raises(DeltaError, match="the mode is append"):
        truckee.write(new).mode("append").option("replaceUsing", "id").save(table)
    with pytest.raises(Exception, match="created or replaced as a whole"):
        new.writeTo(NAME).using("delta").option("replaceUsing", "id").createOrReplace()

    assert last_version(table) == 1


@pytest.mark.parametrize("option", ["replaceUsing", "replaceOn"])
def test_rows_of_a_table_that_is_not_there_are_not_replaced(
    enabled: SparkSession, tmp_path: Path, option: str
) -> None:
    value = {"replaceUsing": "id", "replaceOn": "true"}[option]
    writer = rows(enabled, (1, "a")).write.format("delta").mode("overwrite").option(option, value)

    with pytest.raises(DeltaError) as by_path:
        writer.save(str(tmp_path / "new"))
    with pytest.raises(DeltaError) as by_name:
        writer.saveAsTable(NAME)

    assert str(by_path.value) == (
        f"[DELTA_PATH_DOES_NOT_EXIST] {tmp_path / 'new'} is not a Delta table, "
        f"so {option} has nothing to replace\n"
        f"hint: create the table first, or write without {option}"
    )
    assert by_name.value.code == "DELTA_PATH_DOES_NOT_EXIST"
    assert not (tmp_path / "new").exists()
    assert not enabled.catalog.tableExists(NAME)
