"""REPLACE COLUMNS, CREATE TABLE LIKE and TRUNCATE TABLE."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee import DeltaTable
from truckee.commands.ddl.alter_columns import NewColumn
from truckee.commands.ddl.create_like import LikeRequest, create_like
from truckee.commands.ddl.replace_columns import replace_columns
from truckee.commands.ddl.truncate import truncate_table
from truckee.errors import (
    AppendOnlyTableError,
    ColumnsNotReplaceableError,
    DependentColumnError,
)
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.storage import open_storage
from truckee.writer import write


def test_replace_columns_adds_moves_and_widens(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.createDataFrame([(1, "x")], "a int, b string")).option(
        "delta.enableTypeWidening", "true"
    ).save(tmp_path)
    storage = open_storage(str(tmp_path))
    columns = [
        NewColumn(name="b", type="string", comment="second"),
        NewColumn(name="c", type="date"),
        NewColumn(name="a", type="bigint"),
    ]

    assert replace_columns(spark, storage, columns) == 1

    rows = DeltaTable.forPath(spark, tmp_path).toDF()
    assert rows.dtypes == [("b", "string"), ("c", "date"), ("a", "bigint")]
    assert rows.collect() == [("x", None, 1)]
    assert history(storage, 1)[0].operation == "REPLACE COLUMNS"
    with pytest.raises(ColumnsNotReplaceableError, match=r"\[c\] would be dropped"):
        replace_columns(spark, storage, [columns[0], columns[2]])
    with pytest.raises(ColumnsNotReplaceableError, match="bigint cannot become int"):
        replace_columns(spark, storage, [*columns[:2], NewColumn(name="a", type="int")])
    with pytest.raises(ColumnsNotReplaceableError, match="NOT NULL"):
        replace_columns(spark, storage, [*columns, NewColumn(name="d", type="int", nullable=False)])


def test_replace_columns_drops_with_column_mapping(spark: SparkSession, tmp_path: Path) -> None:
    table = DeltaTable.create(spark).location(tmp_path).addColumn("a", "int").addColumn("b", "int")
    table.addColumn("g", "int", generatedAlwaysAs="b + 1")
    made = table.property("delta.columnMapping.mode", "name").execute()
    write(spark.createDataFrame([(1, 2)], "a int, b int")).mode("append").save(tmp_path)
    storage = open_storage(str(tmp_path))

    with pytest.raises(DependentColumnError):
        replace_columns(spark, storage, [NewColumn(name=name, type="int") for name in "ag"])
    replace_columns(spark, storage, [NewColumn(name=name, type="int") for name in "gb"])

    assert made.toDF().collect() == [(3, 2)]


def test_a_table_like_another_has_its_columns_properties_and_protocol(
    spark: SparkSession, tmp_path: Path
) -> None:
    builder = DeltaTable.create(spark).location(tmp_path / "a").comment("about it")
    builder.addColumn("id", "bigint", nullable=False).addColumn("p", "string").partitionedBy("p")
    for key, value in {
        "delta.columnMapping.mode": "name",
        "delta.enableRowTracking": "true",
        "delta.constraints.small": "id < 10",
        "mine": "1",
    }.items():
        builder.property(key, value)
    builder.execute()
    source = load_snapshot(open_storage(str(tmp_path / "a")))

    request = LikeRequest(location=str(tmp_path / "b"), properties={"mine": "2"})
    made = load_snapshot(create_like(spark, source, request))

    assert made.protocol == source.protocol
    assert made.metadata.description == "about it"
    assert made.partition_columns == ("p",)
    assert [(f.name, f.nullable) for f in made.schema.fields] == [("id", False), ("p", True)]
    own = made.metadata.configuration
    assert (own["mine"], own["delta.constraints.small"]) == ("2", "id < 10")
    key = "delta.rowTracking.materializedRowIdColumnName"
    assert own[key] != source.metadata.configuration[key]
    assert made.metadata.id != source.metadata.id
    assert history(made.storage, 1)[0].operation == "CREATE TABLE"


def test_truncate_removes_all_rows_once(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.range(3)).save(tmp_path)
    storage = open_storage(str(tmp_path))

    assert [truncate_table(storage), truncate_table(storage)] == [1, 1]

    assert DeltaTable.forPath(spark, tmp_path).toDF().count() == 0
    entry = history(storage, 1)[0]
    assert (entry.operation, dict(entry.operation_parameters or {})) == ("TRUNCATE", {})
    assert set(entry.operation_metrics or {}) == {"numRemovedFiles", "executionTimeMs"}


def test_a_table_that_only_grows_is_not_truncated(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.range(3)).option("delta.appendOnly", "true").save(tmp_path)

    with pytest.raises(AppendOnlyTableError):
        truncate_table(open_storage(str(tmp_path)))
