"""A user's rows converted to rows of a table: its columns, in its order, with its types.

Columns are matched by name, ignoring case, at every depth. Values are cast as in SQL's INSERT: a
number that does not fit is an error. A column that the rows lack gets the first that applies: its
identity number, its default, its generated value, null.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType, UserDefinedType, VariantType

from truckee.errors.commands.write import IdentityValueGivenError
from truckee.protocol.column_metadata import GENERATION_EXPRESSION_KEY
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.spark.jvm.projection import Given, Item, Named, column, selected
from truckee.spark.schema_conversion import bare_schema, spark_type, to_spark
from truckee.spark.write.identity import Identity, identity_of, identity_values
from truckee.spark.write.session_copy import COLUMN_SETTINGS, on_session
from truckee.spark.write.store_assignment import assigned_number, may_overflow
from truckee.spark.write.table_sql import default_value, generated_value


class RowsToWrite(NamedTuple):
    """Rows with exactly the columns of a table.

    `computed` are the generated columns whose values were computed here. `identities` are the
    identity columns whose numbers were assigned here, by physical name.
    """

    df: DataFrame
    computed: frozenset[str]
    identities: Mapping[str, Identity]


def rows_to_write(df: DataFrame, schema: StructType) -> RowsToWrite:
    """Return the rows of `df` as rows of a table; nothing is run yet.

    Every column of `df` must be in the schema, with a type that can be stored there.
    """
    df = on_session(df, COLUMN_SETTINGS)
    spark = df.sparkSession
    given = {name.casefold(): name for name in df.columns}
    present = [field for field in schema.fields if field.name.casefold() in given]
    missing = [field for field in schema.fields if field.name.casefold() not in given]
    assert len(present) == len(df.columns), "a column has no place in the table"

    held = {field.name: field.dataType for field in df.schema.fields}
    names = [(field, given[field.name.casefold()]) for field in present]
    plain = selected(df, (_plain(spark, name, held[name], field) for field, name in names))
    rows = plain.to(to_spark(bare_schema(StructType(tuple(present)))))
    identities = _identities(present, missing)
    if identities:
        rows = _in_tasks(rows)
    generated = [field for field in missing if GENERATION_EXPRESSION_KEY in field.metadata]
    if missing:
        rows = rows.withColumns({f.name: _filled(df, f) for f in missing if f not in generated})
        rows = rows.withColumns({field.name: generated_value(field) for field in generated})
        rows = selected(rows, (Named(field.name) for field in schema.fields))
    return RowsToWrite(rows, frozenset(field.name for field in generated), identities)


def _in_tasks(rows: DataFrame) -> DataFrame:
    """Return the rows so that Spark computes them in tasks, whose numbers make the identities.

    Spark would compute rows of literal values on the driver, before there is a task.
    """
    leaves = rows._jdf.queryExecution().analyzed().collectLeaves()
    names = {str(leaves.apply(index).nodeName()) for index in range(leaves.size())}
    if not names <= {"LocalRelation", "OneRowRelation"}:
        return rows
    return rows.coalesce(rows.sparkSession.sparkContext.defaultParallelism)


def _plain(spark: SparkSession, name: str, held: DataType, field: StructField) -> Item:
    """Return values of a user-defined type as the type that stores them, others unchanged.

    Values become variants, or variants other values, by a cast: `DataFrame.to` makes none of these.
    Numbers are cast here, since the error of `DataFrame.to` does not name the column.
    """
    if isinstance(held, UserDefinedType):
        return Given(sf.unwrap_udt(column(name)), field.name)
    becomes_variant = field.type == PrimitiveType("variant")
    if becomes_variant != isinstance(held, VariantType):
        return Named(name, field.name, spark_type(field.type))
    kind = spark_type(field.type)
    if may_overflow(spark, held, kind):
        return Given(assigned_number(spark, column(name), kind, field.name), field.name)
    return Named(name, field.name)


def _identities(present: list[StructField], missing: list[StructField]) -> dict[str, Identity]:
    for field in present:
        identity = identity_of(field)
        if identity is not None and not identity.takes_values:
            raise IdentityValueGivenError(column=field.name)
    found = {field.physical_name: identity_of(field) for field in missing}
    return {name: identity for name, identity in found.items() if identity is not None}


def _filled(df: DataFrame, field: StructField) -> Column:
    identity = identity_of(field)
    if identity is not None:
        return identity_values(df.sparkSession, identity)
    return default_value(field)
