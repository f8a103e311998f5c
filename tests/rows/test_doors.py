"""Every door gives the same rows for the same options of a feed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import command_line
import truckee
from keyed_histories import KeyedHistory
from truckee.datasource.register import register
from truckee.doors.enable import enable
from truckee.table import DeltaTable

pytestmark = pytest.mark.slow

# Each with what the command line calls it.
SHAPES: list[tuple[dict[str, Any], list[str]]] = [
    ({}, []),
    ({"changeFeed": "derived"}, ["--feed", "derived"]),
    ({"changeFeed": "auto", "keys": "id"}, ["--feed", "auto", "--keys", "id"]),
    (
        {"changeFeed": "derived", "computeUpdates": False, "deduplicationMode": "dropCarryovers"},
        ["--feed", "derived", "--no-updates", "--drop-carryovers"],
    ),
    (
        {"deduplicationMode": "netChanges", "keys": "id", "computeUpdates": True},
        ["--net", "--keys", "id", "--updates"],
    ),
    (
        {"deduplicationMode": "netChanges", "changeFeed": "derived", "dropUnchanged": True},
        ["--net", "--feed", "derived", "--drop-unchanged"],
    ),
    ({"schemaMode": "follow", "changeFeed": "auto"}, ["--schema", "follow", "--feed", "auto"]),
]


@pytest.fixture(scope="module")
def table(tmp_path_factory: pytest.TempPathFactory) -> str:
    path: Path = tmp_path_factory.mktemp("doors") / "t"
    return str(KeyedHistory(path, Random(8), 6).table.path)


def counted(rows: Iterable[Mapping[str, Any]]) -> Counter[Any]:
    names = ("id", "v", "_change_type", "_commit_version")
    return Counter(tuple(row[name] for name in names) for row in rows)


# Invariant 71.
@pytest.mark.parametrize(("shape", "flags"), SHAPES, ids=lambda value: str(value))
def test_every_door_gives_the_same_rows(
    spark: SparkSession,
    table: str,
    capsys: pytest.CaptureFixture[str],
    shape: dict[str, Any],
    flags: list[str],
) -> None:
    enable(spark)
    register(spark)
    options = {"readChangeFeed": True, "startingVersion": 2, "endingVersion": 5, **shape}
    expected = counted(truckee.open(table).changes(2, 5, **shape).to_arrow().to_pylist())

    by_method = DeltaTable.forPath(spark, table).changes(2, 5, **shape)
    by_reader = truckee.read(spark).options(**options).load(table)
    by_format = spark.read.format("truckee").options(**options).load(table)
    printed = command_line.run_json(
        capsys, "changes", table, "--from", "2", "--to", "5", "--engine", "arrow", *flags
    )

    assert expected
    for frame in (by_method, by_reader, by_format):
        assert counted(row.asDict() for row in frame.collect()) == expected
    assert counted(printed) == expected


@pytest.mark.parametrize("shape", [shape for shape, _ in SHAPES], ids=str)
def test_sql_gives_the_same_rows(spark: SparkSession, table: str, shape: dict[str, Any]) -> None:
    updates = shape.get("computeUpdates", "deduplicationMode" not in shape)
    given = {"deduplicationMode": "none", **shape, "computeUpdates": updates}
    if shape.get("changeFeed") and given["deduplicationMode"] == "none":
        given["deduplicationMode"] = "dropCarryovers"
    listed = ", ".join(f"{name} = '{value}'" for name, value in given.items())
    enable(spark)
    expected = counted(truckee.open(table).changes(2, 5, **shape).to_arrow().to_pylist())

    frame = spark.sql(
        f"SELECT * FROM delta.`{table}` CHANGES FROM VERSION 2 TO VERSION 5 WITH ({listed})"
    )

    assert counted(row.asDict() for row in frame.collect()) == expected
