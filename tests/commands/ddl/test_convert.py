"""Folders of Parquet files that become tables."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import truckee
from session_settings import set_as
from truckee import DeltaTable
from truckee.commands.ddl.convert import convert_to_delta
from truckee.commands.ddl.convert_files import visible_files
from truckee.errors.commands.create import ConversionError, TableNotFoundError
from truckee.errors.spark import DataFileUnreadableError
from truckee.log.snapshot import load_snapshot
from truckee.storage import LocalStorage, MemoryStorage
from truckee.writer import write
from writing import actions, commit_info, data_files, last_version, rust_rows, stats


def identifier(path: Path) -> str:
    return f"parquet.`{path}`"


def test_a_folder_becomes_a_table_where_it_lies(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("select id, cast(id as string) as s from range(10)").coalesce(1).write.mode(
        "append"
    ).parquet(str(tmp_path))
    before = data_files(tmp_path)

    storage = convert_to_delta(spark, identifier(tmp_path))

    assert data_files(tmp_path) == before
    assert load_snapshot(storage).schema.names == ("id", "s")
    assert [row["id"] for row in rust_rows(tmp_path)] == list(range(10))
    assert stats(tmp_path, 0) == [
        {
            "numRecords": 10,
            "minValues": {"id": 0, "s": "0"},
            "maxValues": {"id": 9, "s": "9"},
            "nullCount": {"id": 0, "s": 0},
        }
    ]
    info = commit_info(tmp_path, 0)
    assert info["operation"] == "CONVERT"
    assert info["operationParameters"] == {
        "numFiles": 1,
        "partitionedBy": "[]",
        "collectStats": True,
        "sourceFormat": "parquet",
    }
    assert info["operationMetrics"] == {"numConvertedFiles": "1"}
    write(spark.sql("select 10L as id, 'x' as s")).mode("append").save(str(tmp_path))
    assert len(rust_rows(tmp_path)) == 11


def test_shredded_variants_need_a_table_that_allows_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.sql("""select array(named_struct('v', parse_json('{"a": 1}'))) as l, id, v
        from (select id, parse_json('{"a": 1}') as v from range(1))""")
    shreds = "spark.sql.variant.writeShredding.enabled"
    with set_as(spark, {shreds: "false"}):
        rows.write.mode("append").parquet(str(tmp_path / "whole"))
    with set_as(spark, {shreds: "true"}):
        rows.write.mode("append").parquet(str(tmp_path / "shredded"))
    defaults = "spark.databricks.delta.properties.defaults.enableVariantShredding"

    convert_to_delta(spark, identifier(tmp_path / "whole"))
    with pytest.raises(ConversionError, match="its variants are shredded"):
        convert_to_delta(spark, identifier(tmp_path / "shredded"), collect_stats=False)
    assert last_version(tmp_path / "shredded") == -1
    with set_as(spark, {defaults: "true"}):
        convert_to_delta(spark, identifier(tmp_path / "shredded"))

    for name in ("whole", "shredded"):
        table = DeltaTable.forPath(spark, str(tmp_path / name)).toDF()
        assert table.selectExpr("to_json(v)", "v:a::int").collect() == [('{"a":1}', 1)]
    with pytest.raises(DataFileUnreadableError, match="only Spark can read"):
        truckee.open(tmp_path / "shredded").to_arrow()


def test_a_table_is_left_as_it_is(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.range(1)).save(str(tmp_path))

    convert_to_delta(spark, identifier(tmp_path))

    assert last_version(tmp_path) == 0


def test_partitions_are_told_from_folders(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql(
        "select * from values (1, date'2024-01-02', 'a b/c%'), (2, null, 'x') as t(id, day, s)"
    ).write.partitionBy("day", "s").mode("append").parquet(str(tmp_path))

    storage = convert_to_delta(spark, identifier(tmp_path))

    assert load_snapshot(storage).partition_columns == ("day", "s")
    assert sorted(rust_rows(tmp_path), key=lambda row: row["id"]) == [
        {"id": 1, "day": date(2024, 1, 2), "s": "a b/c%"},
        {"id": 2, "day": None, "s": "x"},
    ]


def test_types_of_partitions_can_be_given(spark: SparkSession, tmp_path: Path) -> None:
    spark.sql("select 1 as id, 7 as p").write.partitionBy("p").mode("append").parquet(str(tmp_path))

    convert_to_delta(spark, identifier(tmp_path), "p string")

    assert rust_rows(tmp_path) == [{"id": 1, "p": "7"}]
    assert actions(tmp_path, 0, "add")[0]["partitionValues"] == {"p": "7"}


def test_a_partition_schema_must_be_that_of_the_folders(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.sql("select 1 as id, 7 as p, 'x' as q").write.partitionBy("p", "q").mode(
        "append"
    ).parquet(str(tmp_path))

    with pytest.raises(ConversionError) as caught:
        convert_to_delta(spark, identifier(tmp_path), "q string, p int")
    assert caught.value.sentence() == (
        f"the files in {tmp_path} cannot be converted: the partition schema names [q, p], but "
        "the folders are partitioned by [p, q]\n"
        "hint: name the columns of the folders, in their order, in the partition schema"
    )

    with pytest.raises(ConversionError, match="the partition value 'x' is not of type date"):
        convert_to_delta(spark, identifier(tmp_path), "p int, q date")
    assert last_version(tmp_path) == -1


def test_files_of_different_schemas_are_taken_together(spark: SparkSession, tmp_path: Path) -> None:
    pq.write_table(pa.table({"a": pa.array([1], pa.int64())}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"b": ["x"], "a": pa.array([2], pa.int64())}), tmp_path / "2.parquet")

    convert_to_delta(spark, identifier(tmp_path))

    assert rust_rows(tmp_path) == [{"a": 1, "b": None}, {"a": 2, "b": "x"}]
    assert [s["minValues"] for s in stats(tmp_path, 0)] == [{"a": 1}, {"a": 2, "b": "x"}]


def test_greatest_numbers_of_other_writers_may_hide_nan(
    spark: SparkSession, tmp_path: Path
) -> None:
    pq.write_table(pa.table({"d": [1.0, float("nan"), 2.0]}), tmp_path / "1.parquet")

    convert_to_delta(spark, identifier(tmp_path))

    assert stats(tmp_path, 0) == [{"numRecords": 3, "minValues": {"d": 1.0}, "nullCount": {"d": 0}}]


def test_hidden_files_and_folders_are_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).write.mode("append").parquet(str(tmp_path))
    (tmp_path / "_hidden").mkdir()
    (tmp_path / "_hidden" / "x.parquet").write_text("no parquet")
    (tmp_path / ".tmp").write_text("no parquet")

    convert_to_delta(spark, identifier(tmp_path))

    assert rust_rows(tmp_path) == [{"id": 0}]


def test_without_statistics_no_file_is_opened(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).write.mode("append").parquet(str(tmp_path))

    convert_to_delta(spark, identifier(tmp_path), collect_stats=False)

    assert "stats" not in actions(tmp_path, 0, "add")[0]


def test_folders_that_cannot_become_tables(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConversionError) as caught:
        convert_to_delta(spark, identifier(tmp_path))
    assert caught.value.sentence() == (
        f"the files in {tmp_path} cannot be converted: there are none\n"
        "hint: name a folder with Parquet files"
    )
    (tmp_path / "a.txt").write_text("no parquet")
    with pytest.raises(ConversionError, match=r"FAILED_READ_FILE.*a\.txt"):
        convert_to_delta(spark, identifier(tmp_path))
    with pytest.raises(TableNotFoundError) as absent:
        convert_to_delta(spark, "no_such_table")
    assert absent.value.sentence() == (
        "the table no_such_table cannot be found\n"
        "hint: name a Parquet table of the catalog, or write the path as parquet.`/data/t`"
    )
    assert last_version(tmp_path) == -1


def test_a_parquet_table_of_the_catalog_is_converted_where_it_lies(
    spark: SparkSession, tmp_path: Path
) -> None:
    spark.range(2).write.mode("append").parquet(str(tmp_path / "t"))
    spark.sql(f"create table to_convert using parquet location '{tmp_path / 't'}'")
    try:
        storage = convert_to_delta(spark, "to_convert")
        DeltaTable.forPath(spark, tmp_path / "t").delete("id = 1")
        again = convert_to_delta(spark, "to_convert")
        rows = spark.table("to_convert").collect()
    finally:
        spark.sql("drop table to_convert")

    assert [row.id for row in rows] == [0]
    assert storage.root == str(tmp_path / "t")
    assert load_snapshot(LocalStorage(storage.root)).num_files > 0
    assert again.root == storage.root
    assert last_version(tmp_path / "t") == 1
    told = commit_info(tmp_path / "t", 0)["operationParameters"]
    assert told["catalogTable"] == "`spark_catalog`.`default`.`to_convert`"


def test_files_that_a_stream_did_not_commit_are_left_out(
    spark: SparkSession, tmp_path: Path
) -> None:
    source, folder = tmp_path / "source", tmp_path / "a b"
    pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "stray.parquet")
    source.mkdir()
    pq.write_table(pa.table({"id": [1, 2]}), source / "x.parquet")
    stream = spark.readStream.schema("id long").parquet(str(source)).writeStream
    query = stream.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    query.start(path=str(folder), format="parquet").awaitTermination()
    (tmp_path / "stray.parquet").rename(folder / "part-00000-failed.parquet")

    convert_to_delta(spark, identifier(folder))

    assert [row["id"] for row in rust_rows(folder)] == [1, 2]


def test_the_log_of_a_sink_goes_on_after_its_last_compaction() -> None:
    storage = MemoryStorage("memory://t")
    for name in ("a", "b", "c c", "d", "stray"):
        storage.write(f"{name}.parquet", b"x")
    logs = {"0": "a", "1": "b", "2": "a b", "2.compact": "a", "3": "c%20c", "3.crc": "stray"}
    for name, paths in logs.items():
        lines = "".join(f'\n{{"path":"memory://t/{p}.parquet","size":1}}' for p in paths.split())
        storage.write(f"_spark_metadata/{name}", f"v1{lines}".encode())

    assert [file.path for file in visible_files(storage)] == ["a.parquet", "c c.parquet"]

    storage.delete("a.parquet")
    with pytest.raises(ConversionError) as caught:
        visible_files(storage)

    assert caught.value.sentence() == (
        "the files in memory://t cannot be converted: the log of a streaming sink in "
        "_spark_metadata names a.parquet, which is not there\n"
        "hint: if the files were moved here, and all of them are wanted, delete _spark_metadata"
    )
