"""Streams into tables: each batch is part of the table once, whatever happens."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.errors import AnalysisException, StreamingQueryException
from pyspark.sql import DataFrame, SparkSession

import truckee
from session_settings import set_as
from streaming.lake import append, changing_table
from streaming.queries import counted
from truckee.errors.streaming import (
    CheckpointNotKeptError,
    NullTypeInStreamError,
    UnsupportedOutputModeError,
)
from truckee.log.files.commits import read_commits
from truckee.log.snapshot import load_snapshot
from truckee.protocol.actions import CommitInfo
from truckee.storage import open_storage
from truckee.streaming.fast_lane import stream_frame
from truckee.streaming.sink import write_batch


def feed_of(spark: SparkSession, path: Path) -> DataFrame:
    options = {"readChangeFeed": "true", "startingVersion": "0", "maxFilesPerTrigger": "2"}
    return stream_frame(spark, str(path), options)


def read(spark: SparkSession, path: Path) -> DataFrame:
    return truckee.read(spark).load(str(path))


def infos(path: Path) -> list[CommitInfo]:
    commits = read_commits(open_storage(str(path)), 0)
    return [commit.commit_info for commit in commits if commit.commit_info is not None]


def run_foreach(frame: DataFrame, into: Path, checkpoint: Path, **options: object) -> str:
    writer = frame.writeStream.foreachBatch(write_batch(str(into), **options))
    query = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True).start()
    query.awaitTermination()
    return str(query.id)


def run_format(
    frame: DataFrame, into: Path, checkpoint: Path, mode: str = "append", **options: str
) -> str:
    writer = frame.writeStream.format("truckee").options(**options).outputMode(mode)
    writer = writer.option("checkpointLocation", str(checkpoint)).trigger(availableNow=True)
    query = writer.start(str(into))
    query.awaitTermination()
    return str(query.id)


@pytest.mark.parametrize("run", [run_foreach, pytest.param(run_format, marks=pytest.mark.slow)])
def test_a_feed_written_on_is_the_feed(
    spark: SparkSession, tmp_path: Path, run: type[object]
) -> None:
    changing_table(spark, tmp_path / "t")
    frame = feed_of(spark, tmp_path / "t").withColumnsRenamed(
        {"_change_type": "change", "_commit_version": "version", "_commit_timestamp": "at"}
    )

    query = run(frame, tmp_path / "u", tmp_path / "c")  # type: ignore[call-arg]

    reader = truckee.read(spark).option("readChangeFeed", True).option("startingVersion", 0)
    expected = reader.load(str(tmp_path / "t"))
    assert counted(read(spark, tmp_path / "u").collect()) == counted(expected.collect())
    snapshot = load_snapshot(open_storage(str(tmp_path / "u")))
    batches = snapshot.set_transactions[str(query)].version + 1
    assert batches == snapshot.version + 1
    info = infos(tmp_path / "u")[-1]
    assert info.operation == "STREAMING UPDATE"
    assert info.operation_parameters == {
        "outputMode": "Append",
        "queryId": query,
        "epochId": str(batches - 1),
    }


@pytest.mark.parametrize("run", [run_foreach, run_format])
def test_a_batch_that_comes_again_is_left_out(
    spark: SparkSession, tmp_path: Path, run: type[object]
) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})
    run(frame, tmp_path / "u", tmp_path / "c")  # type: ignore[call-arg]

    # As if Spark had been killed after the sink's commit, and before its own.
    (tmp_path / "c" / "commits" / "0").unlink()
    (tmp_path / "c" / "commits" / ".0.crc").unlink()
    run(frame, tmp_path / "u", tmp_path / "c")  # type: ignore[call-arg]

    assert sorted(row.id for row in read(spark, tmp_path / "u").collect()) == [0, 1, 2]
    assert load_snapshot(open_storage(str(tmp_path / "u"))).version == 0


@pytest.mark.parametrize("run", [run_foreach, run_format])
def test_complete_mode_replaces_the_rows(
    spark: SparkSession, tmp_path: Path, run: type[object]
) -> None:
    for first in (0, 3):
        append(spark, tmp_path / "t", first)
    frame = stream_frame(spark, str(tmp_path / "t"), {"maxFilesPerTrigger": "1"})
    counts = frame.groupBy().count()

    if run is run_format:
        run_format(counts, tmp_path / "u", tmp_path / "c", "complete")
    else:
        writer = counts.writeStream.outputMode("complete")
        writer = writer.foreachBatch(write_batch(str(tmp_path / "u"), outputMode="complete"))
        writer = writer.option("checkpointLocation", str(tmp_path / "c"))
        writer.trigger(availableNow=True).start().awaitTermination()

    assert [row["count"] for row in read(spark, tmp_path / "u").collect()] == [6]
    assert infos(tmp_path / "u")[-1].operation_parameters["outputMode"] == "Complete"  # type: ignore[index]


@pytest.mark.parametrize("run", [run_foreach, run_format])
def test_new_columns_and_partitions(spark: SparkSession, tmp_path: Path, run: type[object]) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})
    run(frame, tmp_path / "u", tmp_path / "c", partitionBy="value")  # type: ignore[call-arg]
    append(spark, tmp_path / "t", 3)
    wider = frame.selectExpr("*", "id * 2 AS twice")

    run(wider, tmp_path / "u", tmp_path / "c", mergeSchema="true")  # type: ignore[call-arg]

    rows = read(spark, tmp_path / "u").collect()
    assert sorted((row.id, row.twice) for row in rows if row.id in (2, 3)) == [(2, None), (3, 6)]
    snapshot = load_snapshot(open_storage(str(tmp_path / "u")))
    assert snapshot.partition_columns == ("value",)


# Invariant 69.
def test_without_a_checkpoint_nothing_is_written(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})
    writer = frame.writeStream.foreachBatch(write_batch(str(tmp_path / "u"), queryId="mine"))

    with pytest.raises(CheckpointNotKeptError) as raised:
        writer.trigger(availableNow=True).start().awaitTermination()

    assert raised.value.sentence().startswith(
        f"the query that writes to {tmp_path / 'u'} has no checkpointLocation: Spark deletes its "
        "progress when it ends, and a restarted query would write all rows again\nhint: "
    )
    assert not (tmp_path / "u").exists()


def test_the_sessions_folder_for_checkpoints_is_one(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {})
    folder = str(tmp_path / "temporary-checkpoints")

    with set_as(spark, {"spark.sql.streaming.checkpointLocation": folder}):
        writer = frame.writeStream.queryName("kept").trigger(availableNow=True)
        writer.foreachBatch(write_batch(str(tmp_path / "u"))).start().awaitTermination()

    assert read(spark, tmp_path / "u").count() == read(spark, tmp_path / "t").count()


def test_modes_that_are_not_there() -> None:
    with pytest.raises(UnsupportedOutputModeError) as raised:
        write_batch("/t", outputMode="update")

    assert raised.value.code == "DELTA_UNSUPPORTED_OUTPUT_MODE"
    assert raised.value.sentence() == (
        "output mode update is not supported, expected append or complete\n"
        "hint: to update rows, merge each batch in foreachBatch"
    )


def test_a_column_without_a_type(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    frame = stream_frame(spark, str(tmp_path / "t"), {}).selectExpr("id", "NULL AS nothing")

    with pytest.raises(NullTypeInStreamError) as raised:
        run_foreach(frame, tmp_path / "u", tmp_path / "c")
    assert raised.value.sentence() == (
        "column nothing has no type, only nulls\nhint: cast it to the intended type"
    )
    with pytest.raises(StreamingQueryException, match="column nothing has no type, only nulls"):
        run_format(frame, tmp_path / "u", tmp_path / "d")


def test_batch_writes_append_and_overwrite(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.range(4).selectExpr("id", "concat('v', id) AS value")
    path = str(tmp_path / "t")
    writer = rows.write.format("truckee")

    writer.mode("append").option("delta.enableChangeDataFeed", "true").save(path)
    writer.mode("append").save(path)
    assert read(spark, tmp_path / "t").count() == 8
    writer.mode("overwrite").save(path)
    rows.write.format("delta").mode("append").save(path)

    assert counted(read(spark, tmp_path / "t").collect()) == counted(rows.collect() * 2)
    assert [info.operation for info in infos(tmp_path / "t")] == ["WRITE"] * 4
    assert load_snapshot(open_storage(path)).properties.enable_change_data_feed


def test_a_batch_write_that_is_refused_says_why(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    other = spark.range(2).selectExpr("id", "id AS other")

    with pytest.raises(AnalysisException, match="SchemaMismatchError"):
        other.write.format("truckee").mode("append").save(str(tmp_path / "t"))
