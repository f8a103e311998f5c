"""The ids of row tracking in `_metadata`: what files hold, else what the log gives them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import truckee
from changelog_cases import ROW_ID, ROW_VERSION, TRACKED
from data_tables import DataTable, mapped, marked, vector
from plans import plan_text, rows, rows_scanned
from session_settings import set_as
from truckee.errors.columns import SchemaChangedSinceAnalysisError
from truckee.protocol.actions import AddFile

IDS = ("_metadata.row_id", "_metadata.row_commit_version")


def tracked(file: AddFile, base: int | None, version: int | None) -> AddFile:
    return replace(file, base_row_id=base, default_row_commit_version=version)


def file_with_ids(
    table: DataTable, name: str, data: dict[str, Any], ids: list[Any], versions: list[Any]
) -> AddFile:
    held = {ROW_ID: pa.array(ids, pa.int64()), ROW_VERSION: pa.array(versions, pa.int64())}
    return table.file(name, pa.table({**data, **held}))


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    """A file without ids of its own, one that holds some, and one with a vector and a base of 0.

    | id | row_id | version |
    |----|--------|---------|
    | 1  | 100    | 1       |
    | 2  | 101    | 1       |
    | 3  | 7      | 1       |
    | 4  | 201    | 0       |
    | 5  | 8      | 2       |
    | 7  | 1      | 3       |
    """
    table = DataTable(tmp_path / "t", "id long", "row_id string", properties=TRACKED)
    plain = table.file("plain.parquet", {"id": [1, 2], "row_id": ["a", "b"]})
    data = {"id": [3, 4, 5], "row_id": ["c", "d", "e"]}
    held = file_with_ids(table, "held.parquet", data, [7, None, 8], [None, 0, 2])
    cut = tracked(table.file("cut.parquet", {"id": [6, 7], "row_id": ["f", "g"]}), 0, 3)
    table.commit(tracked(plain, 100, 1), tracked(held, 200, 1), cut)
    table.commit(*marked(cut, vector(0)))
    return table


EXPECTED = [(1, 100, 1), (2, 101, 1), (3, 7, 1), (4, 201, 0), (5, 8, 2), (7, 1, 3)]


@pytest.fixture
def frame(spark: SparkSession, table: DataTable) -> DataFrame:
    return truckee.read(spark).load(str(table))


@pytest.mark.parametrize("is_vectorized", ["true", "false"])
def test_ids_and_versions_are_those_of_the_file_or_of_the_log(
    spark: SparkSession, table: DataTable, is_vectorized: str
) -> None:
    with set_as(spark, {"spark.sql.parquet.enableVectorizedReader": is_vectorized}):
        frame = truckee.read(spark).load(str(table))

        assert rows(frame.select("id", *IDS)) == EXPECTED
        whole = frame.select("_metadata", "id").where("id = 5").first()

    assert whole is not None
    shown = whole["_metadata"]
    assert (shown.file_name, shown.row_index, shown.row_id) == ("held.parquet", 2, 8)
    numbers = (shown.base_row_id, shown.default_row_commit_version, shown.row_commit_version)
    assert numbers == (200, 1, 2)


def test_ids_are_filtered_joined_and_shown_beside_other_columns_of_metadata(
    frame: DataFrame,
) -> None:
    ids = frame.select("id", F.col("_metadata.row_id").alias("number"))
    joined = ids.join(frame.select(F.col("_metadata.row_id").alias("number")), "number")
    found = frame.where("_metadata.row_id >= 100 and _metadata.file_name = 'held.parquet'")

    assert rows(joined.select("id")) == [n for n, _, _ in EXPECTED]
    assert rows(found.select("id", "_metadata.file_name", "_metadata.row_index")) == [
        (4, "held.parquet", 1)
    ]
    assert rows(frame.where("_metadata.row_commit_version = 1 and id > 1").select("id")) == [2, 3]
    assert frame.selectExpr("max(_metadata.row_id)").first() == (201,)


def test_a_column_of_the_table_is_not_taken_for_one_of_metadata(frame: DataFrame) -> None:
    """The table has a column `row_id`, whose statistics know nothing of these numbers."""
    found = frame.where("_metadata.row_id = 101 and row_id = 'b'")

    assert rows(found.select("id", "row_id")) == [(2, "b")]


def test_a_query_that_does_not_ask_for_ids_does_not_read_them(
    spark: SparkSession, frame: DataFrame, table: DataTable, tmp_path: Path
) -> None:
    plain = DataTable(tmp_path / "plain", "id long", "row_id string", properties={})
    plain.commit(*(plain.file(f"{n}.parquet", {"id": [n], "row_id": ["x"]}) for n in range(3)))
    other = truckee.read(spark).load(str(plain))

    def scanned(rows: DataFrame) -> list[str]:
        shown = plan_text(rows.where("id > 1"), "formatted").splitlines()
        kept = ("Output", "ReadSchema", "Pushed")
        return [line.split("#")[0] for line in shown if line.startswith(kept)]

    assert scanned(frame) == scanned(other)
    assert "row_commit_version" not in plan_text(frame)
    assert "row_commit_version" in plan_text(frame.select(*IDS))
    assert rows_scanned(frame) == len(EXPECTED)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_ids_are_read_beside_mapped_columns(spark: SparkSession, tmp_path: Path, mode: str) -> None:
    properties = {**TRACKED, "delta.columnMapping.mode": mode}
    table = DataTable(tmp_path / "t", mapped("id", "long", 1), properties=properties)
    number = pa.field("col-1", pa.int64(), metadata={"PARQUET:field_id": "1"})
    held = pa.field(ROW_ID, pa.int64())
    data = pa.table([[1, 2], [None, 9]], schema=pa.schema([number, held]))
    table.commit(tracked(table.file("a.parquet", data), 4, 1))

    frame = truckee.read(spark).load(str(table))

    assert rows(frame.select("id", *IDS)) == [(1, 4, 1), (2, 9, 1)]


def test_ids_are_read_in_partitions_and_older_versions(spark: SparkSession, tmp_path: Path) -> None:
    columns = ("id long", "p string")
    table = DataTable(tmp_path / "t", *columns, partition_by=("p",), properties=TRACKED)
    for n, p in enumerate("xy"):
        file = table.file(f"{p}.parquet", {"id": [n, n + 10]}, partition={"p": p})
        table.commit(tracked(file, 2 * n, n + 1))

    reader = truckee.read(spark)
    new, old = reader.load(str(table)), reader.option("versionAsOf", 1).load(str(table))

    assert rows(new.where("p = 'y'").select("p", "id", *IDS)) == [("y", 1, 2, 2), ("y", 11, 3, 2)]
    assert rows(old.select("p", "id", *IDS)) == [("x", 0, 0, 1), ("x", 10, 1, 1)]


def test_a_table_without_row_tracking_has_no_ids(spark: SparkSession, tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", "id long", properties={})
    table.commit(tracked(table.file("a.parquet", {"id": [1]}), 4, 1))

    with pytest.raises(AnalysisException, match="FIELD_NOT_FOUND"):
        truckee.read(spark).load(str(table)).select("_metadata.row_id")


def test_a_file_without_a_base_has_only_the_ids_that_it_holds(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = DataTable(tmp_path / "t", "id long", properties=TRACKED)
    held = file_with_ids(table, "a.parquet", {"id": [1, 2]}, [5, None], [None, 1])
    table.commit(held)

    frame = truckee.read(spark).load(str(table))

    assert rows(frame.select("id", *IDS)) == [(1, 5, None), (2, None, 1)]


def test_ids_of_a_table_that_now_stores_them_elsewhere_are_not_guessed(
    frame: DataFrame, table: DataTable
) -> None:
    renamed = {key: value.replace("col", "other") for key, value in TRACKED.items()}
    table.commit(replace(table.metadata, configuration=renamed))

    with pytest.raises(SchemaChangedSinceAnalysisError):
        frame.select(*IDS).collect()
