"""Rows that the reader leaves out of its batches: whatever their types, encodings and places."""

from __future__ import annotations

import datetime as dt
import random
from decimal import Decimal
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import truckee
from data_tables import DataTable, marked, vector, with_vector
from plans import records_read, rows, rows_scanned
from session_settings import set_as
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.protocol.actions import AddFile
from truckee.protocol.schema import parse_schema
from truckee.spark.schema_conversion import to_spark

COUNT = 9000
VALUES = random.Random(3)
DAY = dt.date(2020, 1, 1)
NOON = dt.datetime(2020, 1, 1, 12, tzinfo=dt.timezone.utc)


def some(value: object) -> object:
    """The value, or null one time out of five."""
    return None if VALUES.random() < 0.2 else value


def one(number: int) -> dict[str, object]:
    """A row: plain values, few and many different ones, and nested ones."""
    return {
        "id": number,
        "b": some(number % 3 == 0),
        "i8": some(number % 100),
        "i16": some(number),
        "i32": some(number * 7),
        "few": some(number % 5),
        "f": some(number / 4),
        "d": some(number / 8),
        "text": some(f"text {number}"),
        "word": some(f"word {number % 7}"),
        "raw": some(bytes([number % 256, number // 256])),
        "small": some(Decimal(number).scaleb(-2)),
        "middle": some(Decimal(number).scaleb(-3)),
        "large": some(Decimal(number).scaleb(-1)),
        "day": some(DAY + dt.timedelta(days=number)),
        "moment": some(NOON + dt.timedelta(seconds=number)),
        "st": some({"n": some(number), "s": some(f"s{number}")}),
        "li": some([number, None, number + 1][: number % 4]),
        "ma": some([(f"k{number % 3}", some(number))]),
        "ls": some([{"x": some(number), "y": [f"y{number}"] * (number % 3)}]),
    }


TYPES = pa.schema(
    {
        "id": pa.int64(),
        "b": pa.bool_(),
        "i8": pa.int8(),
        "i16": pa.int16(),
        "i32": pa.int32(),
        "few": pa.int64(),
        "f": pa.float32(),
        "d": pa.float64(),
        "text": pa.string(),
        "word": pa.string(),
        "raw": pa.binary(),
        "small": pa.decimal128(9, 2),
        "middle": pa.decimal128(18, 3),
        "large": pa.decimal128(30, 1),
        "day": pa.date32(),
        "moment": pa.timestamp("us", tz="UTC"),
        "st": pa.struct({"n": pa.int64(), "s": pa.string()}),
        "li": pa.list_(pa.int64()),
        "ma": pa.map_(pa.string(), pa.int64()),
        "ls": pa.list_(pa.struct({"x": pa.int64(), "y": pa.list_(pa.string())})),
    }
)
COLUMNS = (
    "b boolean, i8 tinyint, i16 smallint, i32 int, few bigint, f float, d double, text string, "
    "word string, raw binary, small decimal(9,2), middle decimal(18,3), large decimal(30,1), "
    "day date, moment timestamp, st struct<n: bigint, s: string>, li array<bigint>, "
    "ma map<string, bigint>, ls array<struct<x: bigint, y: array<string>>>"
)
DELETED = frozenset({0, 1, 2999, 3000, COUNT - 1} | set(VALUES.sample(range(4200), 900)))


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory, spark: SparkSession) -> DataTable:
    """One file of three row groups; no row of the second one is left."""
    folder = tmp_path_factory.mktemp("kinds") / "t"
    return kinds(spark, folder, DELETED | set(range(3000, 6000)))


def kinds(spark: SparkSession, folder: Path, gone: frozenset[int]) -> DataTable:
    """Write a table of one file with rows of every type, of which some are gone."""
    schema = spark.createDataFrame([], f"id bigint, {COLUMNS}").schema
    made = DataTable(folder, *parse_schema(schema.json()).fields)
    data = pa.Table.from_pylist([one(number) for number in range(COUNT)], TYPES)
    file = made.file("a.parquet", data, rows_per_group=3000)
    (marks,) = write_deletion_vectors(made.storage, [RowBitmap(sorted(gone))])
    made.commit(with_vector(file, marks))
    return made


LEFT = [n for n in range(COUNT) if n not in DELETED and not 3000 <= n < 6000]


# Invariant 56.
@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"spark.sql.columnVector.offheap.enabled": "true"},
        {"spark.sql.parquet.columnarReaderBatchSize": "37"},
        {"spark.sql.codegen.maxFields": "5"},
        {"spark.sql.parquet.enableNestedColumnVectorizedReader": "false"},
    ],
    ids=["on heap", "off heap", "small batches", "wide", "nested types row by row"],
)
def test_values_of_every_type_stay_with_their_rows(
    spark: SparkSession, table: DataTable, settings: dict[str, str]
) -> None:
    with set_as(spark, settings):
        plain = spark.read.schema(to_spark(table.schema)).parquet(f"{table}/a.parquet")
        kept = plain.collect()
        found = truckee.read(spark).load(str(table)).collect()

    assert [row.id for row in found] == LEFT
    assert found == [row for row in kept if row.id in set(LEFT)]


def test_values_of_every_type_stay_with_the_few_rows_that_are_left(
    spark: SparkSession, tmp_path: Path
) -> None:
    left = range(7, COUNT, 20)
    few = kinds(spark, tmp_path / "t", frozenset(range(COUNT)) - frozenset(left))

    found = truckee.read(spark).load(str(few)).collect()

    plain = spark.read.schema(to_spark(few.schema)).parquet(f"{few}/a.parquet").collect()
    assert [row.id for row in found] == list(left)
    assert found == [row for row in plain if row.id in left]


def test_row_groups_without_a_wanted_row_are_not_read(
    spark: SparkSession, table: DataTable
) -> None:
    frame = truckee.read(spark).load(str(table)).select("id")

    assert rows_scanned(frame) == len(LEFT)
    assert records_read(spark, frame.collect) == len(LEFT)


# Invariant 57.
def test_filters_that_skip_pages_and_groups_leave_positions_right(
    spark: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    options = {"parquet.page.row.count.limit": "500", "parquet.block.size": "60000"}
    written = spark.range(40_000).selectExpr("id", "id * 2 AS x").coalesce(1)
    written.write.options(**options).parquet(str(folder))
    (path,) = folder.glob("part-*.parquet")
    table = DataTable(folder, "id long", "x long")
    add = AddFile(
        path=path.name,
        partition_values={},
        size=path.stat().st_size,
        modification_time=0,
        data_change=True,
    )
    table.commit(with_vector(add, vector(*range(0, 40_000, 3))))
    frame = truckee.read(spark).load(str(table)).select("id", "x", "_metadata.row_index")

    for condition in ("id = 20000", "id between 19990 and 21010", "id in (2, 17000, 39999)"):
        wanted = [(n, 2 * n, n) for (n,) in spark.range(40_000).where(condition).collect() if n % 3]
        assert rows(frame.where(condition)) == sorted(wanted, key=str)
    assert rows_scanned(frame.where("id = 20000")) < 1000
    assert pq.read_metadata(path).num_row_groups > 1


def test_an_empty_file_and_one_without_wanted_rows(spark: SparkSession, tmp_path: Path) -> None:
    table = DataTable(tmp_path / "t", "id long")
    none = table.file("none.parquet", pa.table({"id": pa.array([], pa.int64())}))
    gone = table.file("gone.parquet", {"id": [1, 2]})
    table.commit(none, with_vector(gone, vector(0, 1)))

    frame = truckee.read(spark).load(str(table))

    assert (rows(frame), frame.count(), frame.where("id > 0").count()) == ([], 0, 0)


@pytest.mark.parametrize("share", [0.03, 0.3, 0.97], ids=["few", "some", "most"])
@pytest.mark.parametrize("batch", ["4096", "1000", "10000"])
def test_many_deleted_rows_over_many_batches(
    spark: SparkSession, tmp_path: Path, share: float, batch: str
) -> None:
    """Rows are looked up some thousands at a time, which ends neither with a batch nor a group."""
    chosen = random.Random(11)
    gone = {n for n in range(150_000) if chosen.random() < share or 70_000 <= n < 90_000}
    table = DataTable(tmp_path / "t", "id long")
    data = pa.table({"id": pa.array(range(150_000), pa.int64())})
    file = table.file("a.parquet", data, rows_per_group=50_001)
    (marks,) = write_deletion_vectors(table.storage, [RowBitmap(sorted(gone))])
    table.commit(file)
    version = table.commit(*marked(file, marks))

    with set_as(spark, {"spark.sql.parquet.columnarReaderBatchSize": batch}):
        left = truckee.read(spark).load(str(table)).toArrow()
        options = {"readChangeFeed": "true", "changeFeed": "derived", "startingVersion": version}
        deleted = truckee.read(spark).options(**options).load(str(table)).toArrow()

    assert left["id"].to_pylist() == [n for n in range(150_000) if n not in gone]
    assert deleted["id"].to_pylist() == sorted(gone)
