"""A condition in SQL, looked at before it is used: the columns it reads, the partitions it hits.

The columns and the predicate come from Spark's own analysis of the condition over a frame that has
the table's columns and no rows; no job is run for that.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import IntegerType, StringType
from pyspark.sql.types import StructField as SparkField
from pyspark.sql.types import StructType as SparkStruct

from truckee.errors.write import InvalidConditionError
from truckee.protocol.predicates import UNKNOWN, Predicate
from truckee.protocol.schema import DataType, StructType
from truckee.spark.conf import session_zone
from truckee.spark.jvm import gateway
from truckee.spark.predicates import predicate_of
from truckee.spark.types import from_spark, to_java, to_spark
from truckee.spark.writer_columns import bare_schema, column, spark_type
from truckee.spark.writer_session import COLUMN_SETTINGS, on_session

_POSITION = "__position"


@dataclass(frozen=True)
class Condition:
    """A condition on the rows of a table.

    `columns` are the top-level columns that it reads; `predicate` is the part of it that can be
    compared with partition values and statistics without Spark.
    """

    sql: str
    columns: frozenset[str]
    predicate: Predicate

    def reads_only(self, names: Sequence[str]) -> bool:
        """Return whether the condition reads no other columns than these."""
        return {n.casefold() for n in self.columns} <= {n.casefold() for n in names}


def parse_condition(
    spark: SparkSession, sql: str | Column, schema: StructType, *, what: str
) -> Condition:
    """Return what a condition says of rows with this schema.

    Raises InvalidConditionError if it is none: `what` names it there, as in `replaceWhere`.
    """
    rows = on_session(_no_rows(spark, to_spark(bare_schema(schema))), COLUMN_SETTINGS)
    try:
        found = rows.where(sql)
        plan = found._jdf.queryExecution()
        analyzed = plan.analyzed().condition()
        columns = _names(analyzed.references())
        optimized = plan.optimizedPlan()
    except (AnalysisException, ParseException) as error:
        reason = _first_line(error)
        raise InvalidConditionError(what=what, condition=str(sql), reason=reason) from error
    text = sql if isinstance(sql, str) else str(analyzed.sql())
    predicate: Predicate = UNKNOWN
    if optimized.nodeName() == "Filter":
        filters = [optimized.condition().toJSON()]
        predicate = predicate_of(filters, bare_schema(schema), session_zone(spark))
    return Condition(text, columns, predicate)


@dataclass(frozen=True)
class Expression:
    """An expression over the columns of a table."""

    type: DataType
    columns: frozenset[str]
    is_deterministic: bool


def parse_expression(spark: SparkSession, sql: str, schema: StructType) -> Expression | str:
    """Return what an expression over rows with this schema gives, or why it is none.

    Aggregates, windows and subqueries look at more than one row, and are none.
    """
    rows = on_session(_no_rows(spark, to_spark(bare_schema(schema))), COLUMN_SETTINGS)
    try:
        found = rows.select(sf.expr(sql).alias("value"))
        plan = found._jdf.queryExecution().analyzed()
    except (AnalysisException, ParseException) as error:
        return _first_line(error)
    if plan.nodeName() != "Project" or plan.subqueries().nonEmpty():
        return "it looks at more than one row"
    return Expression(
        from_spark(found.schema).fields[0].type,
        _names(plan.references()),
        bool(plan.deterministic()),
    )


def _first_line(error: Exception) -> str:
    """Return what Spark says is wrong, without the plan that it prints below."""
    return str(error).splitlines()[0].partition(" SQLSTATE:")[0]


def _no_rows(spark: SparkSession, schema: SparkStruct) -> DataFrame:
    # An RDD, for Spark's optimizer would make nothing of a condition on a list without rows.
    from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

    java_session = spark._jsparkSession
    rows = (
        gateway(spark)
        .jvm.org.apache.spark.api.java.JavaSparkContext(spark.sparkContext._jsc.sc())
        .emptyRDD()
    )
    return ClassicDataFrame(java_session.createDataFrame(rows, to_java(spark, schema)), spark)


def _names(references: Any) -> frozenset[str]:
    found = references.toSeq()
    return frozenset(str(found.apply(index).name()) for index in range(found.size()))


def matching_partitions(
    spark: SparkSession,
    sql: str,
    partition_schema: StructType,
    partitions: Sequence[Mapping[str, str | None]],
) -> list[bool]:
    """Return for each partition, given by the texts of its values, whether a condition is true.

    `partitions` go by physical names. Spark evaluates the condition on all of them at once.
    """
    if not partitions:
        return []
    fields = partition_schema.fields
    rows = [
        (position, *(values.get(field.physical_name) for field in fields))
        for position, values in enumerate(partitions)
    ]
    texts = SparkStruct(
        [
            SparkField(_POSITION, IntegerType()),
            *(SparkField(field.name, StringType()) for field in fields),
        ]
    )
    frame = on_session(spark.createDataFrame(rows, texts), COLUMN_SETTINGS)
    typed = frame.select(
        _POSITION,
        *(
            sf.when(column(field.name) != "", column(field.name))
            .cast(spark_type(field.type))
            .alias(field.name)
            for field in fields
        ),
    )
    hit = {row[0] for row in typed.where(sql).select(_POSITION).collect()}
    return [position in hit for position in range(len(partitions))]
