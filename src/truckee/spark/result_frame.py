"""Small results, such as a history or the numbers of a command, as notebooks show them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

_MOST_ROWS = 100
_MOST_CHARACTERS = 160


class ResultFrame(ClassicDataFrame):
    """A DataFrame of few rows, which a notebook shows as a table.

    For any other DataFrame a notebook shows only the columns, since its rows may take hours.
    """

    def _repr_html_(self) -> str:
        jdf: Any = self._jdf
        return str(jdf.htmlString(_MOST_ROWS, _MOST_CHARACTERS))


def result_frame(rows: DataFrame) -> DataFrame:
    """Return rows that are already computed as a DataFrame that a notebook shows."""
    return ResultFrame(rows._jdf, rows.sparkSession)


def metrics_frame(
    spark: SparkSession, affected: Mapping[str, int], columns: Sequence[str]
) -> DataFrame:
    """Return one row with these columns of `affected`, 0 for those that are missing."""
    table = pa.table({name: pa.array([affected.get(name, 0)], pa.int64()) for name in columns})
    return result_frame(spark.createDataFrame(table))
