"""Columns that were taken from a DataFrame of a table and used in a condition on the table.

`table.delete(table.toDF()["x"] == 1)` names a column of one DataFrame, while the command scans the
table with another one. Only the name of such a column matters, so it is replaced by a column of
that name, under the alias of the table.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.errors.commands.dml import AmbiguousColumnError
from truckee.spark.dml.expressions import as_written
from truckee.spark.jvm.bridge import scala_seq, to_column, to_expression
from truckee.spark.jvm.projection import quoted

_KEPT = 32


class ShownColumns:
    """The columns of the DataFrames that `toDF` of a table returned last."""

    def __init__(self) -> None:
        # Spark's attributes, which keep no plan and no files alive.
        self._outputs: deque[Any] = deque(maxlen=_KEPT)

    def __bool__(self) -> bool:
        return bool(self._outputs)

    def remember(self, frame: DataFrame) -> DataFrame:
        """Remember the columns of a DataFrame of the table, and return it."""
        self._outputs.append(_output_of(frame))
        return frame

    def by_name(
        self,
        spark: SparkSession,
        given: Any,
        alias: str | None,
        *,
        what: str,
        source: DataFrame | None = None,
    ) -> Any:
        """Return a condition or value with columns of the table by name; others stay as they are.

        Raises AmbiguousColumnError for a column that `source` was made from as well.
        """
        if not isinstance(given, Column) or not self._outputs:
            return given
        # Goes down to the attributes; `to_expression` stops at the Column as a whole.
        expression = spark._jsparkSession.expression(given._jc)
        # Look-ups in sets: the cost grows with the condition, not with the width of the table.
        shown = {
            number: attribute
            for number, attribute in _attributes(expression).items()
            if any(output.contains(attribute) for output in self._outputs)
        }
        if not shown:
            return given
        names = {number: str(attribute.name()) for number, attribute in shown.items()}
        if source is not None:
            output = _output_of(source)
            for number, attribute in shown.items():
                if output.contains(attribute):
                    raise _ambiguous(names[number], what=what, expression=as_written(given))
        prefix = "" if alias is None else f"{quoted(alias)}."
        columns = {number: F.col(prefix + quoted(name)) for number, name in names.items()}
        return to_column(spark, _replaced(spark, expression, columns))


def _output_of(frame: DataFrame) -> Any:
    """Return the columns of a DataFrame as Spark's set of attributes."""
    return frame._jdf.queryExecution().analyzed().outputSet()


def _ambiguous(column: str, *, what: str, expression: str) -> AmbiguousColumnError:
    return AmbiguousColumnError(
        what=what,
        expression=expression,
        column=column,
        candidates="[the table's, the source's], for the source was made of the table",
    )


def _attributes(expression: Any) -> dict[int, Any]:
    """Return the attributes of DataFrames in an expression, by their ids.

    Spark's own attribute set cannot hold two columns that are given by name only.
    """
    if expression.getClass().getSimpleName() == "AttributeReference":
        return {int(expression.exprId().id()): expression}
    found: dict[int, Any] = {}
    children = expression.children()
    for index in range(children.size()):
        found |= _attributes(children.apply(index))
    return found


def _replaced(spark: SparkSession, expression: Any, columns: dict[int, Column]) -> Any:
    if expression.getClass().getSimpleName() == "AttributeReference":
        column = columns.get(int(expression.exprId().id()))
        return expression if column is None else to_expression(spark, column)
    children = expression.children()
    if children.isEmpty():
        return expression
    new = [_replaced(spark, children.apply(i), columns) for i in range(children.size())]
    return expression.withNewChildren(scala_seq(spark, new))
