"""Columns of type VOID: kept in the schema, null in every row, and in none of the files."""

from __future__ import annotations

from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import truckee
from dml_tables import FEED, VECTORS, Table, create_table
from truckee.commands.ddl.alter_columns import ColumnChange, NewColumn, add_columns, change_columns
from truckee.errors.columns import AllVoidColumnsError, MergedVoidColumnError
from truckee.errors.commands.write import SchemaMismatchError
from truckee.errors.commands.write_rows import CheckConstraintViolationError
from truckee.protocol.schema import VOID
from truckee.table import DeltaTable
from truckee.writer import write

ROWS = "select id, null as n, named_struct('a', id, 'b', null) as s from range(0, 3, 1, 1)"


def made(spark: SparkSession, path: Path, **properties: str) -> Table:
    return create_table(spark, path / "t", spark.sql(ROWS), properties=properties)


def test_void_columns_are_in_the_schema_and_in_no_file(spark: SparkSession, tmp_path: Path) -> None:
    table = made(spark, tmp_path)

    assert table.snapshot.schema.fields[1].type == VOID
    for add in table.snapshot.files():
        assert pq.read_schema(table.path / add.path).names == ["id", "s"]
        assert [f.name for f in pq.read_schema(table.path / add.path).field("s").type] == ["a"]
        assert '"minValues":{"id":0,"s":{"a":0}}' in (add.stats or "")
    assert table.rows() == [(n, None, (n, None)) for n in range(3)]
    assert truckee.open(table.path).to_arrow().to_pylist()[2] == {
        "id": 2,
        "n": None,
        "s": {"a": 2, "b": None},
    }


def test_rows_of_such_tables_change_and_their_feed_is_read(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = made(spark, tmp_path, **FEED, **VECTORS)
    target = DeltaTable.forPath(spark, str(table.path))

    target.update("id = 1", {"id": "7"})
    target.delete("id = 0")
    source = spark.sql("select 8L as id, null as n, named_struct('a', 8L, 'b', null) as s")
    merge = target.alias("t").merge(source.alias("r"), "t.id = r.id")
    merge.whenNotMatchedInsertAll().execute()
    target.optimize().executeCompaction()

    assert table.rows() == [
        (2, None, (2, None)),
        (7, None, (1, None)),
        (8, None, (8, None)),
    ]
    assert [(row[0], row[1], row[3]) for row in table.changes(1)] == [
        (0, None, "delete"),
        (1, None, "update_preimage"),
        (7, None, "update_postimage"),
        (8, None, "insert"),
    ]
    feed = truckee.open(table.path).changes(1).to_arrow()
    assert feed.num_rows == 4
    assert feed.column("n").null_count == 4


def test_a_void_column_gets_a_type(spark: SparkSession, tmp_path: Path) -> None:
    table = made(spark, tmp_path)
    typed = spark.sql("select 9L as id, 'x' as n")
    with pytest.raises(SchemaMismatchError):
        write(typed).mode("append").save(str(table.path))

    write(typed).mode("append").option("mergeSchema", "true").save(str(table.path))
    add_columns(table.storage, [NewColumn(name="m", type="void")])
    change_columns(spark, table.storage, [ColumnChange(name="m", type="int")])

    assert [(row.id, row.n, row.m) for row in table.frame().orderBy("id").collect()] == [
        (0, None, None),
        (1, None, None),
        (2, None, None),
        (9, "x", None),
    ]


def test_rules_are_checked_though_the_first_column_is_not_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.sql("select null as n, id from range(3)")
    table = create_table(spark, tmp_path / "t", rows)
    target = DeltaTable.forPath(spark, str(table.path))
    target.addConstraint("low", "id < 5")

    with pytest.raises(CheckConstraintViolationError):
        write(spark.sql("select null as n, 9L as id")).mode("append").save(str(table.path))


def test_what_no_file_could_hold_is_refused(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(AllVoidColumnsError):
        write(spark.sql("select null as n")).save(str(tmp_path / "none"))
    assert not (tmp_path / "none" / "_delta_log").exists()

    table = made(spark, tmp_path)
    source = spark.sql("select 9L as id, null as more")
    merge = (
        DeltaTable.forPath(spark, str(table.path))
        .alias("t")
        .merge(source.alias("r"), "t.id = r.id")
    )
    with pytest.raises(MergedVoidColumnError):
        merge.withSchemaEvolution().whenNotMatchedInsertAll().execute()
