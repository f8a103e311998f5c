"""Rows of Python as a DataFrame of a session, which does not become the active one.

PySpark's `createDataFrame` makes its session the active one, of the class and of the thread, and
never sets back the one before. The session of a batch, or another session of the user, would stay
active after a command that only returns its metrics.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType


def local_frame(
    spark: SparkSession,
    rows: pa.Table | Iterable[tuple[Any, ...]],
    schema: StructType | str | None = None,
) -> DataFrame:
    """Return rows as a DataFrame; an Arrow table has a schema of its own, tuples need one."""
    kind = StructType.fromDDL(schema) if isinstance(schema, str) else schema
    if isinstance(rows, pa.Table):
        # PySpark's own session adds to this method only what makes it the active one.
        return super(SparkSession, spark).createDataFrame(rows, kind)  # type: ignore[arg-type]
    return spark._create_dataframe(rows, kind, None, True)
