"""The logger `truckee` tells at INFO what a command did, at DEBUG why, and prints nothing."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee import DeltaTable, write

PROPERTIES = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def orders(spark: SparkSession, folder: Path) -> DeltaTable:
    path = str(folder / "lake" / "orders")
    rows = spark.range(100).selectExpr("id", "id % 7 AS n").repartitionByRange(2, "id")
    write(rows).options(**PROPERTIES).save(path)
    return DeltaTable.forPath(spark, path)


def test_info_tells_what_each_command_did_in_one_line(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO", logger="truckee")
    table = orders(spark, tmp_path)
    table.delete("id = 3")
    table.update("id = 4", {"n": "0"})

    lines = [r.message for r in caplog.records if r.name.startswith("truckee.log")]
    assert [re.sub(r"\d+\.\d\d s", "0.00 s", line) for line in lines] == [
        "WRITE lake/orders: version 0, 2 files added, metadata set, 100 rows written, 0.00 s",
        "DELETE lake/orders: version 1, 1 file given another deletion vector, "
        "1 row deleted, 0.00 s",
        "UPDATE lake/orders: version 2, 1 file added, 1 file given another deletion vector, "
        "1 file of changes, 1 row updated, 0.00 s",
    ]
    assert {r.levelname for r in caplog.records if r.name.startswith("truckee")} == {"INFO"}


def test_debug_tells_which_files_were_pruned_which_vectors_loaded_and_what_was_chosen(
    spark: SparkSession, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    table = orders(spark, tmp_path)
    table.delete("id = 3")
    caplog.set_level("DEBUG", logger="truckee")

    table.delete("id = 5")

    said = {(r.name.split(".")[1], r.message) for r in caplog.records if r.levelname == "DEBUG"}
    assert {
        ("log", "lake/orders: version 1 is read from no checkpoint and 2 commits"),
        ("scan", "1 of 2 files are read, 1 pruned"),
        ("deletion_vectors", "1 deletion vectors are loaded, in 1 requests"),
        ("commands", "DELETE: 0 files removed, 0 written anew, rows of 1 marked"),
    } <= said


def test_nothing_is_printed_by_a_command_that_went_well(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    table = orders(spark, tmp_path)

    table.delete("id = 3")

    assert capfd.readouterr() == ("", "")
