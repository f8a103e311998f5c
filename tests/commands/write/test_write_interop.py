"""What truckee writes, deltalake reads; what deltalake writes, truckee appends to."""

from __future__ import annotations

from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from deltalake import DeltaTable as RustTable
from deltalake import write_deltalake
from pyspark.sql import SparkSession

from truckee.errors.protocol import UnsupportedWriterFeaturesError
from truckee.log.snapshot import load_snapshot
from truckee.spark.read.frames import snapshot_frame
from truckee.storage import LocalStorage
from truckee.writer import write
from writing import rust_rows, stats

UTC = timezone.utc

# Two values of each type, in SQL and in Python, the least of a pair first.
TYPES: dict[str, tuple[tuple[str, str], tuple[Any, Any]]] = {
    "tinyint": (("-5Y", "7Y"), (-5, 7)),
    "smallint": (("-5S", "7S"), (-5, 7)),
    "int": (("-5", "7"), (-5, 7)),
    "bigint": (("-5L", "9007199254740993L"), (-5, 9007199254740993)),
    "float": (("-1.5F", "2.5F"), (-1.5, 2.5)),
    "double": (("-1.5D", "2.5D"), (-1.5, 2.5)),
    "decimal(9,2)": (
        ("cast(-1.25 as decimal(9,2))", "cast(3.5 as decimal(9,2))"),
        (Decimal("-1.25"), Decimal("3.50")),
    ),
    "decimal(38,10)": (
        ("cast(-1.25 as decimal(38,10))", "cast(12345678901234567890.5 as decimal(38,10))"),
        (Decimal("-1.2500000000"), Decimal("12345678901234567890.5000000000")),
    ),
    "string": (("'a'", "'é€😀'"), ("a", "é€😀")),
    "date": (("date'0001-01-01'", "date'2024-02-29'"), (date(1, 1, 1), date(2024, 2, 29))),
    "timestamp": (
        ("timestamp'1969-12-31 23:59:59.999999 UTC'", "timestamp'2024-02-29 12:00:00.000001 UTC'"),
        (
            datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC),
            datetime(2024, 2, 29, 12, 0, 0, 1, tzinfo=UTC),
        ),
    ),
    "timestamp_ntz": (
        ("timestamp_ntz'1969-12-31 23:59:59.999999'", "timestamp_ntz'2024-02-29 12:00:00.000001'"),
        (
            datetime(1969, 12, 31, 23, 59, 59, 999_999),  # noqa: DTZ001 - it has no zone
            datetime(2024, 2, 29, 12, 0, 0, 1),  # noqa: DTZ001
        ),
    ),
    "boolean": (("false", "true"), (False, True)),
    "binary": (("unhex('00FF')", "unhex('FF')"), (b"\x00\xff", b"\xff")),
    "array<int>": (("array(1, null)", "array()"), ([1, None], [])),
    "map<string,int>": (("map('k', 1)", "map('l', null)"), ([("k", 1)], [("l", None)])),
    "struct<x:int,y:array<string>>": (
        ("named_struct('x', 1, 'y', array('a'))", "named_struct('x', null, 'y', null)"),
        ({"x": 1, "y": ["a"]}, {"x": None, "y": None}),
    ),
}
PARTITIONABLE = [name for name in TYPES if "<" not in name and name not in ("binary", "boolean")]


def frame_of(spark: SparkSession, kind: str) -> Any:
    low, high = TYPES[kind][0]
    return spark.sql(
        f"select 1 as id, cast({low} as {kind}) as c union all "
        f"select 2, cast({high} as {kind}) union all select 3, cast(null as {kind})"
    )


@pytest.mark.parametrize("kind", TYPES)
def test_values_of_every_type_are_read_the_same(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    write(frame_of(spark, kind)).save(str(tmp_path))

    low, high = TYPES[kind][1]
    assert {row["id"]: row["c"] for row in rust_rows(tmp_path)} == {1: low, 2: high, 3: None}


@pytest.mark.parametrize("kind", [*PARTITIONABLE, "boolean"])
def test_partition_values_of_every_type_are_read_the_same(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    write(frame_of(spark, kind)).partitionBy("c").save(str(tmp_path))

    low, high = TYPES[kind][1]
    assert {row["id"]: row["c"] for row in rust_rows(tmp_path)} == {1: low, 2: high, 3: None}


@pytest.mark.parametrize("kind", PARTITIONABLE)
def test_statistics_of_every_type_lead_to_the_right_files(
    spark: SparkSession, tmp_path: Path, kind: str
) -> None:
    write(frame_of(spark, kind).repartition(3, "id")).option("maxRecordsPerFile", 1).save(
        str(tmp_path)
    )

    dataset = RustTable(str(tmp_path)).to_pyarrow_dataset()
    low, high = TYPES[kind][1]
    for value, expected in ((low, 1), (high, 2)):
        scalar = pa.scalar(value, dataset.schema.field("c").type)
        found = dataset.to_table(filter=pc.field("c") == scalar)
        assert found.column("id").to_pylist() == [expected]
    assert all("minValues" in s for s in stats(tmp_path, 0) if s["nullCount"]["c"] == 0)


@pytest.mark.parametrize("mode", ["name", "id"])
def test_mapped_columns_are_read_by_their_logical_names(
    spark: SparkSession, tmp_path: Path, mode: str
) -> None:
    frame = spark.sql("select 1 as `a b`, struct(2 as `x,y`) as s, 'v' as `p=q`")

    write(frame).partitionBy("p=q").option("delta.columnMapping.mode", mode).save(str(tmp_path))
    write(frame.selectExpr("*", "3 as more")).mode("append").option("mergeSchema", True).save(
        str(tmp_path)
    )

    snapshot = load_snapshot(LocalStorage(str(tmp_path)))
    rows = [row.asDict(recursive=True) for row in snapshot_frame(spark, snapshot).collect()]
    assert sorted(rows, key=str) == [
        {"a b": 1, "s": {"x,y": 2}, "p=q": "v", "more": 3},
        {"a b": 1, "s": {"x,y": 2}, "p=q": "v", "more": None},
    ]
    assert sorted(rust_rows(tmp_path), key=str) == sorted(rows, key=str)


def test_tables_of_deltalake_are_appended_to_and_read_again(
    spark: SparkSession, tmp_path: Path
) -> None:
    batch = pa.table(
        {
            "id": pa.array([1, 2], pa.int64()),
            "day": pa.array([date(2024, 1, 1), None]),
            "s": pa.array(["a", "b"]),
            "ts": pa.array([datetime(2024, 1, 1, tzinfo=UTC)] * 2, pa.timestamp("us", "UTC")),
        }
    )
    write_deltalake(str(tmp_path), batch, partition_by=["day"])

    new = spark.sql(
        "select 3 as ID, date'2024-01-01' as day, 'c' as s, timestamp'2024-01-02 00:00:00' as ts"
    )
    write(new).mode("append").save(str(tmp_path))
    write_deltalake(str(tmp_path), batch.slice(0, 1), mode="append")

    assert sorted((row["id"], row["day"]) for row in rust_rows(tmp_path)) == [
        (1, date(2024, 1, 1)),
        (1, date(2024, 1, 1)),
        (2, None),
        (3, date(2024, 1, 1)),
    ]
    assert RustTable(str(tmp_path)).version() == 2


def test_tables_of_deltalake_with_constraints_keep_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    write_deltalake(str(tmp_path), pa.table({"id": pa.array([1], pa.int64())}))
    RustTable(str(tmp_path)).alter.add_constraint({"positive": "id > 0"})

    write(spark.sql("select 2 as id")).mode("append").save(str(tmp_path))
    with pytest.raises(Exception, match="CHECK constraint positive"):
        write(spark.sql("select -2 as id")).mode("append").save(str(tmp_path))

    assert [row["id"] for row in rust_rows(tmp_path)] == [1, 2]


def test_overwritten_tables_travel_in_time_elsewhere(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.sql("select 1 as id")).save(str(tmp_path))
    write(spark.sql("select 2 as id")).mode("overwrite").save(str(tmp_path))

    assert rust_rows(tmp_path, version=0) == [{"id": 1}]
    assert rust_rows(tmp_path) == [{"id": 2}]


def test_a_table_with_a_feature_that_is_not_written_is_refused_before_a_file_is(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark.range(1)).save(str(tmp_path / "t"))
    log = tmp_path / "t" / "_delta_log" / f"{0:020d}.json"
    log.write_text(
        log.read_text().replace(
            '{"minReaderVersion":1,"minWriterVersion":2}',
            '{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["fromTheFuture"]}',
        )
    )
    before = {file.name for file in (tmp_path / "t").iterdir()}

    with pytest.raises(UnsupportedWriterFeaturesError):
        write(spark.range(1)).mode("append").save(str(tmp_path / "t"))

    assert {file.name for file in (tmp_path / "t").iterdir()} == before


def test_tables_with_row_tracking_stay_writable(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.range(0, 5, 1, 1)).option("delta.enableRowTracking", "true").save(str(tmp_path))
    write(spark.range(0, 3, 1, 1)).mode("append").save(str(tmp_path))

    snapshot = load_snapshot(LocalStorage(str(tmp_path)))
    ids = sorted((f.base_row_id, f.default_row_commit_version) for f in snapshot.files())
    assert ids == [(0, 0), (5, 1)]
    mark = snapshot.domain_metadata["delta.rowTracking"].configuration
    assert mark == '{"rowIdHighWaterMark":7}'
    assert snapshot.properties.materialized_row_id_column_name is not None
    assert len(rust_rows(tmp_path)) == 8
