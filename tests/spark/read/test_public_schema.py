"""The schema that a reader sees: NOT NULL is kept, and what only the log needs is not shown."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from truckee import DeltaTable
from truckee.errors import DataFileUnreadableError, NotNullViolationError


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> str:
    """A table with two partition columns that are NOT NULL, and column mapping."""
    path = str(tmp_path / "t")
    new = DeltaTable.create(spark).location(path)
    new = new.addColumn("id", "long", nullable=False).addColumn("s", "struct<a: int>")
    new = new.addColumn("p", "string", nullable=False).addColumn("q", "int", nullable=False)
    new.property("delta.columnMapping.mode", "name").partitionedBy("p", "q").execute()
    rows = spark.createDataFrame([(1, (1,), "x", 7)], "id long, s struct<a: int>, p string, q int")
    truckee.write(rows).mode("append").save(path)
    return path


def test_not_null_of_a_partition_column_is_kept(spark: SparkSession, table: str) -> None:
    rows = truckee.read(spark).load(table)

    assert [field.nullable for field in rows.schema] == [False, True, False, False]
    assert [tuple(row) for row in rows.where("p = 'x' AND q = 7").collect()] == [(1, (1,), "x", 7)]


def test_no_door_shows_metadata_of_nested_fields(spark: SparkSession, table: str) -> None:
    truckee.register(spark)
    doors = {
        "read": truckee.read(spark).load(table),
        "stream": truckee.readStream(spark).load(table),
        "source": spark.read.format("truckee").load(table),
    }

    shown = {name: "delta." in door.schema.json() for name, door in doors.items()}
    assert shown == dict.fromkeys(doors, False)


def test_an_empty_text_is_null_in_a_partition_column_and_refused(
    spark: SparkSession, table: str
) -> None:
    rows = spark.createDataFrame([(2, (1,), "", 7)], "id long, s struct<a: int>, p string, q int")

    with pytest.raises(NotNullViolationError) as caught:
        truckee.write(rows).mode("append").save(table)

    assert caught.value.column == "p"
    assert truckee.read(spark).load(table).count() == 1


def test_a_file_without_a_value_for_a_not_null_column_is_an_error(
    spark: SparkSession, table: str
) -> None:
    commit = Path(table, "_delta_log", f"{1:020}.json")
    actions = [json.loads(line) for line in commit.read_text().splitlines()]
    for action in actions:
        if "add" in action:
            values = action["add"]["partitionValues"]
            action["add"]["partitionValues"] = {
                name: None if value == "7" else value for name, value in values.items()
            }
    commit.write_text("".join(json.dumps(action) + "\n" for action in actions))

    with pytest.raises(DataFileUnreadableError, match="which is NOT NULL"):
        truckee.read(spark).load(table).collect()
