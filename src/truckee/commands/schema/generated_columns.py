"""Generated columns, checked when a table gets them and not only when the first row is written."""

from __future__ import annotations

from pyspark.sql import SparkSession

from truckee.commands.schema.evolution import can_store
from truckee.errors.columns import (
    GeneratedColumnTypeError,
    IdentityPartitionError,
    InvalidGeneratedColumnError,
    InvalidIdentityColumnError,
    NonDeterministicGenerationError,
)
from truckee.errors.commands.dml import InvalidExpressionError
from truckee.protocol.column_metadata import (
    CURRENT_DEFAULT_KEY,
    GENERATION_EXPRESSION_KEY,
    IDENTITY_STEP_KEY,
)
from truckee.protocol.schema import PrimitiveType, StructField, StructType, type_text
from truckee.spark.write.condition_checks import parse_expression
from truckee.spark.write.table_sql import check_default, check_generation

_VARIANT = PrimitiveType("variant")


def check_generated_columns(
    spark: SparkSession, schema: StructType, partition_columns: tuple[str, ...]
) -> None:
    """Raise unless each generated column has an expression over columns that are not generated.

    Defaults must be constant.
    """
    plain = StructType(
        tuple(f for f in schema.fields if GENERATION_EXPRESSION_KEY not in f.metadata)
    )
    for field in schema.fields:
        if IDENTITY_STEP_KEY in field.metadata:
            _check_identity(field, partition_columns)
        if GENERATION_EXPRESSION_KEY in field.metadata:
            _check_expression(spark, plain, field)
        if CURRENT_DEFAULT_KEY in field.metadata:
            check_default(field.name, field.metadata[CURRENT_DEFAULT_KEY])


def _check_identity(field: StructField, partition_columns: tuple[str, ...]) -> None:
    if field.type != PrimitiveType("long"):
        reason = f"it is of type {type_text(field.type)}"
        raise InvalidIdentityColumnError(column=field.name, reason=reason)
    if int(field.metadata[IDENTITY_STEP_KEY]) == 0:
        raise InvalidIdentityColumnError(column=field.name, reason="its step is 0")
    if field.name in partition_columns:
        raise IdentityPartitionError(column=field.name)
    if GENERATION_EXPRESSION_KEY in field.metadata:
        raise InvalidIdentityColumnError(column=field.name, reason="it has an expression as well")


def _check_expression(spark: SparkSession, schema: StructType, field: StructField) -> None:
    sql = field.metadata[GENERATION_EXPRESSION_KEY]
    if field.type == _VARIANT:
        raise GeneratedColumnTypeError(
            column=field.name,
            expression=sql,
            reason="values of type variant cannot be compared",
        )
    found = parse_expression(spark, sql, schema, what=f"generated column {field.name}")
    if isinstance(found, InvalidExpressionError):
        raise found
    check_generation(field.name, sql)
    if not found.is_deterministic:
        raise NonDeterministicGenerationError(column=field.name, expression=sql)
    if not can_store(found.type, field.type) or found.type == _VARIANT:
        reason = f"it gives {type_text(found.type)}, and the column is {type_text(field.type)}"
        raise InvalidGeneratedColumnError(column=field.name, expression=sql, reason=reason)
