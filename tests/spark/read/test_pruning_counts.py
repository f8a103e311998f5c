"""How many files Spark reads for a query: as many as can hold a row of it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

import pytest
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

import truckee
from data_tables import DataTable, mapped, marked, removed, vector, with_vector
from plans import files_read, plan_text, rows, rows_scanned
from truckee.errors import MissingDeletionVectorError
from truckee.protocol.actions import AddFile
from truckee.protocol.deletion_vector import on_disk_with_relative_path

Load = Callable[[DataTable], DataFrame]
MISSING = on_disk_with_relative_path(UUID(int=7), size_in_bytes=34, cardinality=1, offset=1)


@pytest.fixture
def load(spark: SparkSession) -> Load:
    return lambda table: truckee.read(spark).load(str(table))


@pytest.fixture
def table(tmp_path: Path) -> DataTable:
    """Ten files: two for each of five days, with ids 0..9, 10..19 and so on."""
    table = DataTable(tmp_path / "t", "id long", "day date", partition_by=("day",))
    table.commit(*(_file(table, number) for number in range(10)))
    return table


def _file(table: DataTable, number: int) -> AddFile:
    ids = list(range(10 * number, 10 * number + 10))
    day = f"2024-01-{number // 2 + 1:02}"
    return table.file(f"{number}.parquet", {"id": ids}, partition={"day": day})


@pytest.mark.parametrize(
    ("condition", "files", "count"),
    [
        ("true", 10, 100),
        ("day = date'2024-01-02'", 2, 20),
        ("day >= date'2024-01-04'", 4, 40),
        ("day in (date'2024-01-01', date'2024-01-05')", 4, 40),
        ("day is null", 0, 0),
        # No predicate of ours has this form: Spark's own expression is evaluated for each file.
        ("dayofmonth(day) = 3", 2, 20),
        ("date_format(day, 'dd') like '%4'", 2, 20),
        ("day = date'2024-01-02' or dayofmonth(day) = 3", 4, 40),
        ("id = 25", 1, 1),
        ("id < 20", 2, 20),
        ("id between 15 and 34", 3, 20),
        ("id > 94 and day < date'2024-01-05'", 0, 0),
        ("id in (5, 55)", 2, 2),
        ("id is null", 0, 0),
        ("not (id >= 10)", 1, 10),
        # A condition on both at once, Spark keeps to itself.
        ("id = 25 or day = date'2024-01-05'", 10, 21),
        ("id % 50 = 7", 10, 2),
    ],
)
def test_only_files_that_can_match_are_read(
    load: Load, table: DataTable, condition: str, files: int, count: int
) -> None:
    frame = load(table).where(condition)

    assert sum(files_read(frame)) == files
    assert frame.count() == count


def test_a_long_list_of_values_skips_too(load: Load, table: DataTable) -> None:
    wanted = [*range(2, 5), *range(-60, 0)]

    assert sum(files_read(load(table).where(F.col("id").isin(wanted)))) == 1


@pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas:FutureWarning")
def test_a_python_function_of_a_partition_column(load: Load, table: DataTable) -> None:
    is_second = F.udf(lambda day: day.day == 2, "boolean")

    assert load(table).where(is_second("day")).count() == 20


def test_a_join_prunes_by_the_values_of_the_other_side(
    spark: SparkSession, load: Load, table: DataTable
) -> None:
    days = spark.createDataFrame([("2024-01-03", 1)], "d string, wanted int")
    days = days.selectExpr("cast(d as date) as day", "wanted").where("wanted = 1")

    joined = load(table).join(F.broadcast(days), "day")

    assert joined.count() == 20
    assert "dynamicpruning" in plan_text(joined)


def test_statistics_of_mapped_columns_skip_too(spark: SparkSession, tmp_path: Path) -> None:
    properties = {"delta.columnMapping.mode": "name"}
    table = DataTable(tmp_path / "t", mapped("id", "long", 1), properties=properties)
    table.commit(*(table.file(f"{n}.parquet", {"col-1": [n]}) for n in range(4)))

    assert sum(files_read(truckee.read(spark).load(str(table)).where("id = 3"))) == 1


def test_bounds_of_files_with_vectors_skip_though_they_are_wide(
    load: Load, table: DataTable
) -> None:
    file = _file(table, 9)
    table.commit(*marked(file, vector(0)))

    frame = load(table).where("id >= 90")

    assert files_read(frame) == [1]
    assert rows(frame.select("id")) == list(range(91, 100))


def test_a_vector_is_read_only_for_files_that_are(load: Load, table: DataTable) -> None:
    table.commit(*marked(_file(table, 9), MISSING))

    frame = load(table)

    assert frame.where("id < 90").count() == 90
    assert frame.where("day = date'2024-01-02'").count() == 20
    with pytest.raises(MissingDeletionVectorError):
        frame.count()


def test_files_without_a_vector_have_no_filter(load: Load, table: DataTable) -> None:
    text = plan_text(load(table))

    assert "FileScan" in text
    assert "Filter (" not in text
    assert "__truckee" not in text


class TestFeed:
    """Version 1 adds ten files, 2 removes one, 3 marks a row of one, 4 has a change file."""

    @pytest.fixture
    def feed(self, spark: SparkSession, table: DataTable) -> DataFrame:
        table.commit(removed(_file(table, 0)))
        table.commit(*marked(_file(table, 9), vector(3)))
        changes = {"id": [95, 95], "_change_type": ["update_preimage", "update_postimage"]}
        table.commit(table.change_file("c.parquet", changes, partition={"day": "2024-01-05"}))
        reader = truckee.read(spark).option("readChangeFeed", True)
        return reader.option("startingVersion", 1).load(str(table))

    @pytest.mark.parametrize(
        ("condition", "files", "count"),
        [
            ("true", 13, 113),
            ("_commit_version = 1", 10, 100),
            ("_commit_version >= 3", 2, 3),
            ("_change_type = 'delete'", 3, 11),
            ("_change_type = 'insert' and day = date'2024-01-02'", 2, 20),
            ("day = date'2024-01-05'", 4, 23),
            ("_commit_timestamp < timestamp'2001-01-01'", 0, 0),
            ("_commit_version + 0 = 2", 1, 10),
        ],
    )
    def test_columns_of_the_feed_and_partitions_leave_out_files(
        self, feed: DataFrame, condition: str, files: int, count: int
    ) -> None:
        frame = feed.where(condition)

        assert sum(files_read(frame)) == files
        assert frame.count() == count

    def test_a_vector_is_read_only_for_versions_that_are_asked_for(
        self, spark: SparkSession, table: DataTable
    ) -> None:
        table.commit(*marked(_file(table, 9), MISSING))
        table.commit(table.file("x.parquet", {"id": [1]}, partition={"day": "2024-01-01"}))
        feed = truckee.table_changes(spark, str(table), 1)

        assert feed.where("_commit_version <> 2").count() == 101
        assert feed.where("day < date'2024-01-05'").count() == 81

    def test_only_the_rows_of_a_vector_come_out_of_row_groups_that_have_some(
        self, spark: SparkSession, tmp_path: Path
    ) -> None:
        table = DataTable(tmp_path / "wide", "id long")
        file = table.file("a.parquet", {"id": list(range(1000))}, rows_per_group=100)
        table.commit(file)
        table.commit(*marked(file, vector(150)))
        table.commit(*marked(with_vector(file, vector(150)), vector(150, 151)))

        frame = truckee.table_changes(spark, str(table), 2).where("id > 900")

        assert frame.count() == 0
        assert rows_scanned(frame) <= 200
