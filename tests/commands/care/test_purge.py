"""REORG ... APPLY (PURGE): what the table no longer shows is no longer in its files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession

from dml_tables import FEED, MAPPED, VECTORS, Table, create_table, numbers
from truckee.care.purge_candidates import has_other_columns
from truckee.protocol.schema import parse_schema
from truckee.table import DeltaTable
from writing import rust_rows


def opened(table: Table) -> DeltaTable:
    return DeltaTable.forPath(table.spark, str(table.path))


def test_purge_rewrites_files_with_deleted_rows_and_no_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS | FEED)
    table.append(numbers(spark, 10, 20)).append(numbers(spark, 20, 30))
    opened(table).delete("id in (3, 21, 22)")
    [untouched] = [f.path for f in table.snapshot.files() if f.deletion_vector is None]
    before = table.rows()

    [row] = opened(table).optimize().purge().collect()

    assert table.rows() == before
    assert len(rust_rows(table.path)) == 27
    assert untouched in {add.path for add in table.snapshot.files()}
    assert all(add.deletion_vector is None for add in table.snapshot.files())
    assert table.info.operation == "REORG"
    assert table.info.operation_parameters == {"predicate": "[]", "applyPurge": True}
    assert row.metrics.deletionVectorStats.numDeletionVectorRowsRemoved == 3
    assert {a.data_change for a in (*table.last.adds, *table.last.removes)} == {False}
    assert table.changes(table.version) == []

    version = table.version
    opened(table).optimize().purge()

    assert table.version == version


def test_a_file_of_deleted_rows_alone_leaves_the_table(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS)
    opened(table).delete("id < 9")
    opened(table).update("id = 9", {"v": "0"})
    table.append(numbers(spark, 20, 22))
    before = table.rows()

    opened(table).optimize().purge()

    assert table.rows() == before
    assert all(add.deletion_vector is None for add in table.snapshot.files())


def test_purge_drops_what_dropped_columns_held(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=MAPPED)
    opened(table).dropColumn("v")
    table.append(numbers(spark, 4, 8).drop("v"))
    before = table.rows()

    opened(table).optimize().purge()

    assert table.rows() == before
    for add in table.snapshot.files():
        assert len(pq.read_schema(table.path / add.path).names) == 2
    assert len(table.last.removes) == 1

    version = table.version
    opened(table).renameColumn("part", "other")
    opened(table).optimize().purge()

    assert table.version == version + 1, "a renamed column is no dropped one"


def test_columns_are_compared_at_any_depth_and_in_any_case() -> None:
    schema = parse_schema(
        '{"type":"struct","fields":['
        '{"name":"a","type":"long","nullable":true,"metadata":{}},'
        '{"name":"s","type":{"type":"struct","fields":['
        '{"name":"x","type":"long","nullable":true,"metadata":{}}]},"nullable":true,"metadata":{}},'
        '{"name":"l","type":{"type":"array","elementType":{"type":"struct","fields":['
        '{"name":"y","type":"long","nullable":true,"metadata":{}}]},"containsNull":true},'
        '"nullable":true,"metadata":{}}]}'
    )
    x, y = pa.struct([("X", pa.int64())]), pa.struct([("y", pa.int64())])
    both = pa.struct([("y", pa.int64()), ("z", pa.int64())])

    known = pa.schema([("A", pa.int64()), ("s", x), ("l", pa.list_(y))])
    assert not has_other_columns(known, schema)
    assert has_other_columns(pa.schema([("b", pa.int64())]), schema)
    assert not has_other_columns(pa.schema([("b", pa.int64())]), schema, {"b"})
    assert has_other_columns(pa.schema([("s", both)]), schema)
    assert has_other_columns(pa.schema([("l", pa.list_(both))]), schema)
