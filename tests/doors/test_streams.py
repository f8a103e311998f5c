"""Streams by the format `delta`, as programs written for delta-spark start and watch them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import (
    AnalysisException,
    IllegalArgumentException,
    StreamingQueryException,
)
from pyspark.sql import DataFrame, SparkSession

from truckee.doors.enable import enable
from truckee.log.files.commits import read_commits
from truckee.options.text import UnknownOptionWarning
from truckee.storage import open_storage


@pytest.fixture
def enabled(spark: SparkSession) -> SparkSession:
    return enable(spark)


def append(spark: SparkSession, path: Path, *ids: int) -> None:
    rows = spark.createDataFrame([(number,) for number in ids], "id long").coalesce(1)
    rows.write.format("delta").mode("append").save(str(path))


def streamed(spark: SparkSession, path: Path) -> DataFrame:
    return spark.readStream.format("delta").load(str(path))


def write(frame: DataFrame, path: Path, checkpoint: Path) -> dict[str, Any]:
    """Write a stream to a table, and return the progress of its last batch."""
    writer = frame.writeStream.format("delta").option("checkpointLocation", str(checkpoint))
    query = writer.trigger(availableNow=True).start(str(path))
    query.awaitTermination()
    assert query.lastProgress is not None
    return dict(query.lastProgress)


def blind_appends(path: Path) -> list[bool | None]:
    commits = read_commits(open_storage(str(path)), 0)
    return [commit.commit_info.is_blind_append for commit in commits if commit.commit_info]


def test_a_batch_that_depends_on_its_table_is_no_blind_append(
    enabled: SparkSession, tmp_path: Path
) -> None:
    append(enabled, tmp_path / "s", 0, 1, 2)
    append(enabled, tmp_path / "t", 0)
    known = enabled.read.format("delta").load(str(tmp_path / "t"))

    unknown = streamed(enabled, tmp_path / "s").join(known, "id", "left_anti")
    write(unknown, tmp_path / "t", tmp_path / "c")

    assert blind_appends(tmp_path / "t") == [True, False]
    rows = enabled.read.format("delta").load(str(tmp_path / "t")).collect()
    assert sorted(row.id for row in rows) == [0, 1, 2]


def test_a_batch_of_another_table_is_a_blind_append(enabled: SparkSession, tmp_path: Path) -> None:
    append(enabled, tmp_path / "s", 0, 1)
    append(enabled, tmp_path / "t", 0)

    write(streamed(enabled, tmp_path / "s"), tmp_path / "t", tmp_path / "c")

    assert blind_appends(tmp_path / "t") == [True, True]


def test_progress_names_the_source_and_the_sink(enabled: SparkSession, tmp_path: Path) -> None:
    append(enabled, tmp_path / "s", 0, 1)

    progress = write(streamed(enabled, tmp_path / "s"), tmp_path / "t", tmp_path / "c")

    (source,) = progress["sources"]
    assert source["description"] == f"DeltaSource[file:{tmp_path / 's'}]"
    assert progress["sink"]["description"] == f"DeltaSink[{tmp_path / 't'}]"


def test_columns_given_by_hand_that_are_not_those_of_the_table_are_told(
    enabled: SparkSession, tmp_path: Path
) -> None:
    append(enabled, tmp_path / "s", 0)
    reader = enabled.readStream.format("delta")

    assert reader.schema("id long").load(str(tmp_path / "s")).columns == ["id"]
    with pytest.warns(UnknownOptionWarning) as told:
        assert reader.schema("other long").load(str(tmp_path / "s")).columns == ["id"]
    assert {str(each.message) for each in told} == {
        "the schema struct<other:bigint> has no effect on the stream, whose columns are "
        "struct<id:bigint>"
    }
    assert {each.filename for each in told} == {__file__}


def test_an_option_that_has_no_effect_is_told_of_the_line_that_gave_it(
    enabled: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "s")
    append(enabled, tmp_path / "s", 0)
    rows = enabled.range(1)

    def ask() -> None:
        enabled.read.format("delta").option("versonAsOf", 0).load(path)
        rows.write.format("delta").mode("append").option("mergeShema", True).save(path)
        enabled.readStream.format("delta").option("maxFilesPerTriger", 1).load(path)

    with pytest.warns(UnknownOptionWarning) as told:
        ask()

    first = told[0].lineno
    assert {(each.filename, each.lineno - first) for each in told} == {
        (__file__, 0),
        (__file__, 1),
        (__file__, 2),
    }


def test_text_is_parsed_as_the_types_of_the_table(enabled: SparkSession, tmp_path: Path) -> None:
    append(enabled, tmp_path / "s", 7)
    target = tmp_path / "t"
    enabled.sql(f"CREATE TABLE delta.`{target}` (n INT, d DATE, t STRING) USING delta")
    texts = ("cast(id AS STRING) AS N", "'2024-02-03' AS d", "id AS t")

    write(streamed(enabled, tmp_path / "s").selectExpr(*texts), target, tmp_path / "c")

    assert enabled.sql(f"SELECT n, cast(d AS STRING), t FROM delta.`{target}`").collect() == [
        (7, "2024-02-03", "7")
    ]


def test_text_that_is_no_number_ends_the_stream(enabled: SparkSession, tmp_path: Path) -> None:
    append(enabled, tmp_path / "s", 7)
    append(enabled, tmp_path / "t", 1)
    texts = streamed(enabled, tmp_path / "s").selectExpr("'seven' AS id")

    enabled.conf.set("spark.sql.ansi.enabled", "false")
    try:
        with pytest.raises(StreamingQueryException, match=r"CAST_INVALID_INPUT") as raised:
            write(texts, tmp_path / "t", tmp_path / "c")
    finally:
        enabled.conf.unset("spark.sql.ansi.enabled")

    assert str(raised.value).startswith("[STREAM_FAILED]")
    assert "truckee-error" not in str(raised.value)
    assert blind_appends(tmp_path / "t") == [True]


def test_replacing_the_rows_of_a_table_is_no_blind_append(
    enabled: SparkSession, tmp_path: Path
) -> None:
    append(enabled, tmp_path / "s", 7)
    counts = streamed(enabled, tmp_path / "s").groupBy().count()

    writer = counts.writeStream.format("delta").outputMode("complete")
    writer = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    writer.start(str(tmp_path / "t")).awaitTermination()

    assert blind_appends(tmp_path / "t") == [False]


def test_a_table_by_path_that_a_stream_creates_is_clustered(
    enabled: SparkSession, tmp_path: Path
) -> None:
    append(enabled, tmp_path / "s", 7)
    writer = streamed(enabled, tmp_path / "s").writeStream.format("delta").clusterBy("id")

    writer = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    writer.start(str(tmp_path / "t")).awaitTermination()

    (detail,) = enabled.sql(f"DESCRIBE DETAIL delta.`{tmp_path / 't'}`").collect()
    assert detail.clusteringColumns == ["id"]


def test_a_stream_of_an_older_version_is_refused(enabled: SparkSession, tmp_path: Path) -> None:
    append(enabled, tmp_path / "s", 0)

    with pytest.raises(AnalysisException) as raised:
        streamed(enabled, tmp_path / "s@v0")

    assert raised.value.getCondition() == "DELTA_UNSUPPORTED_TIME_TRAVEL_VIEWS"


def test_a_stream_without_a_path_is_refused(enabled: SparkSession) -> None:
    with pytest.raises(IllegalArgumentException, match="no path is given"):
        enabled.readStream.format("delta").load()
