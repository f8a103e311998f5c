"""A feed that follows its columns: ranges over renames, drops, re-adds and wider types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from msgspec.structs import replace
from pyspark.sql import SparkSession

import truckee
from data_tables import PROTOCOL, DataTable, mapped, metadata, removed
from truckee.errors import IncompatibleSchemaChangeError
from truckee.protocol.actions import AddFile, Metadata
from truckee.protocol.schema import ArrayType, StructField, StructType
from truckee.table import DeltaTable

ENGINES = ("spark", "arrow")
MAPPED = {"delta.columnMapping.mode": "name", "delta.enableChangeDataFeed": "true"}
WIDENING = replace(
    PROTOCOL,
    reader_features=(*(PROTOCOL.reader_features or ()), "typeWidening"),
    writer_features=(*(PROTOCOL.writer_features or ()), "typeWidening"),
)


def rows(engine: str, spark: SparkSession, table: object, *span: int, **shape: Any) -> list[Any]:
    """The rows of a feed in order: version, type and the table's columns by name."""
    if engine == "spark":
        frame = DeltaTable.forPath(spark, str(table)).changes(*span, **shape)
        found = [row.asDict(recursive=True) for row in frame.collect()]
    else:
        found = truckee.open(str(table)).changes(*span, **shape).to_arrow().to_pylist()
    for row in found:
        del row["_commit_timestamp"]
    return sorted(found, key=lambda row: (row["_commit_version"], row["_change_type"], str(row)))


def change(version: int, kind: str, **values: Any) -> dict[str, Any]:
    return {**values, "_change_type": kind, "_commit_version": version}


def schema(*columns: StructField) -> Metadata:
    return metadata(*columns, properties=MAPPED)


@pytest.fixture(scope="module")
def worked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A column renamed, dropped and added again, and another one widened."""
    path = tmp_path_factory.mktemp("followed") / "t"
    key, b = mapped("id", "integer", 1), mapped("b", "string", 2)
    table = DataTable(path, key, mapped("a", "string", 2), properties=MAPPED)
    one = table.file("one.parquet", {"col-1": pa.array([1], pa.int32()), "col-2": pa.array(["x"])})
    table.commit(one)
    table.commit(schema(key, b))
    two = table.file("two.parquet", {"col-1": pa.array([1], pa.int32()), "col-2": pa.array(["y"])})
    table.commit(
        removed(one),
        two,
        table.change_file(
            "_change_data/c.parquet",
            {
                "col-1": pa.array([1, 1], pa.int32()),
                "col-2": pa.array(["x", "y"]),
                "_change_type": pa.array(["update_preimage", "update_postimage"]),
            },
        ),
    )
    table.commit(schema(key))
    again = mapped("b", "string", 3)
    table.commit(schema(key, again))
    table.commit(
        table.file("z.parquet", {"col-1": pa.array([2], pa.int32()), "col-3": pa.array(["z"])})
    )
    changes = {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}
    wide = mapped("id", "long", 1)
    wide = replace(wide, metadata={**wide.metadata, **changes})
    table.commit(WIDENING, schema(wide, again))
    table.commit(removed(two), table.file("w.parquet", {"col-1": [1], "col-3": ["w"]}))
    return path


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("source", ["recorded", "auto"])
def test_columns_are_followed_by_their_identity(
    engine: str, spark: SparkSession, worked: Path, source: str
) -> None:
    followed = rows(engine, spark, worked, 0, changeFeed=source, schemaMode="follow")
    superset = rows(engine, spark, worked, 0, changeFeed=source, schemaMode="superset")
    early = rows(engine, spark, worked, 0, 3, changeFeed=source, schemaMode="follow")

    assert followed == [
        change(1, "insert", id=1, b=None),
        change(3, "update_postimage", id=1, b=None),
        change(3, "update_preimage", id=1, b=None),
        change(6, "insert", id=2, b="z"),
        change(8, "delete", id=1, b=None),
        change(8, "insert", id=1, b="w"),
    ]
    assert superset == [
        change(1, "insert", id=1, b=None, b__v3="x"),
        change(3, "update_postimage", id=1, b=None, b__v3="y"),
        change(3, "update_preimage", id=1, b=None, b__v3="x"),
        change(6, "insert", id=2, b="z", b__v3=None),
        change(8, "delete", id=1, b=None, b__v3=None),
        change(8, "insert", id=1, b="w", b__v3=None),
    ]
    assert early == [
        change(1, "insert", id=1, b="x"),
        change(3, "update_postimage", id=1, b="y"),
        change(3, "update_preimage", id=1, b="x"),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_dropped_column_is_compared_while_it_is_there(
    engine: str, spark: SparkSession, worked: Path
) -> None:
    derived = rows(
        engine,
        spark,
        worked,
        0,
        changeFeed="derived",
        schemaMode="follow",
        keys="id",
        includeSchemaVersion=True,
        includeChangeSource=True,
    )

    version = "_schema_version"
    assert [(r["_commit_version"], r["_change_type"], r[version]) for r in derived] == [
        (1, "insert", 0),
        (3, "update_postimage", 2),
        (3, "update_preimage", 2),
        (6, "insert", 5),
        (8, "update_postimage", 7),
        (8, "update_preimage", 7),
    ]
    assert {r["_change_source"] for r in derived} == {"keys"}


def test_one_schema_for_such_a_range_is_refused_as_before(
    spark: SparkSession, worked: Path
) -> None:
    with pytest.raises(IncompatibleSchemaChangeError):
        rows("spark", spark, worked, 0)


@pytest.mark.parametrize("engine", ENGINES)
def test_columns_that_exchange_their_names_are_not_exchanged(
    engine: str, spark: SparkSession, tmp_path: Path
) -> None:
    x, y = mapped("x", "string", 1), mapped("y", "string", 2)
    table = DataTable(tmp_path / "t", x, y, properties=MAPPED)
    table.commit(table.file("a.parquet", {"col-1": ["first"], "col-2": ["second"]}))
    table.commit(schema(mapped("tmp", "string", 1), y))
    table.commit(schema(mapped("tmp", "string", 1), mapped("x", "string", 2)))
    table.commit(schema(mapped("y", "string", 1), mapped("x", "string", 2)))

    assert rows(engine, spark, table, 0, schemaMode="follow") == [
        change(1, "insert", y="first", x="second")
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_a_partition_column_keeps_its_values_under_another_name(
    engine: str, spark: SparkSession, tmp_path: Path
) -> None:
    key, part = mapped("id", "long", 1), mapped("part", "string", 2)
    table = DataTable(tmp_path / "t", key, part, partition_by=["part"], properties=MAPPED)
    one = table.file("a.parquet", {"col-1": [1, 2]}, partition={"col-2": "p"})
    table.commit(one)
    renamed = metadata(key, mapped("day", "string", 2), partition_by=["day"], properties=MAPPED)
    table.commit(renamed)
    table.commit(removed(one), table.file("b.parquet", {"col-1": [2]}, partition={"col-2": "p"}))

    assert rows(engine, spark, table, 0, schemaMode="follow", changeFeed="derived") == [
        change(1, "insert", id=1, day="p"),
        change(1, "insert", id=2, day="p"),
        change(3, "delete", id=1, day="p"),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_fields_of_structs_are_followed_too(
    engine: str, spark: SparkSession, tmp_path: Path
) -> None:
    def column(*fields: StructField) -> StructField:
        outer = mapped("s", "string", 1)
        return replace(outer, type=ArrayType(StructType(fields)))

    def file(name: str, values: list[Any], *physical: str) -> AddFile:
        kind = pa.list_(pa.struct([(p, pa.int64()) for p in physical]))
        return table.file(name, pa.table({"col-1": pa.array(values, kind)}), stats=False)

    a, b = mapped("a", "long", 2), mapped("b", "long", 3)
    table = DataTable(tmp_path / "t", column(a, b), properties=MAPPED)
    one = file("one.parquet", [[{"col-2": 1, "col-3": 2}]], "col-2", "col-3")
    table.commit(one)
    table.commit(schema(column(mapped("z", "long", 2), mapped("new", "long", 4))))
    two = file(
        "two.parquet",
        [[{"col-2": 1, "col-4": None}], [{"col-2": 5, "col-4": 6}]],
        "col-2",
        "col-4",
    )
    table.commit(removed(one), two)

    # The first row of the new file is the old one without a field that was dropped before.
    assert rows(engine, spark, table, 0, schemaMode="follow", changeFeed="derived") == [
        change(1, "insert", s=[{"z": 1, "new": None}]),
        change(3, "insert", s=[{"z": 5, "new": 6}]),
    ]
    superset = rows(engine, spark, table, 0, schemaMode="superset", changeFeed="derived")
    assert superset == [
        change(1, "insert", s=[{"z": 1, "new": None, "b": 2}]),
        change(3, "insert", s=[{"z": 5, "new": 6, "b": None}]),
    ]


@pytest.mark.parametrize("engine", ENGINES)
def test_all_modes_agree_where_the_schema_did_not_change(
    engine: str, spark: SparkSession, tmp_path: Path
) -> None:
    table = DataTable(tmp_path / "t", "id long", "name string")
    one = table.file("a.parquet", {"id": [1, 2], "name": ["a", "b"]})
    table.commit(one)
    table.commit(removed(one), table.file("b.parquet", {"id": [2], "name": ["b"]}))

    plain = rows(engine, spark, table, 0)
    assert rows(engine, spark, table, 0, schemaMode="follow") == plain
    assert rows(engine, spark, table, 0, schemaMode="superset") == plain
