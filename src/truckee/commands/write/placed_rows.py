"""Rows of an INSERT with the fields of their structs named as in the table."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from truckee.commands.schema.placed_fields import fits_as_it_is, placed_type
from truckee.errors.commands.write import FieldCountError
from truckee.protocol.schema import ArrayType, MapType, StructType, type_text
from truckee.spark.jvm.projection import quoted
from truckee.spark.schema_conversion import bare, from_spark, spark_type
from truckee.spark.write.session_copy import on_session
from truckee.spark.write.store_assignment import store_assignment


def placed_rows(
    rows: DataFrame, table: StructType, *, by_place: bool, keeps_types: bool
) -> DataFrame:
    """Return the rows with the fields of structs named as in the table, by their places.

    Rows that can be stored as they are stay as they are, so that their fields go by their names,
    unless the statement goes `by_place`. `keeps_types` leaves casts of simple values to the writer.
    Raises FieldCountError if a struct has fewer fields than the table's.
    """
    if not by_place and _fits(rows, table):
        return rows
    casts = {}
    for given in from_spark(rows.schema).fields:
        field = table.field(given.name)
        if field is None or type(given.type) is not type(field.type):
            continue
        if not isinstance(field.type, StructType | ArrayType | MapType):
            continue
        kind = placed_type(given.type, field.type, keeps_types=keeps_types)
        if kind is None and not isinstance(field.type, StructType):
            kind = field.type  # Spark's own error is the one, as in delta-spark
        if kind is None:
            expected, found = type_text(field.type), type_text(given.type)
            raise FieldCountError(column=field.name, expected=expected, found=found)
        if kind != bare(given.type):
            casts[given.name] = F.col(quoted(given.name)).cast(spark_type(kind))
    if not casts:
        return rows
    settings = store_assignment(rows.sparkSession).cast_settings
    return on_session(rows, settings).withColumns(casts)


def _fits(rows: DataFrame, table: StructType) -> bool:
    """Return whether no value of the rows needs a cast, and no column or field another name."""
    pairs = ((given, table.field(given.name)) for given in from_spark(rows.schema).fields)
    return all(
        field is None or (given.name == field.name and fits_as_it_is(given.type, bare(field.type)))
        for given, field in pairs
    )
