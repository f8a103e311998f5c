"""No option passes in silence: it is known, warned of, or refused if it decides about rows."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from truckee.errors.options import ArgumentValueError
from truckee.options.text import UnknownOptionWarning
from truckee.streaming.sink import write_batch


@pytest.fixture(scope="module")
def table(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A table of three rows at two versions."""
    path = str(tmp_path_factory.mktemp("options") / "t")
    truckee.write(spark.range(2)).save(path)
    truckee.write(spark.range(2, 3)).mode("append").save(path)
    return path


def told(warned: pytest.WarningsRecorder) -> list[str]:
    return [str(warning.message) for warning in warned]


def test_a_misspelt_option_of_a_read_is_warned_of(spark: SparkSession, table: str) -> None:
    with pytest.warns(UnknownOptionWarning) as warned:
        truckee.read(spark).option("versionAsOff", 0).load(table)

    assert told(warned) == [
        "option versionAsOff has no effect on a read; did you mean versionAsOf?"
    ]


def test_a_misspelt_option_of_a_write_is_warned_of(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.warns(UnknownOptionWarning) as warned:
        truckee.write(spark.range(1)).option("mergeShema", "true").save(str(tmp_path / "t"))

    assert told(warned) == ["option mergeShema has no effect on a write; did you mean mergeSchema?"]


def test_a_misspelt_option_of_a_sink_is_warned_of() -> None:
    with pytest.warns(UnknownOptionWarning) as warned:
        write_batch("/t", userMetaData2="x")

    assert [warning.filename for warning in warned] == [__file__]
    assert told(warned) == [
        "option userMetaData2 has no effect on a write; did you mean userMetadata?"
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda s: truckee.write(s.range(1)).format("parquet"),
        lambda s: truckee.write(s.range(1)).save("/t", format="csv"),
        lambda s: truckee.write(s.range(1)).saveAsTable("t", format="csv"),
        lambda s: truckee.read(s).format("parquet"),
        lambda s: truckee.readStream(s).format("parquet"),
    ],
)
def test_another_format_is_refused(
    spark: SparkSession, call: Callable[[SparkSession], Any]
) -> None:
    with pytest.raises(ArgumentValueError, match="the format needs to be delta or truckee"):
        call(spark)


@pytest.mark.parametrize("name", ["delta", "Delta", "truckee"])
def test_the_format_may_be_named(spark: SparkSession, table: str, name: str) -> None:
    assert truckee.read(spark).format(name).load(table).count() == 3
