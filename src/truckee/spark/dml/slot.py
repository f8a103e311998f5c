"""A Java object in a plan whose content is set later.

Its class must be serializable, and its `toString` must be short however large the content is,
since Spark prints each plan that it runs. `javax.management.Notification`, with its user data, is
such a class of the JDK.
"""

from __future__ import annotations

from typing import Any

from pyspark.sql import Column, SparkSession

from truckee.spark.jvm.bridge import java_class, scala_seq, to_column, to_expression


class Slot:
    """A Java object in a plan that is filled in while the query is being prepared."""

    def __init__(self, spark: SparkSession, name: str, class_name: str) -> None:
        object_type = java_class(spark, "org.apache.spark.sql.types.ObjectType")
        literal = java_class(spark, "org.apache.spark.sql.catalyst.expressions.Literal")
        holder_class = java_class(spark, "javax.management.Notification")
        self._spark = spark
        self._holder = holder_class(name, "truckee", 0)
        holder = literal(self._holder, object_type(self._holder.getClass()))
        content = object_type(java_class(spark, "java.lang.Class").forName(class_name))
        self._content = self._invoke(holder, "getUserData", content, [])

    def fill(self, value: Any) -> None:
        """Put a Java object into the slot; queries that are prepared from now on see it."""
        self._holder.setUserData(value)

    def call(self, method: str, returns: str, argument: Column) -> Column:
        """Return the result of a method of the content, of the Spark type named `returns`."""
        result = self._spark._jsparkSession.parseDataType(f'"{returns}"')
        argument_expression = to_expression(self._spark, argument)
        return to_column(
            self._spark, self._invoke(self._content, method, result, [argument_expression])
        )

    def _invoke(self, target: Any, method: str, returns: Any, arguments: list[Any]) -> Any:
        invoke = java_class(self._spark, "org.apache.spark.sql.catalyst.expressions.objects.Invoke")
        return invoke(
            target,
            method,
            returns,
            scala_seq(self._spark, arguments),
            scala_seq(self._spark, []),
            False,  # propagateNull: no argument is ever null
            False,  # returnNullable
            True,  # isDeterministic
        )
