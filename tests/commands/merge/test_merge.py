"""MERGE: which rows its clauses take, and what becomes of them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from dml_tables import FEED, KEEPS_SOURCE, MAPPED, VECTORS, Table, create_table, numbers
from plans import records_read
from session_settings import set_as
from truckee.commands.merge.builder import DeltaMergeBuilder, merge_builder
from truckee.errors.commands.dml import MultipleMatchesError

BOTH_MODES = pytest.mark.parametrize(
    "properties", [FEED, FEED | VECTORS, FEED | VECTORS | MAPPED], ids=["rewrite", "mark", "mapped"]
)


def merge(table: Table, source: DataFrame, on: Any = "t.id = s.id") -> DeltaMergeBuilder:
    return merge_builder(table.spark, table.storage, source.alias("s"), on, alias="t")


def source_of(spark: SparkSession, *rows: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame(list(rows), "id long, v int, part int")


@BOTH_MODES
def test_rows_are_updated_deleted_and_inserted_in_one_commit(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=properties)
    source = source_of(spark, (1, -1, 0), (2, -2, 0), (3, None, None), (9, 90, 9), (10, 0, 0))

    done = (
        merge(table, source)
        .whenMatchedDelete("s.v is null")
        .whenMatchedUpdate("s.id = 1", {"v": "t.v + s.v"})
        .whenMatchedUpdateAll()
        .whenNotMatchedInsert("v > 0", {"id": "id", "t.v": "s.v * 2"})
        .whenNotMatchedBySourceUpdate("id = 4", {"v": "v + 1"})
        .whenNotMatchedBySourceDelete("id = 5")
        .execute()
    )

    assert [row.asDict() for row in done.collect()] == [
        {
            "num_affected_rows": 6,
            "num_updated_rows": 3,
            "num_deleted_rows": 2,
            "num_inserted_rows": 1,
        }
    ]
    assert table.rows() == [(0, 0, 0), (1, 9, 1), (2, -2, 0), (4, 41, 0), (9, 180, None)]
    assert table.changes(1) == [
        (1, 9, 1, "update_postimage", 1),
        (1, 10, 1, "update_preimage", 1),
        (2, -2, 0, "update_postimage", 1),
        (2, 20, 0, "update_preimage", 1),
        (3, 30, 1, "delete", 1),
        (4, 40, 0, "update_preimage", 1),
        (4, 41, 0, "update_postimage", 1),
        (5, 50, 1, "delete", 1),
        (9, 180, None, "insert", 1),
    ]
    marks = "delta.enableDeletionVectors" in properties
    assert table.metrics | {"numTargetFilesAdded": "", "numTargetChangeFilesAdded": ""} == {
        "numSourceRows": "5",
        "numTargetRowsInserted": "1",
        "numTargetRowsUpdated": "3",
        "numTargetRowsDeleted": "2",
        "numTargetRowsCopied": "0" if marks else "1",
        "numTargetRowsMatchedUpdated": "2",
        "numTargetRowsMatchedDeleted": "1",
        "numTargetRowsNotMatchedBySourceUpdated": "1",
        "numTargetRowsNotMatchedBySourceDeleted": "1",
        "numOutputRows": "4" if marks else "5",
        "numTargetFilesAdded": "",
        "numTargetFilesRemoved": "0" if marks else "1",
        "numTargetChangeFilesAdded": "",
        "numTargetDeletionVectorsAdded": "1" if marks else "0",
        "numTargetDeletionVectorsRemoved": "0",
        "numTargetDeletionVectorsUpdated": "0",
    }
    assert table.info.operation_parameters == {
        "predicate": '["(t.id = s.id)"]',
        "matchedPredicates": '[{"predicate":"(s.v IS NULL)","actionType":"delete"},'
        '{"predicate":"(s.id = 1L)","actionType":"update"},{"actionType":"update"}]',
        "notMatchedPredicates": '[{"predicate":"(s.v > 0)","actionType":"insert"}]',
        "notMatchedBySourcePredicates": '[{"predicate":"(t.id = 4L)","actionType":"update"},'
        '{"predicate":"(t.id = 5L)","actionType":"delete"}]',
    }


@BOTH_MODES
def test_several_matches_are_an_error_whatever_the_clauses_say(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=properties)
    source = source_of(spark, (1, 1, 0), (4, 1, 0), (4, 2, 0))

    with pytest.raises(MultipleMatchesError) as error:
        merge(table, source).whenMatchedUpdateAll("s.v = 1").execute()

    assert error.value.sentence() == (
        "Cannot perform Merge as multiple source rows matched: "
        f"2 rows of the source match the row (id: 4) of the table {table.path} by (t.id = "
        "s.id); nothing was changed\n"
        "hint: keep only one source row per key, regardless of the clause conditions"
    )
    assert table.version == 0


@BOTH_MODES
def test_several_matches_do_not_matter_where_the_row_is_deleted_anyway(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=properties)
    source = source_of(spark, (1, 1, 0), (4, 1, 0), (4, 2, 0), (8, 80, 0))

    done = merge(table, source).whenMatchedDelete().whenNotMatchedInsertAll().execute()

    assert [tuple(row) for row in done.collect()] == [(3, 0, 2, 1)]
    assert [row[0] for row in table.rows()] == [0, 2, 3, 5, 8]
    assert table.changes(1) == [
        (1, 10, 1, "delete", 1),
        (4, 40, 0, "delete", 1),
        (8, 80, 0, "insert", 1),
    ]
    assert len(table.last.cdc_files) > 0


def test_deletes_alone_are_marked_with_nothing_written(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=VECTORS | FEED)
    before = {name for name in table.files_on_disk() if name.endswith(".parquet")}

    merge(table, source_of(spark, (1, 1, 0))).whenMatchedDelete("t.v = 10").execute()

    assert {name for name in table.files_on_disk() if name.endswith(".parquet")} == before
    assert table.changes(1) == [(1, 10, 1, "delete", 1)]


@BOTH_MODES
def test_inserts_alone_add_files_and_touch_no_other(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 3), properties=properties)
    source = source_of(spark, (1, -1, 0), (7, 70, 1), (7, 71, 1), (None, 5, 5))

    merge(table, source).whenNotMatchedInsertAll("s.v > 0").execute()

    assert table.rows()[3:] == [(7, 70, 1), (7, 71, 1), (None, 5, 5)]
    assert table.last.removes == ()
    assert table.last.cdc_files == ()
    assert table.metrics["numTargetRowsInserted"] == "3"
    assert len(table.changes(1)) == 3


@BOTH_MODES
def test_without_a_row_for_any_clause_there_is_no_commit(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 3), properties=properties)

    done = merge(table, source_of(spark, (1, 1, 1))).whenMatchedUpdateAll("t.v > 100").execute()

    assert [tuple(row) for row in done.collect()] == [(0, 0, 0, 0)]
    assert table.version == 0


@BOTH_MODES
def test_with_an_empty_source_no_row_is_matched_by_it(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=properties)
    builder = merge(table, source_of(spark, (1, 1, 1)).where("id = 2"))

    builder.whenNotMatchedBySourceDelete("part = 1").whenNotMatchedBySourceUpdate(
        set={"part": "7"}
    ).execute()

    assert table.rows() == [(0, 0, 7), (2, 20, 7)]
    assert len(table.changes(1)) == 6


def test_rows_may_move_between_partitions(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(
        spark,
        tmp_path / "t",
        numbers(spark, 0, 4),
        properties=VECTORS | FEED,
        partition_by=["part"],
    )

    merge(
        table, source_of(spark, (0, 5, 3), (8, 8, 3)), F.expr("t.id = s.id and t.part = 0")
    ).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert table.rows() == [(0, 5, 3), (1, 10, 1), (2, 20, 0), (3, 30, 1), (8, 8, 3)]
    assert {f.partition_values["part"] for f in table.last.cdc_files} == {"0", "3"}


def test_a_source_that_never_is_the_same_is_read_once(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 50), properties=VECTORS | FEED)
    source = spark.range(0, 100).selectExpr("id", "cast(rand() * 1e9 as int) v", "0 part")

    merge(
        table, source.where("v % 2 = 0")
    ).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert len(table.rows()) == len({row[0] for row in table.rows()})
    shown = {row[:3] for row in table.changes(1) if row[3] in ("insert", "update_postimage")}
    assert shown <= set(table.rows())
    assert len(shown) == int(table.metrics["numSourceRows"])


def test_merging_a_table_into_itself(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=VECTORS)

    merge(table, table.frame(), F.expr("t.id = s.id + 1")).whenMatchedUpdate(
        set={"v": F.col("s.v")}
    ).whenNotMatchedInsert(values={"id": F.col("s.id") + 1}).execute()

    assert table.rows() == [(0, 0, 0), (1, 0, 1), (2, 10, 0), (3, 20, 1), (4, None, None)]


@pytest.mark.parametrize("kept", ["all", "none"])
def test_a_row_of_the_source_may_match_several(
    spark: SparkSession, tmp_path: Path, kept: str
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=VECTORS)
    source = source_of(spark, (70, 7, 1), (80, 8, 2))

    with set_as(spark, {KEEPS_SOURCE: kept}):
        done = (
            merge(table, source, "t.part = s.part")
            .whenMatchedUpdateAll("t.id > 1")
            .whenNotMatchedInsertAll()
            .execute()
        )

    assert tuple(done.collect()[0]) == (3, 2, 0, 1)
    others = [(0, 0, 0), (1, 10, 1), (2, 20, 0), (4, 40, 0)]
    assert table.rows() == [*others, (70, 7, 1), (70, 7, 1), (80, 8, 2)]


@pytest.mark.parametrize("kept", ["all", "none"])
def test_each_clause_has_its_rows_of_the_source(
    spark: SparkSession, tmp_path: Path, kept: str
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=VECTORS)
    source = source_of(spark, (0, 1, 1), (1, 2, 2), (2, 3, 3), (3, 4, 4), (4, 5, 5), (None, 6, 6))
    twice = {"id": "s.id", "v": "s.v * 2", "part": "s.part"}

    with set_as(spark, {KEEPS_SOURCE: kept}):
        (
            merge(table, source)
            .whenMatchedUpdate("t.part = 1 and s.v < 3", twice)
            .whenMatchedUpdateAll("s.v <> 3")
            .whenNotMatchedInsertAll("s.v < 6")
            .whenNotMatchedInsert(None, {"id": "-1", "v": "s.v", "part": "s.part"})
            .execute()
        )

    expected = [(-1, 6, 6), (0, 1, 1), (1, 4, 2), (2, 20, 0), (3, 4, 4), (4, 5, 5)]
    assert table.rows() == expected


@pytest.mark.parametrize(
    ("kept", "value", "least"),
    [("all", "s.v", 1_000), ("all", "t.v + s.v", 2_000), ("none", "s.v", 3_000)],
    ids=["of the source", "of both", "source not kept"],
)
def test_the_target_is_read_as_often_as_needed(
    spark: SparkSession, tmp_path: Path, kept: str, value: str, least: int
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 1_000), properties=VECTORS)
    source = source_of(spark, (1, 10, 1), (998, 10, 0), (7_000, 10, 0))
    values = {"id": "s.id", "v": value, "part": "s.part"}
    upsert = merge(table, source).whenMatchedUpdate(set=values).whenNotMatchedInsertAll()

    with set_as(spark, {KEEPS_SOURCE: kept}):
        found = records_read(spark, upsert.execute)

    assert least <= found < least + 100
    assert table.metrics["numTargetRowsUpdated"] == "2"
    assert table.metrics["numTargetRowsInserted"] == "1"
