"""MERGE with schema evolution: columns of the source that clauses take become the table's."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from dml_tables import FEED, VECTORS, Table, create_table, ordered
from truckee.commands.merge.builder import DeltaMergeBuilder, merge_builder
from truckee.errors.commands.dml import UnknownTargetColumnError, UnresolvedColumnError
from truckee.errors.commands.expressions import UnmergeableTypeError
from writing import rust_rows

NAME = {"delta.columnMapping.mode": "name"}
ID = {"delta.columnMapping.mode": "id"}
EVERY_TABLE = pytest.mark.parametrize(
    "properties",
    [{}, FEED, VECTORS, FEED | VECTORS | NAME, FEED | ID],
    ids=["plain", "feed", "vectors", "feed-vectors-name", "feed-id"],
)


def table_of(spark: SparkSession, path: Path, properties: dict[str, str]) -> Table:
    rows = spark.createDataFrame([(1, 10), (2, 20), (3, 30)], "id long, v int")
    return create_table(spark, path, rows, properties=properties)


def merge(table: Table, source: DataFrame) -> DeltaMergeBuilder:
    builder = merge_builder(table.spark, table.storage, source.alias("s"), "t.id = s.id", alias="t")
    return builder.withSchemaEvolution()


def changes(table: Table, version: int) -> list[tuple[Any, ...]]:
    return [row[:-1] for row in table.changes(version, version)]


@EVERY_TABLE
def test_stars_bring_every_column_of_the_source(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = table_of(spark, tmp_path / "t", properties)
    source = spark.createDataFrame([("b", -2, 2), ("d", -4, 4)], "extra string, v int, id long")

    merge(table, source).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    expected = [(1, 10, None), (2, -2, "b"), (3, 30, None), (4, -4, "d")]
    assert table.rows() == expected
    assert table.snapshot.schema.names == ("id", "v", "extra")
    assert table.version == 1
    theirs = [tuple(row[name] for name in ("id", "v", "extra")) for row in rust_rows(table.path)]
    assert sorted(theirs, key=lambda row: int(row[0])) == expected
    if "delta.enableChangeDataFeed" in properties:
        assert changes(table, 1) == [
            (2, -2, "b", "update_postimage"),
            (2, 20, None, "update_preimage"),
            (4, -4, "d", "insert"),
        ]


@pytest.mark.parametrize("clause", ["update", "delete"])
def test_a_new_column_comes_also_where_no_row_of_the_table_gets_a_value(
    spark: SparkSession, tmp_path: Path, clause: str
) -> None:
    table = table_of(spark, tmp_path / "t", VECTORS)
    matched = 9 if clause == "update" else 1
    source = spark.createDataFrame([(matched, -2, "b")], "id long, v int, extra string")

    merge(table, source).whenMatchedDelete("t.v = 10").whenMatchedUpdateAll().execute()

    assert table.snapshot.schema.names == ("id", "v", "extra")
    assert table.version == 1
    rows = [(1, 10, None), (2, 20, None), (3, 30, None)]
    assert table.rows() == (rows if clause == "update" else rows[1:])


def test_a_merge_that_changes_neither_rows_nor_columns_makes_no_commit(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = table_of(spark, tmp_path / "t", {})
    source = spark.createDataFrame([(1, 10), (2, 20), (3, 30)], "id long, v int")

    merge(table, source).whenNotMatchedBySourceDelete().execute()

    assert table.version == 0


@EVERY_TABLE
def test_a_column_that_is_assigned_comes_alone(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = table_of(spark, tmp_path / "t", properties)
    schema = "id long, one string, two string, three string"
    source = spark.createDataFrame([(2, "b", "B", "x"), (4, "d", "D", "x")], schema)

    merge(table, source).whenMatchedUpdate(set={"one": "upper(s.one)"}).whenNotMatchedInsert(
        values={"id": "s.id", "t.two": "s.two"}
    ).execute()

    assert table.snapshot.schema.names == ("id", "v", "one", "two")
    assert table.rows() == [
        (1, 10, None, None),
        (2, 20, "B", None),
        (3, 30, None, None),
        (4, None, None, "D"),
    ]
    if "delta.enableChangeDataFeed" in properties:
        assert changes(table, 1) == [
            (2, 20, "B", None, "update_postimage"),
            (2, 20, None, None, "update_preimage"),
            (4, None, None, "D", "insert"),
        ]


@EVERY_TABLE
def test_columns_that_the_source_lacks_stay_as_they_are(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    table = table_of(spark, tmp_path / "t", properties)
    source = spark.createDataFrame([(2, "b"), (4, "d")], "id long, extra string")

    merge(table, source).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert table.rows() == [(1, 10, None), (2, 20, "b"), (3, 30, None), (4, None, "d")]


@EVERY_TABLE
def test_structs_grow_by_the_fields_of_the_source(
    spark: SparkSession, tmp_path: Path, properties: dict[str, str]
) -> None:
    rows = spark.createDataFrame([(1, (1, "x")), (2, None)], "id long, n struct<a:int, b:string>")
    table = create_table(spark, tmp_path / "t", rows, properties=properties)
    source = spark.createDataFrame(
        [(1, (5, 5.5)), (2, (6, 6.5)), (4, (7, 7.5))], "id long, n struct<a:int, c:double>"
    )

    merge(table, source).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    found = table.frame().select("id", "n.a", "n.b", "n.c")
    assert found.columns == ["id", "a", "b", "c"]
    assert ordered(found) == [(1, 5, "x", 5.5), (2, 6, None, 6.5), (4, 7, None, 7.5)]


def test_fields_that_the_source_lacks_outlive_its_nulls(
    spark: SparkSession, tmp_path: Path
) -> None:
    schema = "id long, n struct<a:int, b:string>"
    rows = spark.createDataFrame([(1, (1, "x")), (2, (2, None)), (3, None)], schema)
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS)
    source = spark.createDataFrame(
        [(1, None), (2, None), (3, None), (4, None)], "id long, n struct<a:int, c:double>"
    )

    merge(table, source).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert table.rows() == [
        (1, (None, "x", None)),
        (2, (None, None, None)),
        (3, None),
        (4, None),
    ]


def test_a_field_that_is_assigned_comes_alone(spark: SparkSession, tmp_path: Path) -> None:
    rows = spark.createDataFrame([(1, (1,)), (2, (2,))], "id long, n struct<a:int>")
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS)
    source = spark.createDataFrame(
        [(1, (5, "x", "y"))], "id long, n struct<a:int, b:string, c:string>"
    )

    merge(table, source).whenMatchedUpdate(set={"t.n.b": "upper(s.n.b)"}).execute()

    found = table.frame().select("id", "n.*")
    assert found.columns == ["id", "a", "b"]
    assert ordered(found) == [(1, 1, "X"), (2, 2, None)]


def test_columns_and_elements_become_wider_where_the_table_lets_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.createDataFrame([(1, 1, [1]), (2, 2, [2])], "id long, v int, l array<int>")
    properties = VECTORS | {"delta.enableTypeWidening": "true"}
    table = create_table(spark, tmp_path / "t", rows, properties=properties)
    big = 2**40
    source = spark.createDataFrame([(2, big, [big])], "id long, v long, l array<long>")

    merge(table, source).whenMatchedUpdateAll().execute()

    assert table.rows() == [(1, 1, [1]), (2, big, [big])]
    assert table.frame().schema.simpleString() == "struct<id:bigint,v:bigint,l:array<bigint>>"


def test_new_columns_can_be_merged_into_from_then_on(spark: SparkSession, tmp_path: Path) -> None:
    table = table_of(spark, tmp_path / "t", FEED | VECTORS | NAME)
    first = spark.createDataFrame([(2, 5, "b")], "id long, v int, extra string")
    second = spark.createDataFrame([(2, 6, "c"), (3, 7, "z")], "id long, v int, extra string")

    merge(table, first).whenMatchedUpdateAll().execute()
    merge(table, second).whenMatchedUpdateAll("t.extra is not null").execute()

    assert table.rows() == [(1, 10, None), (2, 6, "c"), (3, 30, None)]
    assert changes(table, 2) == [(2, 5, "b", "update_preimage"), (2, 6, "c", "update_postimage")]


def test_deletes_and_columns_that_clauses_do_not_take_add_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = table_of(spark, tmp_path / "t", VECTORS)
    source = spark.createDataFrame([(2, "b")], "id long, extra string")

    merge(table, source).whenMatchedDelete().execute()

    assert table.snapshot.schema.names == ("id", "v")
    assert table.rows() == [(1, 10), (3, 30)]


def test_the_session_can_ask_for_it(spark: SparkSession, tmp_path: Path) -> None:
    table = table_of(spark, tmp_path / "t", VECTORS)
    source = spark.createDataFrame([(4, 40, "d")], "id long, v int, extra string").alias("s")
    builder = merge_builder(spark, table.storage, source, "t.id = s.id", alias="t")
    spark.conf.set("spark.databricks.delta.schema.autoMerge.enabled", "true")
    try:
        builder.whenNotMatchedInsertAll().execute()
    finally:
        spark.conf.unset("spark.databricks.delta.schema.autoMerge.enabled")

    assert table.rows()[3:] == [(4, 40, "d")]


def test_without_it_stars_take_the_columns_of_the_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = table_of(spark, tmp_path / "t", VECTORS)
    source = spark.createDataFrame([(2, 5, "b")], "id long, v int, extra string").alias("s")
    builder = merge_builder(spark, table.storage, source, "t.id = s.id", alias="t")

    builder.whenMatchedUpdateAll().execute()
    with pytest.raises(UnknownTargetColumnError) as error:
        builder.whenMatchedUpdate(set={"extra": "s.extra"}).execute()

    assert table.rows() == [(1, 10), (2, 5), (3, 30)]
    assert error.value.sentence() == (
        "Cannot resolve extra in UPDATE clause given columns id, v\n"
        "hint: WHEN MATCHED THEN UPDATE assigns to it; use one of these columns"
    )


def test_a_column_that_neither_side_has_is_unknown(spark: SparkSession, tmp_path: Path) -> None:
    table = table_of(spark, tmp_path / "t", VECTORS)
    source = spark.createDataFrame([(2, "b")], "id long, extra string")

    with pytest.raises(UnknownTargetColumnError) as error:
        merge(table, source).whenMatchedUpdate(set={"nix": "s.extra"}).execute()
    with pytest.raises(UnresolvedColumnError):
        merge(table, source).whenMatchedUpdate(set={"extra": "s.nix"}).execute()

    assert error.value.sentence() == (
        "Cannot resolve nix in UPDATE clause given columns id, v\n"
        "hint: WHEN MATCHED THEN UPDATE assigns to it; use one of these columns"
    )
    assert table.version == 0


def test_texts_of_the_source_are_cast(spark: SparkSession, tmp_path: Path) -> None:
    table = table_of(spark, tmp_path / "t", FEED | VECTORS)
    source = spark.createDataFrame([("2", "-2"), ("4", "-4")], "id string, v string").alias("s")
    plain = merge_builder(spark, table.storage, source, "t.id = s.id", alias="t")

    plain.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert table.rows() == [(1, 10), (2, -2), (3, 30), (4, -4)]


def test_texts_are_cast_where_the_schema_may_change_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = table_of(spark, tmp_path / "t", FEED | VECTORS)
    source = spark.createDataFrame([("2", "-2", 1), ("4", "-4", 2)], "id string, v string, n int")

    merge(table, source).whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()

    assert table.rows() == [(1, 10, None), (2, -2, 1), (3, 30, None), (4, -4, 2)]


def test_a_column_of_another_type_is_no_new_column(spark: SparkSession, tmp_path: Path) -> None:
    table = table_of(spark, tmp_path / "t", VECTORS)
    source = spark.createDataFrame([(2, [1])], "id long, v array<int>")

    with pytest.raises(UnmergeableTypeError) as error:
        merge(table, source).whenMatchedUpdateAll().execute()

    assert error.value.sentence() == (
        "MERGE assigns a value of type array<int> to v, but the column is int\nhint: cast the value"
    )
    assert table.version == 0
