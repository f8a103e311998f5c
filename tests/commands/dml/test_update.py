"""UPDATE, by marking old rows and by writing files anew."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dml_tables import FEED, MAPPED, VECTORS, create_table, numbers
from truckee.commands.dml.update import update
from writing import rust_rows


def test_old_rows_are_marked_and_only_new_ones_written(spark: SparkSession, tmp_path: Path) -> None:
    rows = numbers(spark, 0, 10)
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS | FEED)
    [old] = table.snapshot.files()

    done = update(spark, table.storage, "id in (3, 4)", {"v": "v + 1"})
    first = table.metrics
    update(spark, table.storage, F.col("id") == 3, {"v": F.lit(-1)})

    assert [tuple(row) for row in done.collect()] == [(2,)]
    assert table.rows()[3:5] == [(3, -1, 1), (4, 41, 0)]
    assert len(table.rows()) == 10
    files = {file.path: file for file in table.snapshot.files()}
    marked = files[old.path].deletion_vector
    assert marked is not None
    assert marked.cardinality == 2
    assert first == {
        "numRemovedFiles": "1",
        "numAddedFiles": "1",
        "numUpdatedRows": "2",
        "numCopiedRows": "0",
        "numAddedChangeFiles": "1",
        "numDeletionVectorsAdded": "1",
        "numDeletionVectorsRemoved": "0",
        "numDeletionVectorsUpdated": "0",
    }
    assert table.changes(1) == [
        (3, -1, 1, "update_postimage", 2),
        (3, 30, 1, "update_preimage", 1),
        (3, 31, 1, "update_postimage", 1),
        (3, 31, 1, "update_preimage", 2),
        (4, 40, 0, "update_preimage", 1),
        (4, 41, 0, "update_postimage", 1),
    ]


@pytest.mark.parametrize("properties", [{}, FEED, MAPPED | FEED], ids=["plain", "feed", "mapped"])
def test_without_vectors_the_other_rows_of_a_file_are_copied(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=properties)
    table.append(numbers(spark, 4, 8))

    update(spark, table.storage, "id = 1", {"v": "100 / v"})

    assert table.rows()[:3] == [(0, 0, 0), (1, 10, 1), (2, 20, 0)]
    assert len(table.rows()) == 8
    assert table.metrics["numCopiedRows"] == "3"
    assert table.metrics["numUpdatedRows"] == "1"
    assert table.metrics["numRemovedFiles"] == "1"
    if "delta.enableChangeDataFeed" in properties:
        assert table.changes(2) == [
            (1, 10, 1, "update_postimage", 2),
            (1, 10, 1, "update_preimage", 2),
        ]


@pytest.mark.parametrize("properties", [FEED, VECTORS | FEED], ids=["rewrite", "vectors"])
def test_an_update_may_move_rows_to_another_partition(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(
        spark, tmp_path / "t", numbers(spark, 0, 4), properties=properties, partition_by=["part"]
    )

    update(spark, table.storage, "id = 1", {"part": "null", "v": "part"})

    assert table.rows() == [(0, 0, 0), (1, 1, None), (2, 20, 0), (3, 30, 1)]
    assert {tuple(f.partition_values.values()) for f in table.last.cdc_files} == {
        ("1",),
        (None,),
    }
    assert table.changes(1) == [
        (1, 1, None, "update_postimage", 1),
        (1, 10, 1, "update_preimage", 1),
    ]


@pytest.mark.parametrize("condition", [None, "part = 1"])
def test_whole_partitions_are_written_anew_without_vectors(
    spark: SparkSession, tmp_path: Path, condition: str | None
) -> None:
    table = create_table(
        spark,
        tmp_path / "t",
        numbers(spark, 0, 4),
        properties=VECTORS | FEED,
        partition_by=["part"],
    )

    update(spark, table.storage, condition, {"v": "0"})

    zeros = [0, 1, 2, 3] if condition is None else [0, 1, 3]
    assert [row[0] for row in table.rows() if row[1] == 0] == zeros
    assert all(file.deletion_vector is None for file in table.snapshot.files())
    assert table.metrics["numUpdatedRows"] == ("4" if condition is None else "2")
    assert len(table.changes(1)) == (8 if condition is None else 4)


def test_a_condition_that_is_null_updates_nothing(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, None), (2, 5)], "id long, v int").coalesce(1)
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS)

    update(spark, table.storage, "v > 4", {"v": "0"})
    update(spark, table.storage, "v = null", {"v": "7"})

    assert table.rows() == [(1, None), (2, 0)]
    assert table.version == 1


def test_fields_of_structs_can_be_set(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.sql(
        "select 1L id, named_struct('a', 1, 'b', named_struct('x', 'p', 'y', 2L)) s "
        "union all select 2L, null"
    )
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS | MAPPED)

    update(spark, table.storage, "id > 0", {"t.s.b.Y": "t.s.a + 40", "`s`.a": "id"}, alias="t")

    assert table.rows() == [(1, (1, ("p", 41))), (2, (2, (None, None)))]


def test_values_are_cast_as_by_an_insert(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 2), properties=VECTORS)

    update(spark, table.storage, "id = 1", {"v": "12345678901 % 100", "part": "2.7D"})

    assert table.rows() == [(0, 0, 0), (1, 1, 2)]


def test_a_text_is_cast_in_the_zone_of_the_session(spark: SparkSession, tmp_path: Path) -> None:
    columns = "id long, n decimal(5,2), day date, at timestamp, ok boolean"
    rows = spark.createDataFrame([(1, None, None, None, None)], columns)
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS | FEED)
    texts = {"n": "'7.5'", "day": "'2024-02-29'", "at": "'2024-01-01 00:00:00'", "ok": "'true'"}
    zone = spark.conf.get("spark.sql.session.timeZone")
    assert zone is not None
    try:
        spark.conf.set("spark.sql.session.timeZone", "America/New_York")
        update(spark, table.storage, "id = 1", texts)
    finally:
        spark.conf.set("spark.sql.session.timeZone", zone)

    [row] = rust_rows(table.path)
    assert (row["n"], row["day"], row["ok"]) == (Decimal("7.50"), date(2024, 2, 29), True)
    assert row["at"] == datetime(2024, 1, 1, 5, tzinfo=timezone.utc)
    with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
        update(spark, table.storage, "id = 1", {"n": "'many'"})
    assert table.version == 1


def test_without_ansi_mode_texts_are_cast_and_none_becomes_null(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 2), properties=VECTORS)
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        update(spark, table.storage, "id = 1", {"v": "concat('4', '2')"})
        with pytest.raises(Exception, match="CAST_INVALID_INPUT"):
            update(spark, table.storage, "id = 1", {"v": "'many'"})
    finally:
        spark.conf.unset("spark.sql.ansi.enabled")

    assert table.rows() == [(0, 0, 0), (1, 42, 1)]
    assert table.version == 1


@pytest.mark.parametrize("properties", [{}, FEED, VECTORS | FEED], ids=["plain", "feed", "vectors"])
def test_a_value_may_be_a_subquery(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    """Of other rows, of rows that belong to the row, and of the table itself."""
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=properties)
    spark.createDataFrame([(1, 5), (1, 6), (2, 7)], "id long, y int").createTempView("others")
    try:
        update(spark, table.storage, "id = 0", {"v": "(SELECT max(y) FROM others)"})
        own = "(SELECT min(y) FROM others WHERE others.id = t.id)"
        update(spark, table.storage, "id IN (1, 3)", {"v": own}, alias="t")
        update(spark, table.storage, "id = 2", {"v": f"(SELECT sum(v) FROM delta.`{table.path}`)"})
    finally:
        spark.catalog.dropTempView("others")

    assert [row[:2] for row in table.rows()] == [(0, 7), (1, 5), (2, 32), (3, None)]
    if "delta.enableChangeDataFeed" in properties:
        assert [row[:2] for row in table.changes(3) if row[3] == "update_postimage"] == [(2, 32)]


def test_a_value_that_is_not_the_same_twice_is_the_same_in_table_and_feed(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.range(20).selectExpr("id", "'' as u")
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS | FEED)

    update(spark, table.storage, "id < 10", {"u": "uuid()"})

    new = sorted(row[1] for row in table.rows() if row[0] < 10)
    shown = sorted(row[1] for row in table.changes(1) if row[2] == "update_postimage")
    assert len(set(new)) == 10
    assert new == shown
