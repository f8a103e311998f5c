"""DELETE, by marking rows and by writing files anew."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

from dml_tables import FEED, MAPPED, VECTORS, create_table, numbers
from truckee.commands.dml.delete import delete
from truckee.protocol.stats import parse_stats


def test_rows_are_marked_in_a_vector_united_with_the_old_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS)

    first = delete(spark, table.storage, "id in (0, 9)")
    [file] = table.snapshot.files()
    metrics_of_first = table.metrics
    delete(spark, table.storage, "id = 3")

    assert [tuple(row) for row in first.collect()] == [(2,)]
    assert file.deletion_vector is not None
    assert file.deletion_vector.cardinality == 2
    stats = parse_stats(file.stats)
    assert stats is not None
    assert (stats.num_records, stats.tight_bounds) == (10, False)
    assert [row[0] for row in table.rows()] == [1, 2, 4, 5, 6, 7, 8]
    assert metrics_of_first == {
        "numRemovedFiles": "0",
        "numCopiedRows": "0",
        "numDeletedRows": "2",
        "numAddedFiles": "0",
        "numAddedChangeFiles": "0",
        "numDeletionVectorsAdded": "1",
        "numDeletionVectorsRemoved": "0",
        "numDeletionVectorsUpdated": "0",
    }
    assert table.metrics == metrics_of_first | {
        "numDeletedRows": "1",
        "numDeletionVectorsRemoved": "1",
        "numDeletionVectorsUpdated": "1",
    }
    assert table.info.operation_parameters == {"predicate": '["(id = 3L)"]'}


def test_rows_that_are_gone_already_make_no_commit(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS)
    delete(spark, table.storage, "id = 3")

    again = delete(spark, table.storage, "id = 3")

    assert [tuple(row) for row in again.collect()] == [(0,)]
    assert table.version == 1


def test_a_file_without_a_row_left_is_removed_with_its_old_vector(
    spark: SparkSession, tmp_path: Path
) -> None:
    properties = VECTORS | FEED
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=properties)
    delete(spark, table.storage, "id = 3")
    [file] = table.snapshot.files()

    delete(spark, table.storage, "v < 1000")

    [remove] = table.last.removes
    assert table.last.adds == ()
    assert remove.deletion_vector == file.deletion_vector
    assert table.metrics == {
        "numRemovedFiles": "1",
        "numCopiedRows": "0",
        "numDeletedRows": "3",
        "numAddedFiles": "0",
        "numAddedChangeFiles": "0",
        "numDeletionVectorsAdded": "0",
        "numDeletionVectorsRemoved": "1",
        "numDeletionVectorsUpdated": "0",
    }
    assert table.changes(1) == [
        (0, 0, 0, "delete", 2),
        (1, 10, 1, "delete", 2),
        (2, 20, 0, "delete", 2),
        (3, 30, 1, "delete", 1),
    ]


@pytest.mark.parametrize("properties", [{}, FEED, MAPPED | FEED], ids=["plain", "feed", "mapped"])
def test_without_vectors_only_files_with_such_rows_are_written_anew(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=properties)
    table.append(numbers(spark, 4, 8))
    table.append(numbers(spark, 8, 9))
    before = {file.path for file in table.snapshot.files()}

    delete(spark, table.storage, "id in (1, 8)")

    assert [row[0] for row in table.rows()] == [0, 2, 3, 4, 5, 6, 7]
    assert len(before & {file.path for file in table.snapshot.files()}) == 1
    assert table.metrics["numCopiedRows"] == "3"
    assert table.metrics["numDeletedRows"] == "2"
    assert table.metrics["numRemovedFiles"] == "2"
    has_feed = "delta.enableChangeDataFeed" in properties
    assert bool(table.last.cdc_files) is has_feed
    if has_feed:
        assert table.changes(3) == [(1, 10, 1, "delete", 3), (8, 80, 0, "delete", 3)]


def test_a_vector_is_gone_once_its_file_is_written_anew(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 5), properties=VECTORS | FEED)
    delete(spark, table.storage, "id = 0")
    spark.conf.set("spark.databricks.delta.delete.deletionVectors.persistent", "false")
    try:
        delete(spark, table.storage, "id = 1")
    finally:
        spark.conf.unset("spark.databricks.delta.delete.deletionVectors.persistent")

    [file] = table.snapshot.files()
    [remove] = table.last.removes
    assert file.deletion_vector is None
    assert remove.deletion_vector is not None
    assert [row[0] for row in table.rows()] == [2, 3, 4]
    assert table.changes(2) == [(1, 10, 1, "delete", 2)]


def test_a_file_that_is_mostly_gone_is_written_anew(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS)
    spark.conf.set("spark.truckee.dml.rewriteRatio", "0.5")
    spark.conf.set("spark.truckee.dml.rewriteMinBytes", "0")
    caplog.set_level("DEBUG")
    try:
        delete(spark, table.storage, "id < 5")
        half = table.metrics["numDeletionVectorsAdded"]
        [before] = table.snapshot.files()
        delete(spark, table.storage, "id = 5")
    finally:
        spark.conf.unset("spark.truckee.dml.rewriteRatio")
        spark.conf.unset("spark.truckee.dml.rewriteMinBytes")

    [file] = table.snapshot.files()
    assert half == "1"
    assert file.deletion_vector is None
    assert [row[0] for row in table.rows()] == [6, 7, 8, 9]
    size = int(0.6 * before.size)
    assert (
        f"DELETE: {before.path} is written anew, for 60% of its rows are gone and each scan would "
        f"read past {size} bytes of them"
    ) in caplog.messages


@pytest.mark.parametrize("properties", [{}, VECTORS | FEED], ids=["plain", "vectors"])
def test_null_is_not_true(spark: SparkSession, tmp_path: Path, properties: dict[str, str]) -> None:
    rows = spark.createDataFrame([(1, None), (2, 5), (3, 7)], "id long, v int").coalesce(1)
    table = create_table(spark, tmp_path / "t", rows, properties=properties)

    delete(spark, table.storage, "v > 6")
    delete(spark, table.storage, "v = null")
    delete(spark, table.storage, "not (v > 6)")

    assert table.rows() == [(1, None)]


def test_partitions_are_removed_without_looking_into_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = numbers(spark, 0, 10)
    table = create_table(
        spark, tmp_path / "t", rows, properties=VECTORS | FEED, partition_by=["part"]
    )
    for path in tmp_path.rglob("part=1/*.parquet"):
        path.write_bytes(b"not looked at")

    done = delete(spark, table.storage, F.col("part") % 2 == 1)

    assert [tuple(row) for row in done.collect()] == [(5,)]
    assert [row[0] for row in table.rows()] == [0, 2, 4, 6, 8]
    assert table.metrics["numDeletedRows"] == "5"
    assert table.metrics["numRemovedFiles"] == "1"
    assert table.last.cdc_files == ()


@pytest.mark.parametrize("condition", [None, "true", "1 = 1"])
def test_without_a_condition_every_file_is_removed(
    spark: SparkSession, tmp_path: Path, condition: str | None
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 3)).append(numbers(spark, 3, 5))

    done = delete(spark, table.storage, condition)

    assert [tuple(row) for row in done.collect()] == [(5,)]
    assert table.rows() == []
    expected = "[]" if condition is None else '["true"]'
    assert table.info.operation_parameters == {"predicate": expected}


def test_names_may_have_the_alias_before_them(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 3), properties=VECTORS)

    delete(spark, table.storage, "t.ID = 1", alias="t")
    delete(spark, table.storage, F.col("t.v") == 20, alias="t")

    assert [row[0] for row in table.rows()] == [0]


def test_files_that_cannot_hold_such_rows_are_left_out(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 3), properties=VECTORS)
    [first] = table.snapshot.files()
    table.append(numbers(spark, 100, 103))
    (table.path / first.path).write_bytes(b"not looked at")

    delete(spark, table.storage, "id = 101")

    assert table.metrics["numDeletedRows"] == "1"
