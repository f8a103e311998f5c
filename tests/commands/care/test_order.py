"""Z-order and clustered tables: rows that are near each other share a file."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from dml_tables import FEED, Table, create_table, ordered
from session_settings import set_as
from truckee.table import DeltaTable
from truckee.writer import write
from writing import rust_rows

MAX_SIZE = "spark.databricks.delta.optimize.maxFileSize"
CUBE_SIZE = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.threshold"
TARGET_SIZE = "spark.databricks.delta.optimize.clustering.mergeStrategy.minCubeSize.targetCubeSize"


def grid(spark: SparkSession, side: int = 64) -> DataFrame:
    """Every point of a square once, in no order that would help."""
    return spark.range(side * side).selectExpr(
        f"cast(id % {side} as int) x",
        f"date_add(date'2024-01-01', cast(id div {side} as int)) y",
        "repeat(uuid(), 8) text",
        "if(id % 7 = 0, null, cast(id as string)) maybe",
    ).orderBy("text")  # fmt: skip


def opened(table: Table) -> DeltaTable:
    return DeltaTable.forPath(table.spark, str(table.path))


def bounds(table: Table, column: str) -> list[tuple[object, object]]:
    stats = [json.loads(str(add.stats)) for add in table.snapshot.files()]
    return [(each["minValues"][column], each["maxValues"][column]) for each in stats]


def num_read(table: Table, column: str, value: object) -> int:
    """How many files a filter on one value cannot leave out."""
    return sum(least <= value <= greatest for least, greatest in bounds(table, column))  # type: ignore[operator]


def eighths(table: Table) -> dict[str, str]:
    return {MAX_SIZE: str(table.snapshot.size_in_bytes // 8)}


def test_z_order_makes_files_that_filters_on_either_column_skip(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", grid(spark), properties=FEED)
    before = table.rows()

    with set_as(spark, eighths(table)):
        [row] = opened(table).optimize().executeZOrderBy("x", "y").collect()

    assert table.rows() == before
    assert len(rust_rows(table.path)) == 4096
    assert table.snapshot.num_files == 8
    assert max(num_read(table, "x", x) for x in range(64)) <= 5
    assert max(num_read(table, "y", f"2024-01-{day:02d}") for day in range(1, 32)) <= 6
    assert table.changes(table.version) == []
    assert table.info.operation_parameters["zOrderBy"] == '["x","y"]'
    stats = row.metrics.zOrderStats.asDict(recursive=True)
    size = row.metrics.filesRemoved.totalSize
    assert stats == {
        "strategyName": "all",
        "inputCubeFiles": {"num": 0, "size": 0},
        "inputOtherFiles": {"num": 1, "size": size},
        "inputNumCubes": 0,
        "mergedFiles": {"num": 1, "size": size},
        "numOutputCubes": 1,
        "mergedNumCubes": None,
    }
    assert all(add.tags is None for add in table.last.adds)


def test_one_value_can_fill_several_files_and_null_is_in_order_too(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = grid(spark).selectExpr("1 one", "maybe", "text", "struct(x, y) place")
    table = create_table(spark, tmp_path / "t", rows)
    before = ordered(table.frame().select("one", "maybe", "text"))

    with set_as(spark, eighths(table)):
        opened(table).optimize().executeZOrderBy(["one", "maybe"])
        opened(table).optimize().executeZOrderBy("place.x")

    assert ordered(table.frame().select("one", "maybe", "text")) == before
    sizes = [json.loads(str(add.stats))["numRecords"] for add in table.snapshot.files()]
    assert len(sizes) == 8
    assert max(sizes) < 2 * 512


@pytest.fixture(scope="module")
def clustered(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Table:
    path = tmp_path_factory.mktemp("clustered") / "t"
    write(grid(spark, 32).coalesce(1)).clusterBy("x", "y").option(
        "delta.enableChangeDataFeed", "true"
    ).save(str(path))
    table = Table(spark, path)
    table.append(grid(spark, 32))
    return table


def tags(table: Table) -> set[tuple[str | None, str | None]]:
    return {
        ((add.tags or {}).get("ZCUBE_ZORDER_BY"), add.clustering_provider)
        for add in table.snapshot.files()
    }


def cubes(table: Table) -> set[str | None]:
    return {(add.tags or {}).get("ZCUBE_ID") for add in table.snapshot.files()}


def test_a_clustered_table_is_clustered_until_it_is_one_cube(
    spark: SparkSession, clustered: Table
) -> None:
    table, before = clustered, clustered.rows()

    with set_as(spark, eighths(table)):
        [row] = opened(table).optimize().executeCompaction().collect()

    assert table.rows() == before
    assert len(rust_rows(table.path)) == 2048
    assert tags(table) == {('["x","y"]', "liquid")}
    assert len(cubes(table)) == 1
    assert table.snapshot.num_files == 8
    assert max(num_read(table, "x", x) for x in range(32)) <= 5
    assert table.changes(table.version) == []
    assert_parameters(table, {"clusterBy": '["x","y"]', "zOrderBy": "[]", "isFull": False})
    stats = row.metrics.clusteringStats.asDict(recursive=True)
    assert (stats["inputZCubeFiles"]["numFiles"], stats["inputNumZCubes"]) == (0, 0)
    assert (stats["inputOtherFiles"]["numFiles"], stats["mergedFiles"]["numFiles"]) == (2, 2)
    assert stats["numOutputZCubes"] == 1

    version = table.version
    opened(table).optimize().executeCompaction()
    opened(table).optimize().executeFull()

    assert table.version == version


def assert_parameters(table: Table, expected: Mapping[str, object]) -> None:
    found = table.info.operation_parameters or {}
    assert {name: found.get(name) for name in expected} == expected


def test_new_files_join_a_cube_unless_it_is_sealed(spark: SparkSession, clustered: Table) -> None:
    table = clustered
    table.append(grid(spark, 8))
    [old] = cubes(table) - {None}
    before = table.rows()

    with set_as(spark, {CUBE_SIZE: "1", TARGET_SIZE: "1"}):
        opened(table).optimize().executeCompaction()

    assert table.rows() == before
    assert len(table.last.removes) == 1
    assert old in cubes(table)
    assert len(cubes(table)) == 2

    opened(table).optimize().executeCompaction()

    assert table.rows() == before
    assert old not in cubes(table)
    assert len(cubes(table)) == 1
