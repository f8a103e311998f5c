"""The key of a row on a curve: the same in a query as in the process that cuts the curve."""

from __future__ import annotations

import math
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as sf

from truckee.care.curves import bits_for, hilbert_machine, spread_bits
from truckee.spark.write.curve_columns import CurveTables, query_key, sample_key

ROWS = [
    (0, -1.5, "00"),
    (7, 0.0, "4142"),
    (8, 2.5, "4143"),
    (9, math.inf, "FF"),
    (100, math.nan, "4142"),
    (-3, -math.inf, None),
    (None, None, "7A"),
]
BOUNDS: list[list[Any]] = [[0, 8, 50], [-1.0, 0.0, 2.5], ["41", "4143", "7A"]]


@pytest.mark.parametrize("is_hilbert", [False, True])
def test_a_query_and_a_sample_agree_on_the_key_of_a_row(
    spark: SparkSession, is_hilbert: bool
) -> None:
    bits = bits_for(3, 4)
    tables = CurveTables(bits, 4, spread_bits(3, bits))
    if is_hilbert:
        machine = hilbert_machine(3, bits)
        tables = tables._replace(chunk=machine.chunk, steps=machine.steps)
    rows = spark.createDataFrame(ROWS, "a long, b double, c string").coalesce(1)
    columns = [sf.col(name) for name in rows.columns]

    found = rows.select(query_key(spark, columns, BOUNDS, tables)).collect()

    assert [row[0] for row in found] == [sample_key(row, BOUNDS, tables) for row in ROWS]
    assert len({row[0] for row in found}) > 4
