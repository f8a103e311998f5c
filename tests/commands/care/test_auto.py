"""Optimized writes and auto compaction: tables that keep their own files few and large."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from dml_tables import FEED, Table, create_table, numbers
from session_settings import set_as
from truckee.commands.after_commit import add_follow_up, rows_committed
from truckee.errors.options import IllegalOptionError
from truckee.table import DeltaTable
from truckee.writer import write
from writing import rust_rows

COMPACTS = {"delta.autoOptimize.autoCompact": "true"}
OPTIMIZES = {"delta.autoOptimize.optimizeWrite": "true"}
FEW = {"spark.databricks.delta.autoCompact.minNumFiles": "4"}


def scattered(spark: SparkSession) -> DataFrame:
    """Rows of two partitions, spread over four tasks."""
    return spark.range(0, 400, 1, 4).selectExpr(
        "id", "cast(id as int) v", "cast(id % 2 as int) part"
    )


def created(path: Path, rows: DataFrame, **options: Any) -> Table:
    write(rows).partitionBy("part").options(**options).save(str(path))
    return Table(rows.sparkSession, path)


def test_optimized_writes_make_one_file_a_partition(spark: SparkSession, tmp_path: Path) -> None:
    plain = created(tmp_path / "a", scattered(spark))
    by_option = created(tmp_path / "b", scattered(spark), optimizeWrite="true")
    by_table = created(tmp_path / "c", scattered(spark), **OPTIMIZES)
    with set_as(spark, {"spark.databricks.delta.optimizeWrite.enabled": "true"}):
        by_session = created(tmp_path / "d", scattered(spark))
    with set_as(spark, {"spark.databricks.delta.optimizeWrite.enabled": "false"}):
        by_none = created(tmp_path / "e", scattered(spark), **OPTIMIZES)
    overruled = created(tmp_path / "f", scattered(spark), **OPTIMIZES, optimizeWrite="false")

    tables = (plain, by_option, by_table, by_session, by_none, overruled)
    assert [table.snapshot.num_files for table in tables] == [8, 2, 2, 2, 8, 8]
    assert by_option.rows() == plain.rows()
    assert len(rust_rows(by_table.path)) == 400


def test_optimized_writes_hold_for_updates_and_without_partitions(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(scattered(spark)).options(**OPTIMIZES, **FEED).save(str(tmp_path / "t"))
    table = Table(spark, tmp_path / "t")

    DeltaTable.forPath(spark, str(table.path)).update("id % 2 = 0", {"v": "-1"})

    assert table.snapshot.num_files == 1
    assert len(table.last.adds) == 1
    assert len(table.changes(1)) == 400


def test_a_bin_size_that_is_none_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with (
        set_as(spark, {"spark.databricks.delta.optimizeWrite.binSize": "much"}),
        pytest.raises(IllegalOptionError),
    ):
        created(tmp_path / "t", scattered(spark), optimizeWrite="true")


def test_many_small_files_are_compacted_after_the_write_that_made_them_many(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 2), properties=COMPACTS | FEED)
    with set_as(spark, FEW):
        table.append(numbers(spark, 2, 4)).append(numbers(spark, 4, 6))
        assert (table.version, table.snapshot.num_files) == (2, 3)

        table.append(numbers(spark, 6, 8))

    assert (table.version, table.snapshot.num_files) == (4, 1)
    assert [row[0] for row in table.rows()] == list(range(8))
    assert table.info.operation == "OPTIMIZE"
    assert (table.info.operation_parameters or {})["auto"] is True
    assert table.changes(4) == []


def test_only_partitions_that_were_written_to_are_compacted(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = created(tmp_path / "t", scattered(spark))
    with set_as(spark, {**FEW, "spark.databricks.delta.autoCompact.enabled": "true"}):
        table.append(numbers(spark, 1000, 1001))

    by_part = [file.partition_values["part"] for file in table.snapshot.files()]
    assert sorted(map(str, by_part)) == ["0", "1", "1", "1", "1"]


def test_commands_are_followed_too_and_the_session_can_switch_it_off(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = created(tmp_path / "t", scattered(spark), **COMPACTS)
    opened = DeltaTable.forPath(spark, str(table.path))
    with set_as(spark, {**FEW, "spark.databricks.delta.autoCompact.enabled": "false"}):
        opened.update("id = 1", {"v": "0"})
    assert table.info.operation == "UPDATE"

    with set_as(spark, FEW):
        opened.update("id = 1", {"v": "1"})

    assert table.info.operation == "OPTIMIZE"
    assert len(table.rows()) == 400


def test_what_fails_after_a_commit_is_logged_and_raises_nothing(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 2))

    def fail(*_: object) -> None:
        raise ValueError("out of luck")

    add_follow_up("a test", fail)
    try:
        with caplog.at_level(logging.WARNING):
            rows_committed(spark, table.storage, 0, table.snapshot.metadata)
    finally:
        add_follow_up("a test", lambda *_: None)

    assert caplog.messages == [f"a test after version 0 of {table.path} failed: out of luck"]
