"""ALTER TABLE, as Spark hands it over."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee.commands.ddl.alter_columns import ColumnChange, change_columns
from truckee.doors.enable import enable
from truckee.errors.commands.alter import DependentColumnError, TypeChangeError
from truckee.errors.commands.write_rows import TextTooLongError
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.storage import LocalStorage

pytestmark = pytest.mark.spark

_MAPPED = "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"


def test_a_partition_column_that_is_renamed_stays_one(spark: SparkSession, tmp_path: Path) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (id INT, p STRING) USING delta PARTITIONED BY (p) {_MAPPED}")
    run(f"INSERT INTO {table} VALUES (1, 'x'), (2, NULL)")

    run(f"ALTER TABLE {table} RENAME COLUMN P TO `a part`")
    run(f"INSERT INTO {table} VALUES (3, 'y')")
    with pytest.raises(DependentColumnError):
        run(f"ALTER TABLE {table} DROP COLUMN `a part`")

    assert load_snapshot(LocalStorage(str(tmp_path / "t"))).partition_columns == ("a part",)
    found = run(f"SELECT * FROM {table} WHERE `a part` IS NOT NULL ORDER BY id").collect()
    assert [tuple(row) for row in found] == [(1, "x"), (3, "y")]


@pytest.mark.parametrize("what", ["DROP COLUMN IF EXISTS nothing", "ALTER COLUMN id TYPE INT"])
def test_what_is_so_already_is_no_commit(spark: SparkSession, tmp_path: Path, what: str) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (id INT, v INT) USING delta {_MAPPED}")

    run(f"ALTER TABLE {table} {what}")

    snapshot = load_snapshot(LocalStorage(str(tmp_path / "t")))
    assert (snapshot.version, snapshot.schema.names) == (0, ("id", "v"))


def test_several_columns_change_in_one_commit_or_none(spark: SparkSession, tmp_path: Path) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (a INT NOT NULL, b INT, c STRING) USING delta")

    with pytest.raises(TypeChangeError):
        run(f"ALTER TABLE {table} ALTER COLUMN a COMMENT 'x', b TYPE STRING")
    run(f"ALTER TABLE {table} ALTER COLUMN a DROP NOT NULL, b COMMENT 'words', c FIRST")

    snapshot = load_snapshot(LocalStorage(str(tmp_path / "t")))
    assert (snapshot.version, snapshot.schema.names) == (1, ("c", "a", "b"))
    assert [dict(field.metadata) for field in snapshot.schema.fields] == [
        {},
        {},
        {"comment": "words"},
    ]
    assert [field.nullable for field in snapshot.schema.fields] == [True] * 3
    (entry,) = history(snapshot.storage, 1)
    assert entry.operation == "CHANGE COLUMNS"
    told = json.loads((entry.operation_parameters or {})["columns"])
    assert [(one["name"], one["type"], one.get("position")) for one in told] == [
        ("a", "integer", None),
        ("b", "integer", None),
        ("c", "string", "FIRST"),
    ]


def test_the_length_of_texts_changes(spark: SparkSession, tmp_path: Path) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (v VARCHAR(2), w CHAR(2)) USING delta")

    run(f"ALTER TABLE {table} ALTER COLUMN v TYPE VARCHAR(4)")
    run(f"ALTER TABLE {table} ALTER COLUMN w TYPE STRING")
    run(f"INSERT INTO {table} VALUES ('four', 'w')")
    with pytest.raises(TextTooLongError):
        run(f"INSERT INTO {table} VALUES ('fivex', 'w')")

    fields = load_snapshot(LocalStorage(str(tmp_path / "t"))).schema.fields
    lengths = [field.metadata.get("__CHAR_VARCHAR_TYPE_STRING") for field in fields]
    assert lengths == ["varchar(4)", None]
    assert [tuple(row) for row in run(f"SELECT * FROM {table}").collect()] == [("four", "w")]


@pytest.mark.parametrize(
    ("column", "kind", "reason"),
    [
        ("v", "varchar(1)", "varchar(2) cannot become varchar(1)"),
        ("s", "varchar(9)", "string cannot become varchar(9)"),
        ("n.x", "string", "the length of texts inside a column cannot change"),
    ],
)
def test_other_lengths_are_refused(
    spark: SparkSession, tmp_path: Path, column: str, kind: str, reason: str
) -> None:
    table = f"delta.`{tmp_path / 't'}`"
    declared = "v VARCHAR(2), s STRING, n STRUCT<x: VARCHAR(2)>"
    enable(spark).sql(f"CREATE TABLE {table} ({declared}) USING delta")
    storage = LocalStorage(str(tmp_path / "t"))

    with pytest.raises(TypeChangeError) as refused:
        change_columns(spark, storage, [ColumnChange(name=column, type=kind)])

    assert refused.value.reason == reason
    assert load_snapshot(storage).version == 0
