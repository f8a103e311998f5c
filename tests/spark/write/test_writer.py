"""Data files and change files, as one pass of Spark writes them."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from truckee.commands.schema.column_mapping import with_column_mapping
from truckee.commands.table_plan import new_metadata
from truckee.protocol.actions import Metadata, Protocol
from truckee.protocol.paths import decode_path
from truckee.protocol.schema import StructType, parse_schema
from truckee.protocol.table_configuration import TableConfiguration
from truckee.spark.schema_conversion import from_spark
from truckee.spark.write.job_files import delete_by_token
from truckee.spark.write.writer import FileOptions, WrittenFiles, write_files
from truckee.storage import LocalStorage
from values import simple_schema
from writing import data_files

PLAIN = Protocol(min_reader_version=1, min_writer_version=2)
VECTORS = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("deletionVectors",),
    writer_features=("deletionVectors",),
)


def metadata_of(df: DataFrame, *partitions: str, **configuration: str) -> Metadata:
    named = {f"delta.{key.replace('_', '.')}": value for key, value in configuration.items()}
    schema = from_spark(df.schema)
    fields = tuple(replace(field, nullable=True) for field in schema.fields)
    return with_column_mapping(
        new_metadata(StructType(fields), partition_columns=partitions, configuration=named)
    )


def written(
    df: DataFrame, path: Path, metadata: Metadata | None = None, **more: Any
) -> WrittenFiles:
    table = TableConfiguration(metadata or metadata_of(df), more.pop("protocol", PLAIN))
    return write_files(df, storage=LocalStorage(str(path)), table=table, **more)


def parquet(path: Path, encoded: str) -> pq.ParquetFile:
    return pq.ParquetFile(path / decode_path(encoded))


def test_files_lie_at_the_root_where_delta_spark_puts_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = written(spark.range(0, 10, 1, 2), tmp_path)

    assert files.num_rows == 10
    assert len(files.adds) == 2
    assert {Path(add.path).parent for add in files.adds} == {Path()}
    assert [Path(add.path).name[:11] for add in files.adds] == ["part-00000-", "part-00001-"]
    for add in files.adds:
        on_disk = tmp_path / add.path
        assert add.size == on_disk.stat().st_size
        assert add.modification_time == on_disk.stat().st_mtime_ns // 1_000_000
        assert add.partition_values == {}


def test_statistics_tell_tight_bounds_only_where_vectors_may_come(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.range(0, 4, 1, 1)

    (plain,) = written(frame, tmp_path).adds
    (with_vectors,) = written(frame, tmp_path, protocol=VECTORS).adds

    assert plain.stats == (
        '{"numRecords":4,"minValues":{"id":0},"maxValues":{"id":3},"nullCount":{"id":0}}'
    )
    assert with_vectors.stats == plain.stats[:-1] + ',"tightBounds":true}'


def test_nan_leaves_no_greatest_value(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("select * from values (1.5D, 1.5F), (double('NaN'), float('NaN')) as t(d, f)")

    (add,) = written(frame.coalesce(1), tmp_path).adds

    found = json.loads(add.stats or "")
    assert found["minValues"] == {"d": 1.5, "f": 1.5}
    assert "maxValues" not in found


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("'plain'", "plain"),
        ("''", None),
        ("cast(null as string)", None),
        ("'a b/c=d%20:é{}'", "a b/c=d%20:é{}"),
        ("'__HIVE_DEFAULT_PARTITION__'", "__HIVE_DEFAULT_PARTITION__"),
        ("cast(7 as tinyint)", "7"),
        ("-123456789012L", "-123456789012"),
        ("true", "true"),
        ("date'0001-02-03'", "0001-02-03"),
        ("cast(1e-8 as decimal(20,9))", "0.000000010"),
        ("double('NaN')", "NaN"),
        ("1.0E100D", "1.0E100"),
        ("timestamp'2024-01-02 03:04:05.123456 America/New_York'", "2024-01-02T08:04:05.123456Z"),
        ("timestamp'1969-12-31 23:59:59 UTC'", "1969-12-31T23:59:59.000000Z"),
        ("timestamp_ntz'2024-01-02 03:04:05.5'", "2024-01-02 03:04:05.5"),
        ("cast('bytes' as binary)", "bytes"),
    ],
)
def test_partition_values_are_those_of_the_rows(
    spark: SparkSession, tmp_path: Path, sql: str, text: str | None
) -> None:
    spark.conf.set("spark.sql.session.timeZone", "America/Los_Angeles")
    try:
        frame = spark.sql(f"select 1 as id, {sql} as p")
        (add,) = written(frame, tmp_path, metadata_of(frame, "p")).adds
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")

    assert add.partition_values == {"p": text}
    assert parquet(tmp_path, add.path).schema_arrow.names == ["id"]


def test_bytes_that_are_no_text_are_no_partition_value(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.sql("select 1 as id, unhex('FF00') as p")

    with pytest.raises(PySparkException, match="INVALID_UTF8_STRING"):
        written(frame, tmp_path, metadata_of(frame, "p"))

    assert data_files(tmp_path) == set()


def test_partition_columns_become_folders_in_the_tables_order(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.sql("select 1 as a, 2 as b, 3 as c, 4 as d")

    (add,) = written(frame, tmp_path, metadata_of(frame, "d", "B")).adds

    assert add.partition_values == {"d": "4", "b": "2"}
    assert Path(add.path).parts[:2] == ("d=4", "b=2")


def test_what_the_session_says_does_not_bend_files(spark: SparkSession, tmp_path: Path) -> None:
    settings = {
        "spark.sql.parquet.outputTimestampType": "INT96",
        "spark.sql.parquet.writeLegacyFormat": "true",
        "spark.sql.parquet.datetimeRebaseModeInWrite": "LEGACY",
        "spark.sql.session.timeZone": "Asia/Tokyo",
        "spark.sql.ansi.enabled": "false",
        "spark.sql.caseSensitive": "true",
    }
    before = {key: spark.conf.get(key) for key in settings}
    for key, value in settings.items():
        spark.conf.set(key, value)
    try:
        frame = spark.sql(
            "select timestamp'2024-01-01 09:00:00' as ts, 1.5BD as n, array(1) as l, "
            "date'1500-01-01' as day"
        )
        (add,) = written(frame, tmp_path).adds
        assert {key: spark.conf.get(key) for key in settings} == settings
    finally:
        for key, value in before.items():
            spark.conf.set(key, value or "")

    schema = str(parquet(tmp_path, add.path).schema)
    assert "int64 field_id=-1 ts (Timestamp(isAdjustedToUTC=true, timeUnit=microseconds" in schema
    assert "int32 field_id=-1 n (Decimal(precision=2, scale=1))" in schema
    assert "repeated group field_id=-1 list" in schema
    assert parquet(tmp_path, add.path).read().to_pylist() == [
        {
            "ts": datetime(2024, 1, 1, 0, 0, tzinfo=timezone.utc),
            "n": Decimal("1.5"),
            "l": [1],
            "day": date(1500, 1, 1),
        }
    ]


def test_mapped_columns_have_their_physical_names_and_ids(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.sql(
        "select 1 as `a b`, struct(2 as x) as s, array(struct(3 as y)) as l, 'v' as p"
    )
    metadata = metadata_of(frame, "p", columnMapping_mode="name")
    schema = parse_schema(metadata.schema_string)

    (add,) = written(frame, tmp_path, metadata).adds

    fields = parquet(tmp_path, add.path).schema_arrow
    assert fields.names == [field.physical_name for field in schema.fields[:3]]
    ids = [fields.field(i).metadata[b"PARQUET:field_id"] for i in range(3)]
    assert ids == [b"1", b"2", b"4"]
    inner = fields.field(1).type.field(0)
    assert inner.metadata[b"PARQUET:field_id"] == b"3"
    assert add.partition_values == {schema.fields[3].physical_name: "v"}
    stats = json.loads(add.stats or "")
    physical_struct = schema.fields[1].physical_name
    assert stats["minValues"][physical_struct] == {inner.name: 2}


def test_field_ids_of_other_tables_are_not_carried_over(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = spark.range(1).select(sf.col("id").alias("id", metadata={"parquet.field.id": 9}))

    (add,) = written(frame, tmp_path).adds

    assert parquet(tmp_path, add.path).schema_arrow.field(0).metadata is None


def changes(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame(
        [
            (1, "x", "update_preimage"),
            (2, "x", "update_postimage"),
            (2, "x", None),
            (3, "y", "delete"),
            (4, "y", None),
        ],
        "id int, p string, _change_type string",
    )


@pytest.mark.parametrize("partitions", [(), ("p",)])
def test_change_rows_go_to_change_files_in_the_same_pass(
    spark: SparkSession, tmp_path: Path, partitions: tuple[str, ...]
) -> None:
    frame = changes(spark)
    metadata = metadata_of(frame.drop("_change_type"), *partitions, enableChangeDataFeed="true")

    files = written(frame, tmp_path, metadata)

    assert all(change.path.startswith("_change_data/") for change in files.changes)
    assert not any(add.path.startswith("_change_data/") for add in files.adds)
    data = [row for add in files.adds for row in parquet(tmp_path, add.path).read().to_pylist()]
    changed = [
        row for change in files.changes for row in parquet(tmp_path, change.path).read().to_pylist()
    ]
    assert sorted(row["id"] for row in data) == [2, 4]
    assert {row["_change_type"] for row in data} == {None}
    assert sorted((row["id"], row["_change_type"]) for row in changed) == [
        (1, "update_preimage"),
        (2, "update_postimage"),
        (3, "delete"),
    ]
    assert {change.data_change for change in files.changes} == {False}
    expected = {("x",), ("y",)} if partitions else {()}
    assert {tuple(change.partition_values.values()) for change in files.changes} == expected
    assert {tuple(add.partition_values.values()) for add in files.adds} == expected
    folders = {"p=x", "p=y"} if partitions else {"."}
    assert {str(Path(add.path).parent) for add in files.adds} == folders
    assert {str(Path(c.path).parent.relative_to("_change_data")) for c in files.changes} == folders
    assert {Path(change.path).name[:4] for change in files.changes} == {"cdc-"}
    on_disk = {name for name in data_files(tmp_path) if not name.endswith(".crc")}
    assert on_disk == {file.path for file in (*files.adds, *files.changes)}


def test_change_rows_are_left_out_while_the_feed_is_off(
    spark: SparkSession, tmp_path: Path
) -> None:
    frame = changes(spark)

    files = written(frame, tmp_path, metadata_of(frame.drop("_change_type")))

    assert files.changes == ()
    assert files.num_rows == 2
    names = {name for add in files.adds for name in parquet(tmp_path, add.path).schema_arrow.names}
    assert names == {"id", "p"}


def test_rules_are_not_for_change_rows(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.createDataFrame(
        [(-1, "update_preimage"), (1, "update_postimage"), (1, None)],
        "id int, _change_type string",
    )
    metadata = metadata_of(
        frame.drop("_change_type"), enableChangeDataFeed="true", constraints_positive="id > 0"
    )

    files = written(frame, tmp_path, metadata)

    assert (len(files.changes) > 0, files.num_rows) == (True, 1)


def test_change_rows_alone_leave_no_data_file(spark: SparkSession, tmp_path: Path) -> None:
    frame = changes(spark).where("_change_type is not null")
    metadata = metadata_of(frame.drop("_change_type"), enableChangeDataFeed="true")

    files = written(frame, tmp_path, metadata)

    assert (files.adds, files.num_rows) == ((), 0)
    on_disk = {name for name in data_files(tmp_path) if not name.endswith(".crc")}
    assert on_disk == {change.path for change in files.changes}


def test_no_file_has_more_records_than_asked_for_with_change_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    kinds = "explode(array('update_preimage', 'update_postimage', null)) AS _change_type"
    frame = spark.range(0, 40, 1, 1).selectExpr("id", kinds)
    metadata = metadata_of(frame.drop("_change_type"), enableChangeDataFeed="true")

    files = written(frame, tmp_path, metadata, options=FileOptions(max_records_per_file=30))

    counts = [parquet(tmp_path, c.path).metadata.num_rows for c in files.changes]
    assert (sum(counts), max(counts) <= 30) == (80, True)
    counts = [parquet(tmp_path, add.path).metadata.num_rows for add in files.adds]
    assert (sum(counts), max(counts) <= 30) == (40, True)


def test_rows_of_many_bytes_keep_their_order_in_data_and_change_files(
    spark: SparkSession, tmp_path: Path
) -> None:
    kinds = "explode(array('update_preimage', 'update_postimage', null)) AS _change_type"
    frame = spark.range(0, 40, 1, 1).selectExpr("id", "repeat('x', 1000000) AS s", kinds)
    metadata = metadata_of(frame.drop("_change_type"), enableChangeDataFeed="true")

    files = written(frame, tmp_path, metadata)

    [data], [changed] = files.adds, files.changes
    assert parquet(tmp_path, data.path).read(["id"])["id"].to_pylist() == list(range(40))
    ids = parquet(tmp_path, changed.path).read(["id"])["id"].to_pylist()
    assert ids == [number for number in range(40) for _ in range(2)]


def test_a_write_that_fails_leaves_no_file(spark: SparkSession, tmp_path: Path) -> None:
    frame = (
        spark.range(0, 20_000, 1, 4)
        .select(
            sf.when(sf.col("id") < 19_999, sf.col("id")).otherwise(sf.raise_error(sf.lit("boom")))
        )
        .toDF("id")
    )

    with pytest.raises(PySparkException, match="boom"):
        written(frame, tmp_path, new_metadata(simple_schema("id long")))

    assert list(tmp_path.iterdir()) == []


def test_a_write_into_partitions_that_fails_leaves_no_file_and_those_of_others_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    others = written(changes(spark).drop("_change_type"), tmp_path)
    bad = sf.when(sf.col("id") < 3, sf.col("id")).otherwise(sf.raise_error(sf.lit("boom")))
    frame = changes(spark).coalesce(1).withColumn("id", bad.cast("int"))
    metadata = metadata_of(frame.drop("_change_type"), "p", enableChangeDataFeed="true")

    with pytest.raises(PySparkException, match="boom"):
        written(frame, tmp_path, metadata)

    on_disk = {name for name in data_files(tmp_path) if not name.endswith(".crc")}
    assert on_disk == {add.path for add in others.adds}


def test_files_that_a_dead_task_has_left_are_told_by_the_token_of_its_job(
    spark: SparkSession, tmp_path: Path
) -> None:
    names = ("part-00000-mine-3.parquet", "p=1/part-00000-mine-4.parquet", "p=1/theirs.parquet")
    for name in (*names, "_change_data/cdc-00000-mine-3.parquet"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    delete_by_token(spark, LocalStorage(str(tmp_path)), "mine", has_folders=True)

    assert data_files(tmp_path) == {"p=1/theirs.parquet"}


def test_discarded_files_are_gone(spark: SparkSession, tmp_path: Path) -> None:
    frame = changes(spark)
    metadata = metadata_of(frame.drop("_change_type"), "p", enableChangeDataFeed="true")
    files = written(frame, tmp_path, metadata)

    files.discard()

    assert data_files(tmp_path) == set()


def test_options_reach_the_parquet_writer(spark: SparkSession, tmp_path: Path) -> None:
    options = FileOptions(compression="gzip", max_records_per_file=3)

    files = written(spark.range(0, 9, 1, 1), tmp_path, options=options)

    assert len(files.adds) == 3
    column = parquet(tmp_path, files.adds[0].path).metadata.row_group(0).column(0)
    assert column.compression == "GZIP"
