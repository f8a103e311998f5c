"""How sessions come to know `format("truckee")`."""

from __future__ import annotations

import pkgutil
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import pyspark_truckee
import pyspark_truckee_delta
import truckee
from streaming.lake import append
from truckee.datasource.source import DeltaSource, TruckeeSource


def test_modules_are_where_spark_looks_for_them() -> None:
    found = {module.name for module in pkgutil.iter_modules()}

    assert {"pyspark_truckee", "pyspark_truckee_delta"} <= found
    assert pyspark_truckee.DefaultSource is TruckeeSource
    assert pyspark_truckee_delta.DefaultSource is DeltaSource
    assert (TruckeeSource.name(), DeltaSource.name()) == ("truckee", "delta")


@pytest.mark.slow
def test_a_session_finds_the_formats_by_itself(spark: SparkSession, tmp_path: Path) -> None:
    append(spark, tmp_path / "t", 0)
    fresh = spark.newSession()

    assert fresh.read.format("truckee").load(str(tmp_path / "t")).count() == 3


@pytest.mark.slow
def test_a_session_is_told_of_the_formats_as_often_as_one_likes(
    spark: SparkSession, tmp_path: Path
) -> None:
    append(spark, tmp_path / "t", 0)
    fresh = spark.newSession()

    truckee.register(fresh)
    truckee.register(fresh)

    for name in ("truckee", "delta"):
        assert fresh.read.format(name).load(str(tmp_path / "t")).count() == 3
