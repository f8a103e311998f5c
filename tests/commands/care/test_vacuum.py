"""VACUUM through Spark: what it returns, and that the rows and the feed are what they were."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from deltalake import DeltaTable as RustTable
from pyspark.sql import SparkSession

from dml_tables import FEED, VECTORS, Table, create_table, numbers
from session_settings import set_as
from truckee.commands.care.vacuum import vacuum
from truckee.commands.dml.delete import delete
from truckee.commands.dml.update import update
from truckee.errors.changes import ChangeDataFileNotFoundError
from truckee.errors.commands.care import RETENTION_CHECK, InventoryError, RetentionTooShortError
from truckee.errors.deletion_vectors import MissingDeletionVectorError
from truckee.errors.options import IllegalOptionError
from truckee.table import DeltaTable
from writing import rust_rows

ORPHAN = "part=0/orphan.parquet"
UNCHECKED = {RETENTION_CHECK: "false"}


def table_with_history(spark: SparkSession, path: Path) -> Table:
    """Rows deleted by vectors, updated with change files, and a file of nobody."""
    table = create_table(
        spark, path, numbers(spark, 0, 10), properties=VECTORS | FEED, partition_by=["part"]
    )
    delete(spark, table.storage, "id = 3")
    update(spark, table.storage, "id = 4", {"v": "-1"})
    delete(spark, table.storage, "part = 0 and id < 9")
    put_orphan(table)
    return table


def put_orphan(table: Table) -> Path:
    """Put a file of nobody into the table's folder."""
    orphan = table.path / ORPHAN
    orphan.parent.mkdir(parents=True, exist_ok=True)
    orphan.write_bytes(b"")
    os.utime(orphan, (0, 0))
    return orphan


def test_vacuum_deletes_what_its_dry_run_named_and_no_row(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = table_with_history(spark, tmp_path / "t")
    rows, files, version = table.rows(), table.files_on_disk(), table.version

    with set_as(spark, UNCHECKED):
        named = vacuum(spark, table.storage, retention_hours=0, dry_run=True)
        paths = {row.path.removeprefix(f"file:{table.path}/") for row in named.collect()}
        assert (named.columns, table.version) == (["path"], version)
        assert table.files_on_disk() == files

        answer = vacuum(spark, table.storage, retention_hours=0)

    assert [row.path for row in answer.collect()] == [f"file:{table.path}"]
    assert files - table.files_on_disk() == paths
    assert ORPHAN in paths
    assert table.rows() == rows == [(i, i * 10, 1) for i in (1, 5, 7, 9)]
    assert [row["id"] for row in rust_rows(table.path)] == [1, 5, 7, 9]
    with pytest.raises((ChangeDataFileNotFoundError, MissingDeletionVectorError)):
        table.changes(1)


def test_the_method_answers_with_an_empty_frame_and_keeps_the_retention(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = table_with_history(spark, tmp_path / "t")
    files = table.files_on_disk()
    named = DeltaTable.forPath(spark, str(table.path))

    answer = named.vacuum()

    assert (answer.columns, answer.count()) == ([], 0)
    assert table.files_on_disk() == files - {ORPHAN}
    assert [e.operation for e in named.history(2).collect()] == ["VACUUM END", "VACUUM START"]
    with pytest.raises(RetentionTooShortError):
        named.vacuum(1)
    with set_as(spark, UNCHECKED):
        named.vacuum(0, protect=[1])
    assert table.files_on_disk() == files - {ORPHAN}


def test_tasks_of_spark_delete_if_asked_to(spark: SparkSession, tmp_path: Path) -> None:
    table = table_with_history(spark, tmp_path / "t")
    parallel = {
        "spark.databricks.delta.vacuum.parallelDelete.enabled": "true",
        "spark.databricks.delta.vacuum.parallelDelete.parallelism": "2",
    }

    with set_as(spark, UNCHECKED | parallel):
        named = vacuum(spark, table.storage, retention_hours=0, dry_run=True).count()
        vacuum(spark, table.storage, retention_hours=0)

    assert int(table.metrics["numDeletedFiles"]) == named > 3
    assert len(table.rows()) == 4


def test_an_inventory_is_a_frame_of_four_columns(spark: SparkSession, tmp_path: Path) -> None:
    table = table_with_history(spark, tmp_path / "t")
    orphan = f"file:{table.path}/{ORPHAN}"
    rows = spark.createDataFrame(
        [(orphan, 0, False, 0, "more")],
        "path string, length long, isDir boolean, modificationTime long, more string",
    )

    named = vacuum(spark, table.storage, inventory=rows, dry_run=True)

    assert [row.path for row in named.collect()] == [orphan]
    with pytest.raises(InventoryError):
        vacuum(spark, table.storage, inventory=rows.drop("isDir"))
    with pytest.raises(IllegalOptionError):
        vacuum(spark, table.storage, inventory=rows, mode="LITE")


def test_a_dry_run_of_deltalake_names_the_same_files(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), partition_by=["part"])
    delete(spark, table.storage, "id = 3")
    delete(spark, table.storage, "id = 4")
    put_orphan(table)

    theirs = RustTable(str(table.path)).vacuum(
        0, dry_run=True, enforce_retention_duration=False, full=True
    )
    with set_as(spark, UNCHECKED):
        ours = vacuum(spark, table.storage, retention_hours=0, dry_run=True).collect()

    # deltalake takes Hadoop's checksums by themselves; we delete them along with their files.
    theirs = [path for path in theirs if not path.endswith(".crc")]
    assert {row.path.removeprefix(f"file:{table.path}/") for row in ours} == set(theirs)
    assert len(theirs) == 3
