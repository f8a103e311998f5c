"""Arguments in the wrong place, paths of every kind, and places where no table can be."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import SparkSession

import truckee
from truckee import DeltaTable
from truckee.errors import NotADeltaTableError, StorageError, StoragePermissionError
from truckee.streaming.sink import write_batch


@pytest.mark.parametrize(
    "swapped",
    [
        lambda spark: truckee.read("/data/t"),
        lambda spark: truckee.readStream("/data/t"),
        lambda spark: truckee.table_changes("/data/t", spark, 0),
        lambda spark: DeltaTable.forPath("/data/t", spark),
        lambda spark: DeltaTable.forName("/data/t", spark),
        lambda spark: DeltaTable.isDeltaTable("/data/t", spark),
        lambda spark: DeltaTable.convertToDelta("/data/t", spark),
        lambda spark: DeltaTable.create("/data/t"),
    ],
)
def test_a_path_in_place_of_the_session_is_told(
    spark: SparkSession, swapped: Callable[[SparkSession], Any]
) -> None:
    with pytest.raises(TypeError) as caught:
        swapped(spark)

    assert str(caught.value) == (
        "[DELTA_INVALID_ARGUMENT] the first argument must be a SparkSession, as in "
        "truckee.read(spark) or DeltaTable.forPath(spark, path); found str"
    )


def test_a_frame_of_pandas_is_told_from_one_of_spark(spark: SparkSession, tmp_path: Path) -> None:
    rows = pd.DataFrame({"id": [1]})
    truckee.write(spark.range(1)).save(tmp_path / "t")
    table = DeltaTable.forPath(spark, tmp_path / "t")

    for what, give in (
        ("what is written", lambda: truckee.write(rows)),
        ("the source of MERGE", lambda: table.merge(rows, "true")),
    ):
        with pytest.raises(TypeError) as caught:
            give()
        assert str(caught.value) == (
            f"[DELTA_INVALID_ARGUMENT] {what} must be a DataFrame of Spark, made with "
            "spark.createDataFrame(...); found pandas.DataFrame"
        )


def test_a_path_is_taken_as_text_and_as_a_path(spark: SparkSession, tmp_path: Path) -> None:
    path, copy, folder = tmp_path / "t", tmp_path / "copy", tmp_path / "parquet"
    new = DeltaTable.create(spark).location(path).addColumn("id", "long")
    new.property("delta.enableChangeDataFeed", "true").execute()
    truckee.write(spark.range(3)).mode("append").save(path)
    stream = truckee.readStream(spark).load(path).writeStream.foreachBatch(write_batch(copy))
    stream = stream.option("checkpointLocation", str(tmp_path / "cp")).trigger(availableNow=True)
    stream.start().awaitTermination()
    spark.range(3).write.parquet(str(folder))

    assert DeltaTable.isDeltaTable(spark, path)
    assert truckee.read(spark).load(path).count() == 3
    assert DeltaTable.forPath(spark, copy).toDF().count() == 3
    assert DeltaTable.convertToDelta(spark, folder).toDF().count() == 3
    assert truckee.table_changes(spark, path, 0).count() == 3


def test_what_is_no_path_is_told(spark: SparkSession) -> None:
    with pytest.raises(TypeError, match=r"path must be a string or a pathlib\.Path; found int"):
        truckee.read(spark).load(7)  # type: ignore[arg-type]


def test_a_path_that_does_not_exist_says_so(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(NotADeltaTableError, match=r"Path does not exist: .* is not a Delta table"):
        truckee.read(spark).load(tmp_path / "nothing")


def test_a_file_where_the_table_should_be(spark: SparkSession, tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("no table")

    with pytest.raises(NotADeltaTableError, match="it is a file, not a folder"):
        truckee.read(spark).load(file)
    for place in (file, file / "t"):
        with pytest.raises(StorageError) as caught:
            truckee.write(spark.range(3)).save(place)
        assert str(caught.value).endswith(
            f"cannot write to {place}: {file} is a file, and no folder"
        )


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write to folders that are read-only")
def test_a_folder_that_is_read_only(spark: SparkSession, tmp_path: Path) -> None:
    tmp_path.chmod(0o555)

    with pytest.raises(StoragePermissionError, match=f"{tmp_path} is read-only"):
        truckee.write(spark.range(3)).save(tmp_path / "t")
