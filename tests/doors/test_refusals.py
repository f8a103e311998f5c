"""A request is refused with delta-spark's exception, error class and SQLSTATE, and does nothing.

`tests/interop/test_refusals.py` asks delta-spark the same.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from refusals import AFTER, BEFORE, REFUSALS, WORDS, Refusal, found_refusal, found_text
from truckee import DeltaTable
from truckee.doors.enable import enable
from truckee.spark.session.catalog import default_location


@pytest.fixture(scope="module")
def enabled(spark: SparkSession) -> Iterator[SparkSession]:
    truckee.install()
    yield enable(spark)
    truckee.uninstall()


@pytest.fixture(scope="module")
def folder(enabled: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    path = str(tmp_path_factory.mktemp("refusals"))
    for statement in BEFORE:
        enabled.sql(statement.replace("{p}", path))
    yield path
    for statement in AFTER:
        enabled.sql(statement)


@pytest.fixture(scope="module")
def warehouse(enabled: SparkSession) -> Path:
    return Path(default_location(enabled, "refused")).parent


@pytest.mark.parametrize("case", REFUSALS, ids=lambda case: case.request[:60])
def test_a_request_is_refused_as_by_delta_spark(
    enabled: SparkSession, folder: str, warehouse: Path, case: Refusal
) -> None:
    before = _files(Path(folder)) + _files(warehouse)

    assert found_refusal(enabled, DeltaTable, case.request, folder) == case[1:]

    assert _files(Path(folder)) + _files(warehouse) == before


@pytest.mark.parametrize(("request_", "words"), WORDS.items(), ids=lambda text: text[:60])
def test_the_text_of_a_refusal_has_the_words_that_programs_look_for(
    enabled: SparkSession, folder: str, request_: str, words: str
) -> None:
    assert words in found_text(enabled, DeltaTable, request_, folder)


def _files(folder: Path) -> list[str]:
    """Return all files of the tables: a commit, a table or a data file would be a new one."""
    return sorted(str(path) for path in folder.rglob("*"))
