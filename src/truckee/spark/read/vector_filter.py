"""Deletion vectors inside a Spark plan: is this row of this file in the set?

The rows of all files of a scan are one set, and the test is one call from generated code on a
class that every executor has, so its cost does not grow with the number of rows in the set.

| set      | class                   | a row is                            | for              |
|----------|-------------------------|-------------------------------------|------------------|
| `Dense`  | `java.util.BitSet`      | start of its file + row index       | `DENSE_ROWS` rows |
| `Sparse` | `Roaring64NavigableMap` | file id << 32, or-ed with row index | any number       |

The set is not known while a plan is built: which files survive pruning is known only when Spark
asks for them. So the plan holds a *slot*, an object whose content is set later. It has to be of a
class that every executor has, that is serializable, and that prints in a few words however large
its content is, for Spark prints a plan each time that it runs one. Of the JDK's classes,
`javax.management.Notification` with its user data is such a one.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap, keyed_portable
from truckee.spark.jvm.bridge import java_class, java_half, scala_seq, to_column, to_expression

DENSE_ROWS = 1 << 28
"""Files with vectors may have this many rows in all for a plain set of bits (32 MiB)."""

FILE_ID = "__truckee_file_id"
FILE_START = "__truckee_file_start"
FILE_ROWS = "__truckee_file_rows"
# Spark's own name for the column that its Parquet readers fill with the position in the file.
# Asked for by this name it is a column like any other, where `_metadata.row_index` is a field of a
# struct that is made anew for each row.
ROW_INDEX = "_tmp_metadata_row_index"


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


class Sparse:
    """A Roaring bitmap of file id and row index."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self._slot = Slot(spark, name, "org.roaringbitmap.longlong.Roaring64NavigableMap")
        self.fill({}, ())

    def fill(self, bitmaps: Mapping[int, RowBitmap], starts: Sequence[int]) -> None:  # noqa: ARG002
        """Make these the rows of the set, by file id; `starts` are for sets that need them."""
        self._slot.fill(java_half(self._spark).sparse(keyed_portable(bitmaps)))

    def contains_row(self) -> Column:
        """Return whether the set has the row, told from the constants of its file."""
        key = F.expr(f"shiftleft(cast({FILE_ID} AS BIGINT), 32) | {ROW_INDEX}")
        return self._slot.call("contains", "boolean", key)


class Dense:
    """A plain set of bits, in which each file has a range as long as it has rows."""

    def __init__(self, spark: SparkSession, name: str) -> None:
        self._spark = spark
        self._slot = Slot(spark, name, "java.util.BitSet")
        self.fill({}, ())

    def fill(self, bitmaps: Mapping[int, RowBitmap], starts: Sequence[int]) -> None:
        """Make these the rows of the set; `starts` says where the range of each file id begins."""
        packed = struct.pack(f">{len(starts)}i", *starts)
        self._slot.fill(java_half(self._spark).dense(keyed_portable(bitmaps), packed))

    def contains_row(self) -> Column:
        """Return whether the set has the row, told from the constants of its file."""
        position = F.expr(f"cast({FILE_START} + {ROW_INDEX} AS INT)")
        # A file with more rows than its statistics say would reach into the range of the next one.
        inside = F.expr(f"{ROW_INDEX} < {FILE_ROWS}")
        return inside & self._slot.call("get", "boolean", position)
