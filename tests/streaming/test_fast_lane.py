"""Real queries over the fast lane."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import truckee
from streaming.lake import append, batch_feed, changing_table
from streaming.queries import Collected, counted, offsets, run, start
from truckee import DeltaTable
from truckee.errors.log import NotADeltaTableError, VersionNotFoundError
from truckee.errors.options import IllegalOptionError
from truckee.errors.stream_schema import (
    MetadataEvolvedError,
    SchemaChangeNotAllowedError,
    SchemaLocationError,
    StreamSchemaChangedError,
)
from truckee.errors.streaming import (
    DifferentTableError,
    SourceRowsDeletedError,
    StreamedFeedOffError,
)
from truckee.options.text import UnknownOptionWarning
from truckee.streaming.fast_lane import stream_frame


def test_a_stream_of_appends_is_the_table(spark: SparkSession, tmp_path: Path) -> None:
    for first in (0, 3, 6):
        append(spark, tmp_path / "t", first)
    frame = stream_frame(spark, str(tmp_path / "t"), {"maxFilesPerTrigger": 1})

    found = run(frame, tmp_path / "c")

    assert frame.isStreaming
    assert frame.schema == truckee.read(spark).load(str(tmp_path / "t")).schema
    assert sorted(row.id for row in found.rows) == list(range(9))
    assert found.sizes == [3, 3, 3]


@pytest.mark.parametrize("vectors", [True, False])
@pytest.mark.parametrize("limit", [1, 2, 100])
def test_a_stream_of_the_feed_is_the_batch_feed(
    spark: SparkSession, tmp_path: Path, vectors: bool, limit: int
) -> None:
    changing_table(spark, tmp_path / "t", vectors=vectors)
    options = {"readChangeFeed": True, "startingVersion": 0, "maxFilesPerTrigger": limit}
    frame = stream_frame(spark, str(tmp_path / "t"), options)

    found = run(frame, tmp_path / "c")

    expected = batch_feed(spark, tmp_path / "t")
    assert frame.schema == expected.schema
    assert counted(found.rows) == counted(expected.collect())


def test_a_restart_gives_exactly_the_rest(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})
    first = run(frame, tmp_path / "c")
    append(spark, tmp_path / "t", 3)

    second = run(frame, tmp_path / "c")

    assert sorted(row.id for row in first.rows) == [0, 1, 2]
    assert sorted(row.id for row in second.rows) == [3, 4, 5]
    assert [text.partition('"reservoirVersion"')[2] for text in offsets(tmp_path / "c")] == [
        ':1,"index":-1,"isStartingVersion":false}',
        ':2,"index":-1,"isStartingVersion":false}',
    ]


def test_a_running_query_sees_new_commits(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    collected = Collected()
    frame = stream_frame(spark, str(tmp_path / "t"), {"startingVersion": "latest"})
    query = start(frame.where("id % 2 = 1"), tmp_path / "c", collected)
    try:
        query.processAllAvailable()
        append(spark, tmp_path / "t", 3)
        query.processAllAvailable()
    finally:
        query.stop()

    assert sorted(row.id for row in collected.rows) == [3, 5]


def test_one_batch_takes_all_with_trigger_once(spark: SparkSession, tmp_path: Path) -> None:
    for first in (0, 3):
        append(spark, tmp_path / "t", first)
    options = {"startingVersion": 0, "maxFilesPerTrigger": 1}

    found = run(stream_frame(spark, str(tmp_path / "t"), options), tmp_path / "c", once=True)

    assert found.sizes == [6]


def test_partition_values_and_mapped_columns(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, "x", None), (2, "y", 2.5)], "id long, day string, v double")
    writer = truckee.write(rows).partitionBy("day").option("delta.columnMapping.mode", "name")
    writer.save(str(tmp_path / "t"))

    found = run(stream_frame(spark, str(tmp_path / "t"), {}), tmp_path / "c")

    assert counted(found.rows) == counted(rows.collect())


def test_an_aggregate_over_a_stream(spark: SparkSession, tmp_path: Path) -> None:
    for first in (0, 3):
        append(spark, tmp_path / "t", first)
    frame = stream_frame(spark, str(tmp_path / "t"), {"maxFilesPerTrigger": 1})
    writer = frame.groupBy().sum("id").writeStream.format("memory").queryName("fast_lane_sum")
    writer = writer.outputMode("complete").option("checkpointLocation", str(tmp_path / "c"))

    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()

    assert spark.table("fast_lane_sum").collect()[0][0] == 15
    assert sum(progress["numInputRows"] for progress in query.recentProgress) == 6


def test_a_query_over_two_streams_of_one_table(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})

    found = run(frame.unionAll(frame.selectExpr("id + 100", "value")), tmp_path / "c")

    assert sorted(row.id for row in found.rows) == [0, 1, 2, 100, 101, 102]


def test_the_error_that_ends_a_query_is_ours(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})
    run(frame, tmp_path / "c")
    DeltaTable.forPath(spark, str(tmp_path / "t")).delete()

    with pytest.raises(SourceRowsDeletedError) as raised:
        run(frame, tmp_path / "c")

    assert raised.value.version == 1


def test_a_new_column_stops_the_query_once(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})
    run(frame, tmp_path / "c")
    more = spark.range(3, 5).selectExpr("id", "'x' AS value", "1.5D AS extra")
    truckee.write(more).mode("append").option("mergeSchema", True).save(str(tmp_path / "t"))

    with pytest.raises(StreamSchemaChangedError) as raised:
        run(frame, tmp_path / "c")
    assert raised.value.is_retryable

    again = run(stream_frame(spark, str(tmp_path / "t"), {}), tmp_path / "c")
    assert sorted((row.id, row.extra) for row in again.rows) == [(3, 1.5), (4, 1.5)]


def test_a_checkpoint_of_another_table(spark: SparkSession, tmp_path: Path) -> None:
    for name in ("t", "u"):
        append(spark, tmp_path / name, 0)
    run(stream_frame(spark, str(tmp_path / "t"), {}), tmp_path / "c")

    with pytest.raises(DifferentTableError):
        run(stream_frame(spark, str(tmp_path / "u"), {}), tmp_path / "c")


def test_what_is_wrong_with_options_or_table_is_told_at_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    append(spark, tmp_path / "t", 0)

    with pytest.raises(IllegalOptionError):
        stream_frame(spark, str(tmp_path / "t"), {"maxFilesPerTrigger": 0})
    with pytest.raises(NotADeltaTableError):
        stream_frame(spark, str(tmp_path / "nothing"), {})


def test_unknown_options_are_told_with_the_nearest_known_one(
    spark: SparkSession, tmp_path: Path
) -> None:
    append(spark, tmp_path / "t", 0)

    with pytest.warns(UnknownOptionWarning) as warned:
        stream_frame(spark, str(tmp_path / "t"), {"maxFilePerTrigger": 1, "zzz": 1, "fs.x": 1})

    assert [str(warning.message) for warning in warned] == [
        "option maxFilePerTrigger has no effect on a stream; did you mean maxFilesPerTrigger?",
        "option zzz has no effect on a stream",
    ]


def test_spark_shows_the_words_of_the_error_too(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {"startingVersion": 7})

    query = start(frame, tmp_path / "c", Collected(), availableNow=True)
    with pytest.raises(VersionNotFoundError) as raised:
        query.awaitTermination()

    # Programs that wait for a stream catch the exception that Spark has for all of its failures.
    assert isinstance(raised.value, StreamingQueryException)
    assert raised.value.getCondition() == "DELTA_VERSION_NOT_FOUND"
    assert isinstance(pickle.loads(pickle.dumps(raised.value)), VersionNotFoundError)
    ended = query.exception()
    assert isinstance(ended, StreamingQueryException)
    assert str(ended) == str(raised.value)


def test_a_query_delivers_the_feed_up_to_where_it_was_switched_off(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    append(spark, tmp_path / "t", 0, **{"delta.enableChangeDataFeed": "true"})
    append(spark, tmp_path / "t", 3)
    off = "SET TBLPROPERTIES ('delta.enableChangeDataFeed' = 'false')"
    spark.sql(f"ALTER TABLE delta.`{path}` {off}")
    append(spark, tmp_path / "t", 6)
    options = {"readChangeFeed": True, "startingVersion": 0}
    found = Collected()

    query = start(stream_frame(spark, path, options), tmp_path / "c", found, availableNow=True)
    with pytest.raises(StreamingQueryException) as raised:
        query.awaitTermination()
    rest = run(stream_frame(spark, path, {**options, "changeFeed": "auto"}), tmp_path / "c")

    assert isinstance(raised.value, StreamedFeedOffError)
    assert raised.value.version == 2
    assert sorted(row.id for row in found.rows) == list(range(6))
    assert sorted(row.id for row in rest.rows) == [6, 7, 8]


@pytest.mark.parametrize("lane", ["fast", pytest.param("slow", marks=pytest.mark.slow)])
def test_a_renamed_column_is_followed_with_a_schema_log(
    spark: SparkSession, tmp_path: Path, lane: str
) -> None:
    append(spark, tmp_path / "t", 0, **{"delta.columnMapping.mode": "name"})
    table = DeltaTable.forPath(spark, str(tmp_path / "t"))
    options = {"schemaTrackingLocation": str(tmp_path / "c" / "schemas")}

    def load(**more: str) -> DataFrame:
        if lane == "fast":
            return stream_frame(spark, str(tmp_path / "t"), {**options, **more})
        return (
            spark.readStream.format("truckee").options(**options, **more).load(str(tmp_path / "t"))
        )

    assert len(run(load(), tmp_path / "c").rows) == 3
    table.renameColumn("value", "text")
    rows = spark.range(3, 5).selectExpr("id", "concat('t', id) AS text")
    truckee.write(rows).mode("append").save(str(tmp_path / "t"))

    ended = MetadataEvolvedError if lane == "fast" else StreamingQueryException
    with pytest.raises(ended, match="has reached the change of its metadata at version 1"):
        run(load(), tmp_path / "c")
    refused = SchemaChangeNotAllowedError if lane == "fast" else StreamingQueryException
    with pytest.raises(refused, match="changed its columns: column value was renamed"):
        run(load(), tmp_path / "c")
    found = run(load(allowSourceColumnRename="always"), tmp_path / "c")

    assert sorted((row.id, row.text) for row in found.rows) == [(3, "t3"), (4, "t4")]


def test_a_schema_log_must_lie_below_the_checkpoint(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    options = {"schemaTrackingLocation": str(tmp_path / "elsewhere")}

    with pytest.raises(SchemaLocationError):
        run(stream_frame(spark, str(tmp_path / "t"), options), tmp_path / "c")
