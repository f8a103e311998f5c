"""DataFrames of few rows that Python has, and small results as notebooks show them.

PySpark's `createDataFrame` makes its session the active one, of the class and of the thread, and
never sets back the one before. The session of a batch, or another session of the user, would stay
active after a command that only returns its metrics.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame
from pyspark.sql.types import ArrayType, MapType, StructField, StructType

from truckee.report.notebook import ROWS_SHOWN, nested_text, rows_html

_MOST_ROWS = 100
_MOST_CHARACTERS = 2000


class ResultFrame(ClassicDataFrame):
    """A DataFrame of few rows, which a notebook shows as a table.

    For any other DataFrame a notebook shows only the columns, since its rows may take hours.
    """

    most_rows = _MOST_ROWS

    def _repr_html_(self) -> str:
        fields = self.schema.fields
        rows = self.selectExpr(*map(_expression, fields)).take(self.most_rows + 1)
        texts = [tuple(map(_text, row, fields)) for row in rows[: self.most_rows]]
        more = f"only the first {self.most_rows} rows" if len(rows) > self.most_rows else ""
        return rows_html(self.columns, texts) + more


class FirstRowsFrame(ResultFrame):
    """A DataFrame of any number of rows, of which a notebook shows the first ones."""

    most_rows = ROWS_SHOWN


def _expression(field: StructField) -> str:
    """Return what makes a text of a column; Spark's own text of a struct has no names in it."""
    name = "`" + field.name.replace("`", "``") + "`"
    return f"to_json({name})" if _is_nested(field) else f"cast({name} AS string)"


def _is_nested(field: StructField) -> bool:
    return isinstance(field.dataType, (ArrayType, MapType, StructType))


def _text(text: str | None, field: StructField) -> str | None:
    if text is not None and _is_nested(field):
        text = nested_text(json.loads(text))
    if text is None or len(text) <= _MOST_CHARACTERS:
        return text
    return f"{text[:_MOST_CHARACTERS]}..."


def result_frame(rows: DataFrame) -> DataFrame:
    """Return rows that are already computed as a DataFrame that a notebook shows."""
    return ResultFrame(rows._jdf, rows.sparkSession)


def metrics_frame(
    spark: SparkSession, affected: Mapping[str, int], columns: Sequence[str]
) -> DataFrame:
    """Return one row with these columns of `affected`, 0 for those that are missing."""
    table = pa.table({name: pa.array([affected.get(name, 0)], pa.int64()) for name in columns})
    return result_frame(local_frame(spark, table))


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
