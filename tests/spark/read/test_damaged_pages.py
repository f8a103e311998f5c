"""Spark verifies the checksums of pages: a flipped bit is an error, and never other rows."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import truckee
from truckee import DeltaTable
from truckee.errors import DeltaError

VERIFY = "parquet.page.verify-checksum.enabled"


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> Path:
    """A table with a data file and a change file, without the checksums of Hadoop's local disk."""
    spark.conf.set("spark.sql.parquet.compression.codec", "uncompressed")
    try:
        rows = spark.range(0, 2000, 1, 1).select("id", F.rand(1).alias("x"))
        truckee.write(rows).option("delta.enableChangeDataFeed", "true").save(tmp_path / "t")
        DeltaTable.forPath(spark, tmp_path / "t").update("true", {"x": F.col("x") + 1})
    finally:
        spark.conf.unset("spark.sql.parquet.compression.codec")
    for file in (tmp_path / "t").rglob(".*.crc"):
        file.unlink()
    return tmp_path / "t"


def flip(file: Path) -> None:
    """Flip a bit of a double in the middle of a file."""
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 4
    file.write_bytes(data)


def total(spark: SparkSession, table: Path, *, is_feed: bool) -> float:
    rows = (
        DeltaTable.forPath(spark, table).changes(startingVersion=1)
        if is_feed
        else truckee.read(spark).load(table)
    )
    return float(rows.agg(F.sum("x")).first()[0])


@pytest.mark.parametrize("is_feed", [False, True])
def test_a_flipped_bit_of_a_page_is_an_error(
    spark: SparkSession, table: Path, is_feed: bool
) -> None:
    good = total(spark, table, is_feed=is_feed)
    for file in table.rglob("*.parquet"):
        flip(file)

    with pytest.raises(DeltaError) as raised:
        total(spark, table, is_feed=is_feed)
    spark.conf.set(VERIFY, "false")
    try:
        unverified = total(spark, table, is_feed=is_feed)
    finally:
        spark.conf.unset(VERIFY)

    assert raised.value.code == "DELTA_CANNOT_READ_DATA_FILE"
    assert unverified != good
