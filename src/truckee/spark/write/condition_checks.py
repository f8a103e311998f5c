"""A condition in SQL, analyzed before it is used: the columns it reads, the partitions it selects.

The columns and the predicate come from Spark's own analysis of the condition over a frame that has
the table's columns and no rows; no job is run for that.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import StructType as SparkStruct

from truckee.errors.base import DeltaError
from truckee.errors.commands.dml import InvalidExpressionError, SubqueryNotSupportedError
from truckee.errors.commands.expressions import (
    AggregateRefusedError,
    PredicateSyntaxError,
    RefusedBySparkError,
    UnparsedExpressionError,
)
from truckee.protocol.schema import DataType, PrimitiveType, StructType, type_text
from truckee.spark.jvm.bridge import gateway
from truckee.spark.jvm.jvm_errors import quiet_errors
from truckee.spark.schema_conversion import bare_schema, from_spark, to_java, to_spark
from truckee.spark.write.expression_errors import expression_error
from truckee.spark.write.session_copy import COLUMN_SETTINGS, on_session

_POSITION = "__position"


def check_condition(spark: SparkSession, sql: str, schema: StructType, *, what: str) -> None:
    """Raise InvalidExpressionError unless a text is a condition on rows with this schema.

    `what` names it there, as in `replaceWhere`.
    """
    found = parse_expression(spark, sql, schema, what=what)
    if isinstance(found, UnparsedExpressionError):
        raise PredicateSyntaxError(what=what, expression=sql, reason=found.reason)
    if isinstance(found, InvalidExpressionError):
        raise found
    if found.type != PrimitiveType("boolean"):
        raise RefusedBySparkError(
            what=what,
            expression=sql,
            reason=f"it gives {type_text(found.type)}",
            spark_class="DATATYPE_MISMATCH.FILTER_NOT_BOOLEAN",
            state="42K09",
        )


@dataclass(frozen=True)
class ParsedExpression:
    """An expression over the columns of a table."""

    type: DataType
    columns: frozenset[str]
    is_deterministic: bool


def parse_expression(
    spark: SparkSession, sql: str, schema: StructType, *, what: str
) -> ParsedExpression | InvalidExpressionError:
    """Return the analysis of an expression over rows with this schema, or why it is not valid.

    Aggregates, windows and subqueries need more than one row, and are not valid.
    """
    rows = on_session(_no_rows(spark, to_spark(bare_schema(schema))), COLUMN_SETTINGS)
    try:
        with quiet_errors():
            found = rows.select(sf.expr(sql).alias("value"))
            plan = found._jdf.queryExecution().analyzed()
    except DeltaError:  # about a table that the expression names; it says more than Spark's message
        raise
    except (AnalysisException, ParseException) as error:
        return expression_error(error, what=what, expression=sql, columns=schema.names)
    if plan.subqueries().nonEmpty():
        return SubqueryNotSupportedError(what=what, expression=sql)
    if plan.nodeName() != "Project":
        return AggregateRefusedError(
            what=what,
            expression=sql,
            reason="it looks at more than one row",
            spark_class="INVALID_WHERE_CONDITION",
            state="42903",
        )
    return ParsedExpression(
        from_spark(found.schema).fields[0].type,
        _names(plan.references()),
        bool(plan.deterministic()),
    )


def _no_rows(spark: SparkSession, schema: SparkStruct) -> DataFrame:
    # An RDD: Spark's optimizer would drop a condition on an empty local list.
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


def unresolved_text(spark: SparkSession, condition: str) -> str:
    """Return a condition as Spark prints it before it is resolved: `('p = a)`.

    That is how delta-spark records the conditions of OPTIMIZE.
    """
    parser = spark._jsparkSession.sessionState().sqlParser()
    return str(parser.parseExpression(condition).toString())
