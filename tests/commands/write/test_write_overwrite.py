"""replaceWhere, dynamic partitions, and new schemas."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from truckee.changes.plan import open_feed
from truckee.errors.commands.expressions import RefusedBySparkError
from truckee.errors.commands.write_rows import ReplaceWhereViolationError
from truckee.log.snapshot import load_snapshot
from truckee.options.feed import feed_options
from truckee.rows.plan import Recorded
from truckee.spark.read.engine import plan_frame
from truckee.storage import LocalStorage
from truckee.writer import write
from writing import actions, commit_info, data_files, last_version, rust_rows


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [(1, "a", 10), (2, "b", 20), (3, "c", None)], "id long, name string, p int"
    )


@pytest.fixture
def table(rows: DataFrame, tmp_path: Path) -> str:
    write(rows).partitionBy("p").save(str(tmp_path))
    return str(tmp_path)


def pairs(path: str) -> list[tuple[int, int | None]]:
    return sorted((row["id"], row["p"]) for row in rust_rows(path))


def test_replace_where_replaces_the_partitions_it_holds_for(rows: DataFrame, table: str) -> None:
    new = rows.where("p = 10").selectExpr("id + 100 as id", "name", "p")

    write(new).mode("overwrite").option("replaceWhere", "p = 10 or p > 1000").save(table)

    assert pairs(table) == [(2, 20), (3, None), (101, 10)]
    info = commit_info(table, 1)
    assert info["operationParameters"] == {
        "mode": "Overwrite",
        "partitionBy": "[]",
        "predicate": "p = 10 or p > 1000",
    }
    assert {k: v for k, v in info["operationMetrics"].items() if "Bytes" not in k} == {
        "numFiles": "1",
        "numOutputRows": "1",
        "numRemovedFiles": "1",
        "numAddedChangeFiles": "0",
        "numDeletedRows": "1",
        "numCopiedRows": "0",
    }


def test_replace_where_can_ask_for_null(rows: DataFrame, table: str) -> None:
    new = rows.where("p is null").selectExpr("id * 100 as id", "name", "p")

    write(new).mode("overwrite").option("replaceWhere", "p IS NULL").save(table)

    assert pairs(table) == [(1, 10), (2, 20), (300, None)]


def test_a_row_outside_of_replace_where_is_refused(rows: DataFrame, table: str) -> None:
    before = data_files(table)

    with pytest.raises(ReplaceWhereViolationError) as caught:
        write(rows.where("id = 2")).mode("overwrite").option("replaceWhere", "p = 10").save(table)

    assert caught.value.sentence() == (
        "Written data does not conform to partial table overwrite condition or constraint "
        "'p = 10': it has the row (id: 2, name: \"b\", p: 20)\n"
        "hint: filter the data with the same condition, or widen the condition"
    )
    assert data_files(table) == before
    assert last_version(table) == 0


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_replace_where_takes_rows_out_of_files_as_delete_does(
    spark: SparkSession, tmp_path: Path, vectors: str
) -> None:
    path = str(tmp_path)
    rows = spark.range(0, 6, 1, 1).selectExpr("id", "id % 2 as p")
    write(rows).option("delta.enableDeletionVectors", vectors).save(path)

    new = spark.sql("select 100L as id, 1L as p")
    write(new).mode("overwrite").option("replaceWhere", "P = 1 or id > 99").save(path)

    assert sorted(row["id"] for row in rust_rows(path)) == [0, 2, 4, 100]
    info = commit_info(path, 1)
    assert info["operation"] == "WRITE"
    assert info["operationMetrics"]["numDeletedRows"] == "3"
    assert info["operationMetrics"]["numOutputRows"] == "1"
    copied = "0" if vectors == "true" else "3"
    assert info["operationMetrics"]["numCopiedRows"] == copied


@pytest.mark.parametrize("vectors", ["true", "false"])
def test_the_feed_of_replace_where_is_told_by_change_files_or_by_vectors(
    spark: SparkSession, tmp_path: Path, vectors: str
) -> None:
    path = str(tmp_path)
    rows = spark.range(0, 6, 1, 1)
    write(rows).options(
        **{"delta.enableDeletionVectors": vectors, "delta.enableChangeDataFeed": "true"}
    ).save(path)

    write(spark.sql("select 3L as id")).mode("overwrite").option("replaceWhere", "id = 3").save(
        path
    )

    feed = open_feed(LocalStorage(path), feed_options({"startingVersion": 1}))
    changes = plan_frame(spark, Recorded(feed)).select("_change_type", "id").collect()
    assert sorted(tuple(row) for row in changes) == [("delete", 3), ("insert", 3)]
    assert bool(actions(path, 1, "cdc")) == (vectors == "false")


def test_a_row_outside_of_a_condition_on_data_leaves_no_vector_behind(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path)
    write(spark.range(0, 6, 1, 1)).option("delta.enableDeletionVectors", "true").save(path)
    before = data_files(path)

    with pytest.raises(ReplaceWhereViolationError):
        write(spark.range(4)).mode("overwrite").option("replaceWhere", "id = 3").save(path)

    assert data_files(path) == before


def test_a_condition_that_is_none_is_refused(rows: DataFrame, table: str) -> None:
    with pytest.raises(RefusedBySparkError) as caught:
        write(rows).mode("overwrite").option("replaceWhere", "p + 1").save(table)

    assert str(caught.value) == (
        "[DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN] replaceWhere (p + 1) cannot be used: it gives int"
    )
    assert last_version(table) == 0


def test_dynamic_overwrite_replaces_the_partitions_of_the_data(rows: DataFrame, table: str) -> None:
    new = rows.where("id > 1").selectExpr("id + 100 as id", "name", "p")

    write(new).mode("overwrite").option("partitionOverwriteMode", "dynamic").save(table)

    assert pairs(table) == [(1, 10), (102, 20), (103, None)]
    assert commit_info(table, 1)["operationParameters"]["isDynamicPartitionOverwrite"] is True
    assert commit_info(table, 1)["operationMetrics"]["numRemovedFiles"] == "2"


def test_dynamic_overwrite_knows_a_value_by_any_of_its_texts(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.sql("select 1L as id, timestamp'2024-01-01 00:00:00' as p")
    write(rows).partitionBy("p").save(str(tmp_path))
    log = tmp_path / "_delta_log" / f"{0:020d}.json"
    older = log.read_text().replace(
        '"p":"2024-01-01T00:00:00.000000Z"', '"p":"2024-01-01 00:00:00"'
    )
    log.write_text(older)

    write(rows).mode("overwrite").option("partitionOverwriteMode", "dynamic").save(str(tmp_path))

    assert len(actions(tmp_path, 1, "remove")) == 1
    assert [row["id"] for row in rust_rows(tmp_path)] == [1]


def test_the_session_may_ask_for_dynamic_overwrite(
    spark: SparkSession, rows: DataFrame, table: str
) -> None:
    spark.conf.set("spark.sql.sources.partitionOverwriteMode", "dynamic")
    try:
        write(rows.where("id = 1")).mode("overwrite").save(table)
    finally:
        spark.conf.unset("spark.sql.sources.partitionOverwriteMode")

    assert pairs(table) == [(1, 10), (2, 20), (3, None)]


def test_dynamic_overwrite_of_a_table_without_partitions_replaces_all(
    rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).save(str(tmp_path))
    write(rows.where("id = 1")).mode("overwrite").option("partitionOverwriteMode", "dynamic").save(
        str(tmp_path)
    )

    assert pairs(str(tmp_path)) == [(1, 10)]


def test_merge_schema_adds_columns(rows: DataFrame, table: str) -> None:
    new = rows.selectExpr("4L as id", "p", "struct(1 as x) as s").limit(1)

    write(new).mode("append").option("mergeSchema", True).save(table)
    write(rows.selectExpr("5L as id", "p", "struct(2 as x, 'y' as y) as s").limit(1)).mode(
        "append"
    ).option("mergeSchema", True).save(table)

    found = {row["id"]: row["s"] for row in rust_rows(table)}
    assert found == {
        1: None,
        2: None,
        3: None,
        4: {"x": 1, "y": None},
        5: {"x": 2, "y": "y"},
    }
    assert commit_info(table, 1)["operationParameters"]["canMergeSchema"] is True


def test_overwrite_schema_replaces_columns_and_partitions(rows: DataFrame, table: str) -> None:
    new = rows.selectExpr("name as id", "id as n")

    write(new).mode("overwrite").option("overwriteSchema", True).partitionBy("n").save(table)

    snapshot = load_snapshot(LocalStorage(table))
    assert snapshot.schema.names == ("id", "n")
    assert snapshot.partition_columns == ("n",)
    assert snapshot.metadata.id == load_snapshot(LocalStorage(table), 0).metadata.id
    assert rust_rows(table)[0] == {"id": "a", "n": 1}
    assert commit_info(table, 1)["operationParameters"] == {
        "mode": "Overwrite",
        "partitionBy": '["n"]',
        "canOverwriteSchema": True,
    }


def test_overwrite_keeps_the_schema_unless_told_otherwise(rows: DataFrame, table: str) -> None:
    write(rows.selectExpr("name as Name", "id", "p")).mode("overwrite").save(table)

    assert load_snapshot(LocalStorage(table)).schema.names == ("id", "name", "p")
    assert pairs(table) == [(1, 10), (2, 20), (3, None)]
