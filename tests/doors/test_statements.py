"""Every example of the documentation's SQL page, run by name and by path."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import Row, SparkSession

from scripts.sql_statements import EXAMPLES, PATH_ONLY, START, Example
from truckee.doors.enable import enable
from truckee.log.history import history
from truckee.log.snapshot import load_snapshot
from truckee.storage import LocalStorage

NAME = "an_example"
CASES = [
    pytest.param(example, way, id=f"{number}-{way}-{example.statement[:40]}")
    for number, example in enumerate(EXAMPLES)
    for way in ("name", "path")
    if way == "path" or example.group not in PATH_ONLY
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
def table(
    enabled: SparkSession, start: Path, tmp_path: Path, request: Any
) -> Iterator[tuple[str, Path]]:
    folder = tmp_path / "t"
    shutil.copytree(start, folder)
    if request.param == "path":
        yield f"delta.`{folder}`", folder
        return
    enabled.sql(f"CREATE TABLE {NAME} USING delta LOCATION '{folder}'")
    yield NAME, folder
    enabled.sql(f"DROP TABLE {NAME}")


@pytest.mark.parametrize(("example", "table"), CASES, indirect=["table"])
def test_an_example_does_what_is_said_of_it(
    enabled: SparkSession, table: tuple[str, Path], example: Example
) -> None:
    name, folder = table
    for statement in example.before:
        enabled.sql(statement.replace("{t}", name))
    storage = LocalStorage(str(folder))
    version = load_snapshot(storage).version
    statement = example.statement.replace("{t}", name)

    if example.error is not None:
        with pytest.raises(AnalysisException) as caught:
            enabled.sql(statement)
        assert str(caught.value.getCondition()).startswith(example.error)
        found: list[Row] = []
    else:
        found = enabled.sql(statement).collect()

    if example.result is not None:
        assert [tuple(row) for row in found] == list(example.result)
    rows = enabled.sql(f"SELECT * FROM {name}")
    assert tuple(rows.columns) == example.columns
    assert sorted(map(_key, rows.collect())) == sorted(map(_key, example.rows))
    if example.operation is None:
        assert example.group == "Care" or load_snapshot(storage).version == version
    else:
        commit = history(storage, 1)[0]
        parameters = dict(commit.operation_parameters or {})
        assert (commit.version, commit.operation) == (version + 1, example.operation)
        assert {key: parameters.get(key) for key in example.parameters} == example.parameters


def _key(row: Any) -> str:
    return repr(tuple(row))
