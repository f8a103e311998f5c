"""Clones through Spark: their rows, whatever becomes of the source."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dml_tables import FEED, VECTORS, Table, create_table, numbers, ordered
from session_settings import set_as
from truckee.commands.care.clone import CLONE_RESULT_COLUMNS, CloneRequest, clone
from truckee.commands.care.vacuum import vacuum
from truckee.commands.dml.delete import delete
from truckee.commands.dml.update import update
from truckee.errors.commands.care import RETENTION_CHECK
from truckee.errors.spark import DataFileNotFoundError
from truckee.table import DeltaTable
from writing import rust_rows

ROWS = [(i, i * 10, i % 2) for i in (0, 2, 3, 4, 5)]


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Table:
    made = create_table(
        spark,
        tmp_path / "a b%20c",
        numbers(spark, 0, 6),
        properties=VECTORS | FEED,
        partition_by=["part"],
    )
    delete(spark, made.storage, "id = 1")
    return made


def test_a_shallow_clone_reads_its_source_and_writes_itself(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    copy = Table(spark, tmp_path / "copy")

    cloned = DeltaTable.forPath(spark, str(table.path)).clone(str(copy.path), isShallow=True)

    assert ordered(cloned.toDF()) == copy.rows() == ROWS
    assert copy.files_on_disk() == set()
    assert copy.changes(0) == [(*row, "insert", 0) for row in ROWS]
    cloned.delete("id = 2")
    update(spark, copy.storage, "id = 3", {"v": "-1"})
    assert table.rows() == ROWS
    assert [row[0] for row in copy.rows()] == [0, 3, 4, 5]
    assert copy.changes(1, 1) == [(2, 20, 0, "delete", 1)]
    delete(spark, table.storage)
    assert [row[0] for row in copy.rows()] == [0, 3, 4, 5]
    with set_as(spark, {RETENTION_CHECK: "false"}):
        vacuum(spark, table.storage, retention_hours=0)
    with pytest.raises(DataFileNotFoundError):
        copy.rows()


def test_a_deep_clone_outlives_its_source(
    spark: SparkSession, table: Table, tmp_path: Path
) -> None:
    delete(spark, table.storage, "id = 5")

    answer = clone(
        spark, table.storage, str(tmp_path / "copy"), CloneRequest(properties={"x": "1"}), version=1
    )

    copy = Table(spark, tmp_path / "copy")
    assert answer.columns == list(CLONE_RESULT_COLUMNS)
    assert answer.first()["num_copied_files"] == len(copy.files_on_disk()) == 3
    shutil.rmtree(table.path)
    assert copy.rows() == ROWS
    assert sorted(row["id"] for row in rust_rows(copy.path)) == [0, 2, 3, 4, 5]
    assert copy.info.operation_parameters["sourceVersion"] == 1
    assert copy.snapshot.metadata.configuration["x"] == "1"
