"""SQL in a table's metadata: an expression from someone else, checked before it becomes a Column.

Defaults, generated columns, constraints and invariants run with the rights of whoever writes to
the table. Some of Spark's functions run any Java method or read any file, so the functions that an
expression calls are checked first, in the tree of Spark's parser:

| what                                    | in a rule or generated column | in a default |
|-----------------------------------------|-------------------------------|--------------|
| Spark's own functions                   | yes                           | if constant  |
| `reflect` and the others in `REFUSED`   | with the setting              | the same     |
| functions of the session or the catalog | with the setting              | the same     |
| subqueries and `IDENTIFIER(...)`        | with the setting              | the same     |

The setting is `spark.truckee.tableSql.allowAnyFunction`.
"""

from __future__ import annotations

from functools import lru_cache

import msgspec
from pyspark.errors import ParseException
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as sf

from truckee.errors.sql import (
    ConstraintFunctionError,
    DefaultNotConstantError,
    GeneratedColumnFunctionError,
)
from truckee.protocol.column_metadata import CURRENT_DEFAULT_KEY, GENERATION_EXPRESSION_KEY
from truckee.protocol.schema import StructField
from truckee.spark.jvm.bridge import compiled
from truckee.spark.jvm.jvm_errors import quiet_errors
from truckee.spark.schema_conversion import spark_type

ALLOW_ANY_FUNCTION = "spark.truckee.tableSql.allowAnyFunction"

# The first three call any method of Java; the other two read a file of the driver's machine.
REFUSED = frozenset({"reflect", "java_method", "try_reflect", "from_protobuf", "to_protobuf"})


def generated_value(field: StructField) -> Column:
    """Return the value of a generated column, computed from the other columns of its row."""
    sql = field.metadata[GENERATION_EXPRESSION_KEY]
    check_generation(field.name, sql)
    return sf.expr(sql).cast(spark_type(field.type))


def default_value(field: StructField) -> Column:
    """Return the default of a column, null if it has none."""
    sql = field.metadata.get(CURRENT_DEFAULT_KEY)
    if sql is None:
        return sf.lit(None).cast(spark_type(field.type))
    check_default(field.name, sql)
    return sf.expr(sql).cast(spark_type(field.type))


def rule_condition(name: str, sql: str) -> Column:
    """Return the condition of a constraint or an invariant."""
    check_rule(name, sql)
    return sf.expr(sql)


def check_generation(column: str, sql: str) -> None:
    """Raise GeneratedColumnFunctionError if an expression calls what a table may not call."""
    function = _refused(sql)
    if function is not None and not _is_allowed():
        raise GeneratedColumnFunctionError(column=column, expression=sql, function=function)


def check_rule(name: str, sql: str) -> None:
    """Raise ConstraintFunctionError if a condition calls what a table may not call."""
    function = _refused(sql)
    if function is not None and not _is_allowed():
        raise ConstraintFunctionError(name=name, expression=sql, function=function)


def check_default(column: str, sql: str) -> None:
    """Raise DefaultNotConstantError unless a default is a constant, as delta-spark asks."""
    if _refused(sql) is not None and _is_allowed():
        return
    if _refused(sql) is not None or not _is_constant(sql):
        raise DefaultNotConstantError(column=column, expression=sql)


def _is_allowed() -> bool:
    setting = SparkSession.active().conf.get(ALLOW_ANY_FUNCTION, "false")
    return str(setting).strip().lower() == "true"


@lru_cache(maxsize=10_000)
def _refused(sql: str) -> str | None:
    """Return the first thing in an expression that a table may not use, None if there is none."""
    spark = SparkSession.active()
    try:
        with quiet_errors():
            called = compiled(spark, "TruckeeFunctions").called(spark._jsparkSession, sql)
    except ParseException:
        return None  # it cannot be run at all, and Spark says so when it is used
    names: list[str] = msgspec.json.decode(called)
    for name in names:
        if name.startswith("?") or name in REFUSED:
            return name.removeprefix("?")
    return None


@lru_cache(maxsize=10_000)
def _is_constant(sql: str) -> bool:
    spark = SparkSession.active()
    with quiet_errors():
        return bool(compiled(spark, "TruckeeFunctions").isConstant(spark._jsparkSession, sql))
