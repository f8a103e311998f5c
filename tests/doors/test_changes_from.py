"""CHANGES FROM and `spark.read.changes`: what Spark asks for is what the feed is asked for."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from truckee.doors.enable import enable

NAME = "changed_since"
_NET = {"deduplicationMode": "netChanges", "keys": "id"}


@pytest.fixture(scope="module")
def enabled(spark: SparkSession) -> Iterator[SparkSession]:
    """A session with a table: 1 inserted, 2 inserted; 1 updated twice; 2 deleted."""
    enable(spark).sql(
        f"CREATE TABLE {NAME} (id BIGINT, name STRING) USING delta "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    )
    spark.sql(f"INSERT INTO {NAME} VALUES (1, 'a'), (2, 'b')")
    spark.sql(f"UPDATE {NAME} SET name = 'x' WHERE id = 1")
    spark.sql(f"UPDATE {NAME} SET name = 'y' WHERE id = 1")
    spark.sql(f"DELETE FROM {NAME} WHERE id = 2")
    yield spark
    spark.sql(f"DROP TABLE {NAME}")


def told(changes: DataFrame) -> list[tuple[Any, ...]]:
    shown = changes.select("id", "name", "_change_type", "_commit_version")
    return sorted(tuple(row) for row in shown.collect())


def test_an_update_is_a_delete_and_an_insert(enabled: SparkSession) -> None:
    changes = enabled.sql(f"SELECT * FROM {NAME} CHANGES FROM VERSION 2 TO VERSION 2")

    assert told(changes) == [(1, "a", "delete", 2), (1, "x", "insert", 2)]


def test_computed_updates_are_two_images(enabled: SparkSession) -> None:
    changes = enabled.sql(
        f"SELECT * FROM {NAME} CHANGES FROM VERSION 2 TO VERSION 2 WITH (computeUpdates = true)"
    )

    assert told(changes) == [(1, "a", "update_preimage", 2), (1, "x", "update_postimage", 2)]


def test_net_changes_show_what_the_range_made_of_a_row(enabled: SparkSession) -> None:
    by_sql = enabled.sql(
        f"SELECT * FROM {NAME} CHANGES FROM VERSION 1 EXCLUSIVE TO VERSION 4 "
        "WITH (deduplicationMode = 'netChanges', computeUpdates = true, keys = 'id')"
    )
    by_reader = (
        enabled.read.options(**_NET, computeUpdates=True, startingVersion=2, endingVersion=4)
        .changes(NAME)
    )  # fmt: skip

    expected = [
        (1, "a", "update_preimage", 2),
        (1, "y", "update_postimage", 3),
        (2, "b", "delete", 4),
    ]
    assert told(by_sql) == expected
    assert told(by_reader) == expected


def test_net_changes_without_updates_are_deletes_and_inserts(enabled: SparkSession) -> None:
    changes = enabled.read.options(**_NET, startingVersion=0).changes(NAME)

    assert told(changes) == [(1, "y", "insert", 3)]


def test_a_stream_has_the_changes_from_a_version_on(enabled: SparkSession, tmp_path: Path) -> None:
    streams = {
        "by_reader": enabled.readStream.options(startingVersion=3).changes(NAME),
        "by_sql": enabled.sql(f"SELECT * FROM STREAM {NAME} CHANGES FROM VERSION 2 EXCLUSIVE"),
    }

    for name, stream in streams.items():
        query = (
            stream.writeStream.format("memory")
            .queryName(name)
            .option("checkpointLocation", str(tmp_path / name))
            .trigger(availableNow=True)
            .start()
        )
        query.awaitTermination()

        assert told(enabled.table(name)) == [
            (1, "x", "delete", 3),
            (1, "y", "insert", 3),
            (2, "b", "delete", 4),
        ]


def test_a_stream_nets_each_batch(enabled: SparkSession, tmp_path: Path) -> None:
    stream = enabled.readStream.options(**_NET, computeUpdates=True, startingVersion=2).changes(
        NAME
    )

    query = (
        stream.writeStream.format("memory")
        .queryName("netted")
        .option("checkpointLocation", str(tmp_path))
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()

    assert told(enabled.table("netted")) == [
        (1, "a", "update_preimage", 2),
        (1, "y", "update_postimage", 3),
        (2, "b", "delete", 4),
    ]


def test_a_version_that_is_none_is_refused(enabled: SparkSession) -> None:
    with pytest.raises(AnalysisException, match="startingVersion"):
        enabled.read.option("startingVersion", "first").changes(NAME)


@pytest.mark.parametrize(
    "changes",
    [
        f"{NAME} CHANGES FROM TIMESTAMP TIMESTAMP'+12345-01-01 00:00:00'",
        f"table_changes('{NAME}', TIMESTAMP'+12345-01-01 00:00:00')",
    ],
)
def test_a_year_that_python_lacks_is_after_the_last_commit(
    enabled: SparkSession, changes: str
) -> None:
    with pytest.raises(Exception, match="DELTA_TIMESTAMP_GREATER_THAN_COMMIT"):
        enabled.sql(f"SELECT * FROM {changes}").collect()


def test_filters_by_a_year_that_python_lacks_are_left_to_spark(enabled: SparkSession) -> None:
    far = "TIMESTAMP'+12345-01-01 00:00:00'"
    rows = enabled.sql(
        f"SELECT id FROM {NAME} CHANGES FROM VERSION 1 "
        f"WHERE _commit_timestamp < {far} AND DATE(_commit_timestamp) < DATE'+12345-01-01'"
    )

    assert rows.count() == 7
