"""Every example of the documentation's SQL page, run by name or by path, in turn.

`TRUCKEE_ALL_STATEMENTS` asks for both ways of each.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import Row, SparkSession

from scripts.sql_examples.example import NAME, START, Example, Placed
from scripts.sql_examples.page import EXAMPLES
from truckee.doors.enable import enable
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.storage import LocalStorage


def chosen_ways(number: int, example: Example) -> Sequence[str]:
    """Return all ways in which the table of an example is named, or one of them in turn."""
    if "TRUCKEE_ALL_STATEMENTS" in os.environ:
        return example.ways
    return [example.ways[number % len(example.ways)]]


CASES = [
    pytest.param(example, way, id=f"{number}-{way}-{example.statement[:40]}")
    for number, example in enumerate(EXAMPLES)
    for way in chosen_ways(number, example)
]


@pytest.fixture(scope="module")
def enabled(spark: SparkSession) -> SparkSession:
    return enable(spark)


@pytest.fixture(scope="module")
def start(enabled: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("start") / "t"
    for statement in START:
        enabled.sql(statement.replace("{t}", f"delta.`{folder}`"))
    return folder


@pytest.fixture
def placed(
    enabled: SparkSession, start: Path, tmp_path: Path, example: Example, way: str
) -> Iterator[Placed]:
    folder = tmp_path / "t"
    shutil.copytree(start, folder)
    found = Placed(example, way, str(folder), str(tmp_path / "other"))
    if way == NAME:
        enabled.sql(f"CREATE TABLE {found.table} USING delta LOCATION '{folder}'")
    for key, value in example.settings.items():
        enabled.conf.set(key, value)
    yield found
    for key in example.settings:
        enabled.conf.unset(key)
    enabled.sql("DROP VIEW IF EXISTS a_view")
    if way == NAME:
        enabled.sql(f"DROP TABLE IF EXISTS {found.table}")
        enabled.sql(f"DROP TABLE IF EXISTS {found.other}")


@pytest.mark.parametrize(("example", "way"), CASES)
def test_an_example_does_what_is_said_of_it(
    enabled: SparkSession, placed: Placed, example: Example
) -> None:
    for statement in example.before:
        enabled.sql(placed.text(statement))
    before = _last_version(placed.other_folder if example.makes_other else placed.folder)
    statement = placed.text(example.statement)

    if example.error is not None:
        with pytest.raises(PySparkException) as caught:
            enabled.sql(statement, dict(example.arguments)).collect()
        assert str(caught.value.getCondition()).startswith(example.error)
        found: list[Row] = []
    else:
        found = enabled.sql(statement, dict(example.arguments)).collect()

    if example.result is not None:
        assert [tuple(row) for row in found] == list(example.result)
    table = placed.other if example.makes_other else placed.table
    rows = enabled.sql(f"SELECT * FROM {table}")
    assert tuple(rows.columns) == example.columns
    assert sorted(map(_key, rows.collect())) == sorted(map(_key, example.rows))
    location = enabled.sql(f"DESCRIBE DETAIL {table}").collect()[0].location
    storage = LocalStorage(location.removeprefix("file:"))
    if example.operation is None:
        assert example.makes_other or _last_version(placed.folder) == before
    else:
        commit = history(storage, 1)[0]
        parameters = dict(commit.operation_parameters or {})
        assert commit.operation == example.operation
        assert {key: parameters.get(key) for key in example.parameters} == example.parameters


def _last_version(folder: str) -> int | None:
    if not (Path(folder) / "_delta_log").is_dir():
        return None
    return load_snapshot(LocalStorage(folder)).version


def _key(row: Any) -> str:
    return repr(tuple(row))
