"""RESTORE through Spark: rows, feed, schema and numbers after it."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

from dml_tables import FEED, MAPPED, VECTORS, create_table, numbers
from truckee.commands.care.restore import RESTORE_RESULT_COLUMNS, restore
from truckee.commands.ddl.table_builder import IdentityGenerator
from truckee.commands.dml.delete import delete
from truckee.commands.dml.update import update
from truckee.log.files.history import commit_timestamps
from truckee.table import DeltaTable
from truckee.writer import write
from writing import rust_rows


def test_rows_and_feed_after_a_restore_are_those_that_differ(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=VECTORS | FEED)
    delete(spark, table.storage, "id = 1")
    update(spark, table.storage, "id = 2", {"v": "-1"})
    table.append(numbers(spark, 6, 7))

    restored = DeltaTable.forPath(spark, str(table.path)).restoreToVersion(1)

    [row] = restored.collect()
    assert restored.columns == list(RESTORE_RESULT_COLUMNS)
    assert (row.num_restored_files, row.num_removed_files) == (1, 3)
    assert row.num_of_files_after_restore == 1
    assert table.rows() == [(i, i * 10, i % 2) for i in (0, 2, 3, 4, 5)]
    assert table.changes(4) == [
        (2, -1, 0, "delete", 4),
        (2, 20, 0, "insert", 4),
        (6, 60, 0, "delete", 4),
    ]
    assert sorted(row["id"] for row in rust_rows(table.path)) == [0, 2, 3, 4, 5]


def test_a_restore_by_time_takes_the_last_version_before_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6), properties=VECTORS)
    delete(spark, table.storage, "id = 1")
    delete(spark, table.storage, "id = 2")
    seconds = commit_timestamps(table.storage, 1, 1)[1] / 1000
    text = spark.sql(f"select string(timestamp_millis({int(seconds * 1000)})) t").first()

    restored = restore(spark, table.storage, timestamp=text["t"])

    assert restored.first()["num_restored_files"] == 1
    assert [row[0] for row in table.rows()] == [0, 2, 3, 4, 5]
    assert table.info.operation_parameters == {"version": None, "timestamp": text["t"]}


def test_a_restore_to_where_the_table_is_has_no_row(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 6))

    restored = restore(spark, table.storage, version=0)

    assert (restored.columns, restored.collect()) == (list(RESTORE_RESULT_COLUMNS), [])
    assert table.version == 0


def test_columns_that_were_renamed_and_dropped_come_back(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 3), properties=MAPPED | FEED)
    handle = DeltaTable.forPath(spark, str(table.path))
    handle.renameColumn("v", "w")
    handle.dropColumn("part")
    handle.delete("id = 1")

    handle.restoreToVersion(0)

    assert table.frame().columns == ["id", "v", "part"]
    assert table.rows() == [(i, i * 10, i % 2) for i in range(3)]


def test_identity_columns_give_no_number_twice(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    builder = DeltaTable.create(spark).location(path).addColumn("x", "int")
    builder.addColumn("n", "bigint", generatedAlwaysAs=IdentityGenerator()).execute()
    handle = DeltaTable.forPath(spark, path)
    rows = spark.sql("select 7 x").coalesce(1)
    write(rows).mode("append").save(path)
    [[given]] = handle.toDF().select("n").collect()

    handle.restoreToVersion(0)
    write(rows).mode("append").save(path)

    [[later]] = handle.toDF().select("n").collect()
    assert later > given
