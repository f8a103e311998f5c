"""Reads and streams through `format("truckee")`."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.errors import AnalysisException, PySparkException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import truckee
from streaming.lake import append, batch_feed, changing_table
from streaming.queries import counted, offsets, run
from truckee.streaming.fast_lane import stream_frame


def load(spark: SparkSession, path: Path, **options: object) -> DataFrame:
    return spark.read.format("truckee").options(**options).load(str(path))


def load_stream(spark: SparkSession, path: Path, **options: object) -> DataFrame:
    return spark.readStream.format("truckee").options(**options).load(str(path))


def test_a_table_is_read_as_by_the_native_scan(spark: SparkSession, tmp_path: Path) -> None:
    changing_table(spark, tmp_path / "t")
    expected = truckee.read(spark).load(str(tmp_path / "t"))

    frame = load(spark, tmp_path / "t")

    assert frame.schema == expected.schema
    assert counted(frame.collect()) == counted(expected.collect())


def test_a_version_by_option_and_by_path(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    append(spark, tmp_path / "t", 3)

    assert load(spark, tmp_path / "t", versionAsOf=0).count() == 3
    assert load(spark, tmp_path / "t@v0").count() == 3
    assert load(spark, tmp_path / "t").count() == 6


def test_a_schema_log_is_for_streams(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    options = {"schemaTrackingLocation": tmp_path / "c" / "schemas"}

    with pytest.raises(AnalysisException, match="a batch read does not use a schema log"):
        load(spark, tmp_path / "t", **options).collect()
    followed = run(load_stream(spark, tmp_path / "t", **options), tmp_path / "c")

    assert len(followed.rows) == 3


def test_a_frame_stays_at_the_version_that_it_was_loaded_with(
    spark: SparkSession, tmp_path: Path
) -> None:
    append(spark, tmp_path / "t", 0)
    frame = load(spark, tmp_path / "t")

    append(spark, tmp_path / "t", 3)

    assert frame.count() == 3
    assert frame.where("id >= 0").count() == 3


def test_the_feed(spark: SparkSession, tmp_path: Path) -> None:
    changing_table(spark, tmp_path / "t")
    expected = batch_feed(spark, tmp_path / "t")

    frame = load(spark, tmp_path / "t", readChangeFeed=True, startingVersion=0)

    assert frame.schema == expected.schema
    assert counted(frame.collect()) == counted(expected.collect())
    ended = load(spark, tmp_path / "t", readChangeFeed=True, startingVersion=1, endingVersion=1)
    assert counted(ended.collect()) == counted(expected.where("_commit_version = 1").collect())


def test_columns_that_are_asked_for_are_all_that_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    changing_table(spark, tmp_path / "t")

    frame = load(spark, tmp_path / "t", columns="value")

    assert frame.columns == ["value"]
    assert frame.count() == 11
    feed = load(
        spark,
        tmp_path / "t",
        readChangeFeed=True,
        startingVersion=0,
        columns="_change_type, ID",
    )
    assert feed.columns == ["_change_type", "id"]


@pytest.mark.slow
def test_filters_leave_out_files_where_the_session_pushes_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    for first in (0, 10, 20):
        append(spark, tmp_path / "t", first)
    # A read that opens one of the files that the filter excludes fails.
    for file in (tmp_path / "t").glob("*.parquet"):
        if max(pq.read_table(file)["id"].to_pylist()) < 20:
            file.unlink()
    key = "spark.sql.python.filterPushdown.enabled"

    def found() -> list[int]:
        rows = load(spark, tmp_path / "t").where("id >= 20 AND value LIKE 'v%'").collect()
        return sorted(row.id for row in rows)

    with pytest.raises(PySparkException, match="DataFileNotFoundError"):
        found()
    spark.conf.set(key, "true")
    try:
        some = found()
    finally:
        spark.conf.unset(key)

    assert some == [20, 21, 22]


def test_the_name_delta_where_no_jar_claims_it(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)

    assert spark.read.format("delta").load(str(tmp_path / "t")).count() == 3


def test_partitions_and_mapped_columns(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame(
        [(1, "x", {"a": 1}, [("p", 2)]), (2, None, None, None)],
        "id long, day string, m map<string,long>, l array<struct<s:string,n:int>>",
    )
    writer = truckee.write(rows).partitionBy("day").option("delta.columnMapping.mode", "name")
    writer.save(str(tmp_path / "t"))

    assert sorted(map(str, load(spark, tmp_path / "t").collect())) == sorted(
        map(str, rows.collect())
    )


def test_what_is_wrong_is_told_by_its_name(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(AnalysisException, match="NotADeltaTableError") as raised:
        load(spark, tmp_path / "nothing")
    assert "is not a Delta table: the path does not exist" in str(raised.value)

    append(spark, tmp_path / "t", 0)
    with pytest.raises(AnalysisException, match="VersionNotFoundError"):
        load(spark, tmp_path / "t", versionAsOf=9)
    with pytest.raises(AnalysisException, match="needs to be some of id, value"):
        load(spark, tmp_path / "t", columns="nope")


def test_a_schema_given_by_hand_must_be_the_tables(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    reader = spark.read.format("truckee")

    assert reader.schema("id long, value string").load(str(tmp_path / "t")).count() == 3
    with pytest.raises(AnalysisException, match="GivenSchemaError"):
        reader.schema("id int").load(str(tmp_path / "t")).count()


def test_a_stream_of_appends(spark: SparkSession, tmp_path: Path) -> None:
    for first in (0, 3, 6):
        append(spark, tmp_path / "t", first)

    found = run(load_stream(spark, tmp_path / "t", maxFilesPerTrigger=1), tmp_path / "c")

    assert sorted(row.id for row in found.rows) == list(range(9))
    assert found.sizes == [3, 3, 3]
    assert (
        '"reservoirVersion": 3, "index": -1, "isStartingVersion": false}'
        in offsets(tmp_path / "c")[-1]
    )


@pytest.mark.parametrize("limit", [pytest.param(1, marks=pytest.mark.slow), 100])
def test_a_stream_of_the_feed(spark: SparkSession, tmp_path: Path, limit: int) -> None:
    changing_table(spark, tmp_path / "t")
    frame = load_stream(
        spark, tmp_path / "t", readChangeFeed=True, startingVersion=0, maxFilesPerTrigger=limit
    )

    found = run(frame, tmp_path / "c")

    assert counted(found.rows) == counted(batch_feed(spark, tmp_path / "t").collect())


@pytest.mark.slow
def test_a_query_moves_from_one_lane_to_the_other_and_back(
    spark: SparkSession, tmp_path: Path
) -> None:
    options = {"readChangeFeed": "true", "maxFilesPerTrigger": "2"}
    changing_table(spark, tmp_path / "t")
    found = []
    for step in range(4):
        append(spark, tmp_path / "t", 100 + 10 * step)
        frame = (
            load_stream(spark, tmp_path / "t", **options)
            if step % 2
            else stream_frame(spark, str(tmp_path / "t"), options)
        )
        found.append(run(frame, tmp_path / "c"))

    assert [len(part.rows) for part in found] == [14, 3, 3, 3]
    assert [row.id for row in found[3].rows] == [130, 131, 132]


@pytest.mark.slow
def test_a_start_at_the_latest_version(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = load_stream(spark, tmp_path / "t", startingVersion="latest")
    first = run(frame, tmp_path / "c")
    append(spark, tmp_path / "t", 3)

    second = run(frame, tmp_path / "c")

    assert first.rows == []
    assert sorted(row.id for row in second.rows) == [3, 4, 5]


def test_a_stream_that_is_refused_says_why(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)

    with pytest.raises(StreamingQueryException, match="IllegalOptionError") as raised:
        run(load_stream(spark, tmp_path / "t", maxFilesPerTrigger=-1), tmp_path / "c")
    assert "option maxFilesPerTrigger is '-1', but needs to be a positive integer" in str(
        raised.value
    )
    with pytest.raises(StreamingQueryException, match="TimeTravelOfStreamError"):
        run(load_stream(spark, tmp_path / "t", versionAsOf=0), tmp_path / "d")
