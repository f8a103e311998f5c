"""Append and overwrite, as the log and another engine see them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from truckee.errors.commands.write import (
    ClusteringMismatchError,
    DataChangeWithMetadataError,
    OverwriteOptionError,
    PartitioningMismatchError,
    StreamingFrameError,
    TableExistsError,
)
from truckee.errors.commands.write_rows import ReplaceWhereViolationError
from truckee.errors.commit import AppendOnlyTableError, ReservedChangeColumnsError
from truckee.errors.options import IllegalOptionError
from truckee.errors.protocol import DuplicateColumnsError
from truckee.log.snapshot import load_snapshot
from truckee.spark.read.frames import snapshot_frame
from truckee.storage import LocalStorage
from truckee.writer import write
from writing import actions, commit_info, data_files, last_version, rust_rows


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(1, "a", 10), (2, "b", 20)], "id long, name string, p int")


def ids(path: Path) -> list[int]:
    return sorted(row["id"] for row in rust_rows(path))


def test_a_table_is_created_where_there_is_none(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).save(str(tmp_path / "t"))

    assert rust_rows(tmp_path / "t") == [
        {"id": 1, "name": "a", "p": 10},
        {"id": 2, "name": "b", "p": 20},
    ]
    info = commit_info(tmp_path / "t", 0)
    assert info["operation"] == "WRITE"
    assert info["operationParameters"] == {"mode": "ErrorIfExists", "partitionBy": "[]"}
    assert info["isBlindAppend"] is True
    assert info["operationMetrics"]["numOutputRows"] == "2"
    adds = actions(tmp_path / "t", 0, "add")
    assert info["operationMetrics"]["numFiles"] == str(len(adds))
    assert info["operationMetrics"]["numOutputBytes"] == str(sum(add["size"] for add in adds))
    assert actions(tmp_path / "t", 0, "protocol") == [
        {"minReaderVersion": 1, "minWriterVersion": 2}
    ]


def test_only_data_files_lie_beside_the_log(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).partitionBy("p").save(str(tmp_path))

    named = {add["path"] for add in actions(tmp_path, 0, "add")}
    visible = {name for name in data_files(tmp_path) if not name.endswith(".crc")}
    assert visible == named


def test_a_table_that_is_there_is_an_error_by_default(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).save(str(tmp_path))
    before = data_files(tmp_path)

    with pytest.raises(TableExistsError) as caught:
        write(rows).save(str(tmp_path))

    assert caught.value.sentence() == (
        f"there is already a table at {tmp_path}\n"
        'hint: write with mode("append") to add rows, or mode("overwrite") to replace them'
    )
    assert data_files(tmp_path) == before


def test_ignore_leaves_a_table_alone(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).mode("ignore").save(str(tmp_path))
    write(rows).mode("ignore").save(str(tmp_path))

    assert last_version(tmp_path) == 0


def test_append_adds_rows(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).save(str(tmp_path))
    write(rows.selectExpr("id + 2 as ID", "name")).mode("append").save(str(tmp_path))

    assert rust_rows(tmp_path)[2:] == [
        {"id": 3, "name": "a", "p": None},
        {"id": 4, "name": "b", "p": None},
    ]
    info = commit_info(tmp_path, 1)
    assert info["operationParameters"] == {"mode": "Append", "partitionBy": "[]"}
    assert info["readVersion"] == 0
    assert info["isBlindAppend"] is True


def test_append_of_no_rows_commits_nothing(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).save(str(tmp_path))
    before = data_files(tmp_path)

    write(rows.where("false")).mode("append").save(str(tmp_path))

    assert last_version(tmp_path) == 0
    assert {name for name in data_files(tmp_path) if not name.endswith(".crc")} == {
        name for name in before if not name.endswith(".crc")
    }


def test_a_table_of_no_rows_has_a_schema(rows: DataFrame, tmp_path: Path) -> None:
    write(rows.where("false")).save(str(tmp_path))

    assert rust_rows(tmp_path) == []
    assert load_snapshot(LocalStorage(str(tmp_path))).schema.names == ("id", "name", "p")


def test_overwrite_replaces_all_rows(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).save(str(tmp_path))
    write(rows.where("id = 2")).mode("overwrite").save(str(tmp_path))

    assert ids(tmp_path) == [2]
    info = commit_info(tmp_path, 1)
    removes = actions(tmp_path, 1, "remove")
    assert info["operationParameters"] == {"mode": "Overwrite", "partitionBy": "[]"}
    assert info["isBlindAppend"] is False
    assert info["operationMetrics"]["numRemovedFiles"] == str(len(removes))
    assert info["operationMetrics"]["numRemovedBytes"] == str(sum(r["size"] for r in removes))
    assert all(remove["dataChange"] and remove["extendedFileMetadata"] for remove in removes)


def test_an_append_only_table_is_not_overwritten(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).option("delta.appendOnly", "true").partitionBy("p").save(str(tmp_path))
    before = data_files(tmp_path)

    for mode in ("static", "dynamic"):
        with pytest.raises(AppendOnlyTableError):
            write(rows).mode("overwrite").option("partitionOverwriteMode", mode).save(str(tmp_path))

    assert data_files(tmp_path) == before
    write(rows).mode("append").save(str(tmp_path))
    assert ids(tmp_path) == [1, 1, 2, 2]


def test_rows_that_are_only_rearranged_say_so(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).save(str(tmp_path))
    write(rows).mode("overwrite").option("dataChange", False).save(str(tmp_path))

    files = [*actions(tmp_path, 1, "add"), *actions(tmp_path, 1, "remove")]
    assert {file["dataChange"] for file in files} == {False}
    assert commit_info(tmp_path, 1)["isolationLevel"] == "SnapshotIsolation"


def test_rearranging_rows_cannot_change_the_schema(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).save(str(tmp_path))

    with pytest.raises(DataChangeWithMetadataError) as caught:
        write(rows.selectExpr("*", "1 as more")).mode("append").options(
            dataChange=False, mergeSchema=True
        ).save(str(tmp_path))

    assert caught.value.sentence() == (
        "option dataChange is false, so rows are only rearranged, but the write would change the "
        f"metadata of the table {tmp_path}\n"
        "hint: change the schema in a write of its own, or leave dataChange out"
    )


def test_a_write_is_repeated_only_once(rows: DataFrame, tmp_path: Path) -> None:
    def once(version: int) -> None:
        writer = write(rows).mode("append").option("txnAppId", "app").option("txnVersion", version)
        writer.save(str(tmp_path))

    once(4)
    once(4)
    once(3)
    once(5)

    assert ids(tmp_path) == [1, 1, 2, 2]
    assert last_version(tmp_path) == 1
    (txn,) = actions(tmp_path, 1, "txn")
    assert (txn["appId"], txn["version"]) == ("app", 5)


def test_user_metadata_is_recorded(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).option("userMetadata", "from the tests").save(str(tmp_path))

    assert commit_info(tmp_path, 0)["userMetadata"] == "from the tests"


def test_options_say_how_files_are_cut_and_compressed(spark: SparkSession, tmp_path: Path) -> None:
    frame = spark.range(0, 25, 1, 1)

    write(frame).options(maxRecordsPerFile=10, compression="zstd").save(str(tmp_path))

    adds = actions(tmp_path, 0, "add")
    assert len(adds) == 3
    assert all(add["path"].endswith(".zstd.parquet") for add in adds)
    assert ids(tmp_path) == list(range(25))


def test_partition_by_other_columns_is_refused(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).partitionBy("p").save(str(tmp_path))

    with pytest.raises(PartitioningMismatchError) as caught:
        write(rows).mode("append").partitionBy("name").save(str(tmp_path))

    assert caught.value.sentence() == (
        f"Partition columns do not match those of the table {tmp_path}: partitionBy names [name], "
        "but it is partitioned by [p]\n"
        'hint: leave partitionBy out, or overwrite the table with option("overwriteSchema", '
        '"true") to repartition it'
    )
    write(rows).mode("append").partitionBy(["P"]).save(str(tmp_path))


def test_cluster_by_other_columns_is_refused(rows: DataFrame, tmp_path: Path) -> None:
    write(rows).clusterBy("p").save(str(tmp_path))

    with pytest.raises(ClusteringMismatchError) as caught:
        write(rows).mode("overwrite").clusterBy("name").save(str(tmp_path))

    assert caught.value.sentence() == (
        f"clusterBy names [name], but the table {tmp_path} is clustered by [p]\n"
        "hint: leave clusterBy out, use ALTER TABLE ... CLUSTER BY, or overwrite the table with "
        'option("overwriteSchema", "true")'
    )
    write(rows).mode("overwrite").clusterBy("P").save(str(tmp_path))


def test_columns_with_the_feeds_names_are_refused_while_it_is_on(
    rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).option("delta.enableChangeDataFeed", "true").save(str(tmp_path))

    with pytest.raises(ReservedChangeColumnsError):
        write(rows.selectExpr("*", "'x' as _change_type")).mode("append").option(
            "mergeSchema", True
        ).save(str(tmp_path))


def test_columns_with_the_feeds_names_are_data_while_it_is_off(
    rows: DataFrame, tmp_path: Path
) -> None:
    write(rows.selectExpr("id", "'x' as _change_type")).save(str(tmp_path))

    assert rust_rows(tmp_path) == [
        {"id": 1, "_change_type": "x"},
        {"id": 2, "_change_type": "x"},
    ]


def test_an_append_to_a_table_with_a_feed_writes_no_change_files(
    rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).option("delta.enableChangeDataFeed", "true").save(str(tmp_path))
    write(rows).mode("overwrite").save(str(tmp_path))

    assert actions(tmp_path, 0, "cdc") == []
    assert actions(tmp_path, 1, "cdc") == []


@pytest.mark.parametrize(
    ("select", "error"),
    [(["id", "id as ID"], DuplicateColumnsError), (["id", "p as id"], DuplicateColumnsError)],
)
def test_a_column_comes_once(
    rows: DataFrame, tmp_path: Path, select: list[str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        write(rows.selectExpr(*select)).save(str(tmp_path / "t"))

    assert not (tmp_path / "t").exists()


def test_replace_where_needs_an_overwrite(rows: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(OverwriteOptionError) as caught:
        write(rows).mode("append").option("replaceWhere", "p = 1").save(str(tmp_path))

    assert caught.value.sentence() == (
        "option replaceWhere is set, but the mode is append, which replaces nothing\n"
        'hint: write with mode("overwrite"), or leave the option out'
    )


@pytest.mark.parametrize("mode", ["error", "ignore"])
def test_replace_where_makes_a_new_table_in_the_modes_that_keep_one(
    rows: DataFrame, tmp_path: Path, mode: str
) -> None:
    few = rows.where("p = 10")
    write(few).mode(mode).option("replaceWhere", "p = 10").save(str(tmp_path / "t"))
    with pytest.raises(ReplaceWhereViolationError):
        write(rows).mode(mode).option("replaceWhere", "p = 10").save(str(tmp_path / "other"))

    assert ids(tmp_path / "t") == [1]
    assert not (tmp_path / "other" / "_delta_log").exists()


def test_replace_where_on_a_table_that_is_there_is_refused_by_the_default_mode(
    rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).save(str(tmp_path))

    with pytest.raises(TableExistsError):
        write(rows).option("replaceWhere", "p = 1").save(str(tmp_path))


def test_a_bad_option_leaves_nothing_behind(rows: DataFrame, tmp_path: Path) -> None:
    with pytest.raises(IllegalOptionError):
        write(rows).option("mergeSchema", "maybe").save(str(tmp_path / "t"))

    assert not (tmp_path / "t").exists()


def test_a_stream_is_not_written_at_once(spark: SparkSession, tmp_path: Path) -> None:
    stream = spark.readStream.format("rate").load()

    with pytest.raises(StreamingFrameError) as caught:
        write(stream).save(str(tmp_path / "t"))

    assert caught.value.sentence() == (
        "a streaming DataFrame has no end, so a batch write cannot write it\n"
        "hint: write its batches, with df.writeStream.foreachBatch"
    )


def test_a_path_with_unusual_characters_works(
    spark: SparkSession, rows: DataFrame, tmp_path: Path
) -> None:
    path = str(tmp_path / "a b%20c+é#1")

    write(rows).partitionBy("name").save(path)
    write(rows).mode("append").save(path)

    snapshot = load_snapshot(LocalStorage(path))
    assert sorted(tuple(row) for row in snapshot_frame(spark, snapshot).collect()) == [
        (1, "a", 10),
        (1, "a", 10),
        (2, "b", 20),
        (2, "b", 20),
    ]


def test_an_overwrite_of_a_path_without_a_table_has_looked_for_files(
    rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).mode("overwrite").save(str(tmp_path / "t"))

    info = commit_info(tmp_path / "t", 0)
    assert info["isBlindAppend"] is False
    assert info["operationMetrics"]["numRemovedFiles"] == "0"
