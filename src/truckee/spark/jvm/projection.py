"""Columns of a DataFrame, all of them in one call of the JVM.

PySpark's `select` costs a dozen calls for each column: one to look up the function, one to make the
column, one to name it, several to record the line of Python. A write goes through four such lists;
for a table of five hundred columns they took ten times as long as writing the rows.
"""

from __future__ import annotations

import json
import struct
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.types import DataType

from truckee.spark.jvm.bridge import (
    compiled,
    gateway,
    java_array,
    java_class,
    java_half,
    scala_seq,
    to_column,
    to_expression,
)


def column(name: str) -> Column:
    """Return the top-level column of exactly this name, whatever characters it has."""
    return sf.col(quoted(name))


def quoted(name: str) -> str:
    """Return a column's name quoted for SQL, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


class Named(NamedTuple):
    """A top-level column of exactly this name, whatever characters it has.

    It gets the name `alias`, the type `cast` and the metadata `metadata`; None leaves each as it
    is. Metadata needs an alias.
    """

    name: str
    alias: str | None = None
    cast: DataType | None = None
    metadata: Mapping[str, Any] | None = None


class Sql(NamedTuple):
    """A value in SQL, under a name."""

    text: str
    alias: str


class Given(NamedTuple):
    """A value as a Column, under a name; null where the condition `when` is not true."""

    column: Column
    alias: str
    metadata: Mapping[str, Any] | None = None
    when: Column | None = None


Item = Named | Sql | Given


def selected(df: DataFrame, items: Iterable[Item]) -> DataFrame:
    """Return these columns of the rows."""
    spark = df.sparkSession
    chosen = java_half(spark).select(df._jdf, *_packed(spark, items))
    return DataFrame(chosen, spark)


def binary_search(spark: SparkSession, numbers: Sequence[int | float], value: Column) -> Column:
    """Return what `java.util.Arrays.binarySearch` finds for a value in sorted numbers.

    They are 64-bit integers or doubles, as the values are. Spark's own `array_binary_search` copies
    the whole array for every row.
    """
    is_double = isinstance(numbers[0], float)
    found = gateway(spark)
    jvm = found.jvm
    array = found.new_array(jvm.double if is_double else jvm.long, len(numbers))
    packed = struct.pack(f">{len(numbers)}{'d' if is_double else 'q'}", *numbers)
    wrapped = java_class(spark, "java.nio.ByteBuffer").wrap(packed)
    (wrapped.asDoubleBuffer() if is_double else wrapped.asLongBuffer()).get(array)
    types = "org.apache.spark.sql.types."
    held = java_class(spark, f"{types}ObjectType")(array.getClass())
    literal = java_class(spark, "org.apache.spark.sql.catalyst.expressions.Literal")(array, held)
    search = java_class(spark, "org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke")(
        java_class(spark, "java.lang.Class").forName("java.util.Arrays"),
        getattr(java_class(spark, f"{types}IntegerType$"), "MODULE$"),
        "binarySearch",
        scala_seq(spark, [literal, to_expression(spark, value)]),
        scala_seq(spark, []),
        True,
        False,
        True,
        getattr(java_class(spark, "scala.None$"), "MODULE$"),
    )
    return to_column(spark, search)


def comparable_variants(spark: SparkSession, variants: Column) -> Column:
    """Return variants as texts that are equal if the variants are, types included."""
    return ClassicColumn(compiled(spark, "TruckeeVariants").comparable(variants._jc))


def uncancelled(
    df: DataFrame, compared: Sequence[str], taken: Sequence[str], shown: Sequence[str]
) -> DataFrame:
    """Return the rows of changes that are left after equal ones have cancelled.

    Rows are equal if the columns `compared` are. The columns `taken` are those of any of the equal
    rows; the result has the columns `shown`.
    """
    spark = df.sparkSession
    lists = [json.dumps(list(names)) for names in (compared, taken, shown)]
    return DataFrame(compiled(spark, "TruckeePlanner").uncancelled(df._jdf, *lists), spark)


def _packed(spark: SparkSession, items: Iterable[Item]) -> tuple[str, Any]:
    """Return items as the JVM takes them: texts, and an array of the Columns among them."""
    given: dict[int, tuple[int, Column]] = {}

    def number(column: Column) -> str:
        return str(given.setdefault(id(column), (len(given), column))[0])

    listed = json.dumps([_texts(item, number) for item in items])
    if not given:
        return listed, None
    members = [column._jc for _, column in given.values()]
    return listed, java_array(spark, "org.apache.spark.sql.Column", members)


def _texts(item: Item, number: Callable[[Column], str]) -> list[str | None]:
    """Return an item as the JVM takes it, with numbers in place of Columns."""
    match item:
        case Named(name, alias, cast, metadata):
            kind = None if cast is None else cast.json()
            return ["name", quoted(name), alias, kind, _metadata(metadata), None]
        case Sql(text, alias):
            return ["sql", text, alias, None, None, None]
        case Given(column, alias, metadata, when):
            guard = None if when is None else number(when)
            return ["given", number(column), alias, None, _metadata(metadata), guard]


def _metadata(metadata: Mapping[str, Any] | None) -> str | None:
    return None if metadata is None else json.dumps(dict(metadata))
