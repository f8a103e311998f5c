"""What a command returns: its numbers, as a DataFrame of one row."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession

from truckee.spark.result_frame import result_frame


def metrics_frame(
    spark: SparkSession, affected: Mapping[str, int], columns: Sequence[str]
) -> DataFrame:
    """Return one row with these columns of `affected`, 0 for those that are missing."""
    table = pa.table({name: pa.array([affected.get(name, 0)], pa.int64()) for name in columns})
    return result_frame(spark.createDataFrame(table))
