"""How values of another type are stored in a column: `spark.sql.storeAssignmentPolicy`.

| policy  | a value of another type                                                     |
|---------|-----------------------------------------------------------------------------|
| ANSI    | is cast; one that does not fit is an error. This is Spark's default         |
| LEGACY  | is cast; one that does not fit becomes NULL or another value                |
| STRICT  | is cast only if the type of the column has every value of the other type    |

It is about SQL and about tables by name. What a DataFrame may write by path does not depend on it.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

from pyspark.sql import Column, SparkSession
from pyspark.sql.types import DataType, NumericType

from truckee.errors.commands.expressions import UpCastRefusedError
from truckee.spark.jvm.bridge import java_class, to_column, to_expression
from truckee.spark.write.session_copy import COLUMN_SETTINGS

_CATALYST = "org.apache.spark.sql.catalyst.expressions"


class StoreAssignment(Enum):
    """The policy of a session."""

    ANSI = "ANSI"
    LEGACY = "LEGACY"
    STRICT = "STRICT"

    @property
    def cast_settings(self) -> Mapping[str, str]:
        """The settings of a session that casts values to the types of a table."""
        is_ansi = self is not StoreAssignment.LEGACY
        return {**COLUMN_SETTINGS, "spark.sql.ansi.enabled": str(is_ansi).lower()}


def store_assignment(spark: SparkSession) -> StoreAssignment:
    """Return the policy of a session, which Spark has checked."""
    return StoreAssignment(str(spark.conf.get("spark.sql.storeAssignmentPolicy")).upper())


def check_up_cast(spark: SparkSession, found: DataType, kind: DataType, *, what: str) -> None:
    """Raise unless every value of one type is a value of the other, as STRICT wants it.

    `what` names the value in the error.
    """
    if not java_class(spark, f"{_CATALYST}.Cast").canUpCast(*_in_java(spark, found, kind)):
        raise UpCastRefusedError(
            what=what, found=found.simpleString(), expected=kind.simpleString()
        )


def may_overflow(spark: SparkSession, found: DataType, kind: DataType) -> bool:
    """Return whether a number of one type may be too large for the other."""
    if found == kind or not (isinstance(found, NumericType) and isinstance(kind, NumericType)):
        return False
    return not java_class(spark, f"{_CATALYST}.Cast").canUpCast(*_in_java(spark, found, kind))


def assigned_number(spark: SparkSession, value: Column, kind: DataType, name: str) -> Column:
    """Return a number cast to the type of a column.

    One that does not fit is Spark's error for INSERT, which tells the name of the column.
    """
    cast = assigned_value(spark, to_expression(spark, value), kind, StoreAssignment.ANSI)
    checked = java_class(spark, f"{_CATALYST}.CheckOverflowInTableInsert")(cast, name)
    return to_column(spark, checked)


def assigned_value(
    spark: SparkSession, expression: Any, kind: DataType, policy: StoreAssignment
) -> Any:
    """Return an expression of Catalyst cast to a type, as a policy wants it."""
    [java_type] = _in_java(spark, kind)
    zone = java_class(spark, "scala.Option").apply(spark.conf.get("spark.sql.session.timeZone"))
    modes = java_class(spark, f"{_CATALYST}.EvalMode")
    mode = modes.LEGACY() if policy is StoreAssignment.LEGACY else modes.ANSI()
    return java_class(spark, f"{_CATALYST}.Cast")(expression, java_type, zone, mode)


def can_be_cast(spark: SparkSession, found: DataType, kind: DataType) -> bool:
    """Return whether Spark, in its ANSI mode, has a cast from one type to the other."""
    cast = java_class(spark, f"{_CATALYST}.Cast")
    return bool(cast.canAnsiCast(*_in_java(spark, found, kind)))


def _in_java(spark: SparkSession, *types: DataType) -> list[Any]:
    return [spark._jsparkSession.parseDataType(each.json()) for each in types]
