"""The file index as Spark sees it: names, sizes, and one index asked by many."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StringType

import truckee
from data_tables import DataTable, mapped, marked, vector
from plans import files_read, plan_text, rows, size_in_bytes
from truckee.errors.base import DeltaError
from truckee.scan.scan_file import ScanFile
from truckee.spark.read.relations import Constant, pack
from truckee.spark.read.scan import FileRead, file_url


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    """Version 1 has four files of a hundred rows; at version 2, one of them has a vector."""
    table = DataTable(tmp_path / "t", "id long", "name string")
    files = [
        table.file(
            f"{n}.parquet",
            {"id": list(range(100 * n, 100 * n + 100)), "name": [f"n{n}"] * 100},
        )
        for n in range(4)
    ]
    table.commit(*files)
    table.commit(*marked(files[3], vector(7)))
    return table


@pytest.fixture
def frame(spark: SparkSession, table: DataTable) -> DataFrame:
    return truckee.read(spark).load(str(table))


def test_a_plan_names_the_version_and_its_files(spark: SparkSession, table: DataTable) -> None:
    frame = truckee.read(spark).option("versionAsOf", 1).load(str(table))

    for mode in ("simple", "extended", "formatted"):
        shown = plan_text(frame, mode)
        assert "TruckeeFiles" in shown
        assert "[/version 1, 4 files, " in shown
        assert "$Proxy" not in shown


def test_a_plan_with_vectors_stays_short(frame: DataFrame, spark: SparkSession) -> None:
    frame.count()

    assert "[/version 2 or later, 4 files, 1 with deletion vectors, " in plan_text(frame)
    assert plan_text(frame).count("FileScan truckee") == 1
    assert len(plan_text(frame)) < 3000


def test_a_feed_names_where_it_starts(spark: SparkSession, table: DataTable) -> None:
    feed = truckee.table_changes(spark, str(table), 1)

    shown = plan_text(feed)

    assert "[/changes from version 1, 4 files, 1 with deletion vectors, " in shown
    assert shown.count("FileScan truckee") == 1


def test_the_size_is_that_of_the_files(frame: DataFrame, table: DataTable) -> None:
    on_disk = sum(path.stat().st_size for path in table.path.glob("*.parquet"))

    assert size_in_bytes(frame) == pytest.approx(on_disk, rel=0.5)
    assert size_in_bytes(frame) >= on_disk // 2


def test_the_size_of_a_feed_is_that_of_its_files(spark: SparkSession, table: DataTable) -> None:
    on_disk = sum(path.stat().st_size for path in table.path.glob("*.parquet"))
    feed = truckee.table_changes(spark, str(table), 1)

    assert on_disk // 2 <= size_in_bytes(feed) <= 3 * on_disk


def test_a_small_table_is_broadcast(spark: SparkSession, frame: DataFrame) -> None:
    joined = spark.range(10_000_000).join(frame, "id")

    assert "BroadcastHashJoin" in plan_text(joined)


def test_input_files_are_those_of_the_table(frame: DataFrame, table: DataTable) -> None:
    assert sorted(frame.inputFiles()) == [f"file://{table.path}/{n}.parquet" for n in range(4)]


def test_there_is_one_scan_with_and_without_vectors(frame: DataFrame) -> None:
    assert files_read(frame) == [4]


def test_rows_know_their_file_and_their_place_in_it(frame: DataFrame, table: DataTable) -> None:
    places = frame.select(
        "id",
        "_metadata.file_name",
        "_metadata.row_index",
        F.element_at(F.split(F.input_file_name(), "/"), -1).alias("input"),
        "_metadata",
    ).where("id >= 205")

    found = {row.id: row for row in places.collect()}

    assert len(found) == 194
    for number, row in found.items():
        assert (row.file_name, row.input) == (f"{number // 100}.parquet",) * 2
        assert row.row_index == row._metadata.row_index == number % 100
        assert row._metadata.file_size == (table.path / row.file_name).stat().st_size


def test_a_column_of_the_table_is_not_taken_for_a_name_of_a_file(
    spark: SparkSession, tmp_path: Path
) -> None:
    """Statistics of the column would leave out the only file that matches."""
    table = DataTable(tmp_path / "t", "file_name string", properties={})
    table.commit(*(table.file(f"{n}.parquet", {"file_name": ["x"]}) for n in range(2)))

    found = truckee.read(spark).load(str(table)).where("_metadata.file_name = '1.parquet'")

    assert rows(found) == ["x"]


def test_changed_rows_know_their_file_too(spark: SparkSession, table: DataTable) -> None:
    feed = truckee.table_changes(spark, str(table), 2)

    found = feed.select("id", "_change_type", "_metadata.file_name", "_metadata.row_index")

    assert rows(found) == [(307, "delete", "3.parquet", 7)]


def test_threads_with_different_filters_get_each_their_own_rows(frame: DataFrame) -> None:
    def read(number: int) -> list[int]:
        low = 100 * (number % 4)
        found: list[int] = rows(frame.where(f"id >= {low} and id < {low + 100}").select("id"))
        return found

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(read, range(16)))

    assert found == [
        [i for i in range(100 * (n % 4), 100 * (n % 4) + 100) if i != 307] for n in range(16)
    ]


def test_a_frame_can_be_used_twice_in_one_query(frame: DataFrame) -> None:
    small, large = frame.where("id < 10"), frame.where("id >= 300")

    assert small.union(large).count() == 10 + 99
    assert small.alias("a").join(frame.alias("b"), "id").count() == 10
    assert frame.where("id in (select max(id) from range(100))").count() == 1


def test_views_see_the_version_that_was_loaded(spark: SparkSession, table: DataTable) -> None:
    truckee.read(spark).option("versionAsOf", 1).load(str(table)).createOrReplaceTempView("old")
    truckee.read(spark).load(str(table)).createOrReplaceTempView("new")

    found = spark.sql("select old.id from old left anti join new on old.id = new.id").collect()

    assert [row.id for row in found] == [307]


def test_a_cached_frame_keeps_its_rows(spark: SparkSession, frame: DataFrame) -> None:
    cached = frame.cache()
    try:
        assert cached.count() == cached.count() == 399
        assert cached.where("id = 307").count() == 0
    finally:
        cached.unpersist()


def test_column_pruning_reaches_the_files(frame: DataFrame) -> None:
    assert "ReadSchema: struct<name:string>" in plan_text(frame.select("name"))


def test_settings_of_the_session_hold_for_tables_mapped_by_id(
    spark: SparkSession, tmp_path: Path
) -> None:
    properties = {"delta.columnMapping.mode": "id"}
    table = DataTable(tmp_path / "ids", mapped("id", "long", 1), properties=properties)
    frame = truckee.read(spark).load(str(table))

    assert frame.sparkSession is spark
    assert spark.conf.get("spark.sql.parquet.fieldId.read.enabled") == "false"


def test_files_cross_to_the_jvm_in_pieces(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("truckee.spark.read.relations.PIECE", 2)
    table = DataTable(tmp_path / "p", "id long", "p integer", partition_by=("p",))
    for number in range(5):
        table.commit(
            table.file(f"{number}.parquet", {"id": [number]}, partition={"p": str(-number)})
        )
    read = truckee.read(spark).load(str(table))

    assert sorted(tuple(row) for row in read.collect()) == [(n, -n) for n in range(5)]

    table.commit(table.file("5.parquet", {"id": [5]}, partition={"p": "five"}))
    with pytest.raises(DeltaError, match=r"file 5\.parquet, .* 'five' for p is not of type"):
        truckee.read(spark).load(str(table)).collect()


@pytest.mark.parametrize(
    ("path", "url"),
    [
        ("a b/c.parquet", "file:///root/t/a b/c.parquet"),
        ("p=x:/y.parquet", "file:///root/t/p=x:/y.parquet"),
        ("/else/c.parquet", "file:///else/c.parquet"),
        ("s3://bucket/c.parquet", "s3://bucket/c.parquet"),
    ],
)
def test_where_a_file_is(path: str, url: str) -> None:
    assert file_url("/root/t", path) == url


def test_files_are_packed_into_one_text() -> None:
    values: list[str | None] = ["", None, "a\0b"]
    constants = [Constant("p", StringType(), lambda file: file.partition_values["p"])]
    files = [
        ScanFile(path=f"{n}", size=n, modification_time=5, partition_values={"p": value}, version=0)
        for n, value in enumerate(values)
    ]
    files[1] = replace(files[1], base_row_id=7, default_row_commit_version=3)
    files[2] = replace(files[2], base_row_id=0)

    reads = [FileRead(file, "5" if file.path == "1" else "") for file in files]

    packed = pack(reads, root="s3://b", constants=constants)

    assert packed.split("\0") == [
        *("s3://b/0", "0", "5", "", "", "+"),
        *("s3://b/1", "1", "5", "5", "7 3", "-"),
        *("s3://b/2", "2", "5", "", "0 ", "=610062"),
        "",
    ]
