"""What a command returns: its numbers, as a DataFrame of one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pyspark.sql import DataFrame, SparkSession


def metrics_frame(
    spark: SparkSession, affected: Mapping[str, int], columns: Sequence[str]
) -> DataFrame:
    """Return one row with these columns of `affected`, 0 for what is not in it."""
    numbers = [f"{affected.get(name, 0)}L AS {name}" for name in columns]
    return spark.sql(f"SELECT {', '.join(numbers)}")
