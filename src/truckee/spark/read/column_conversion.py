"""Columns of one schema as columns of another: renamed, widened, with fields added or dropped."""

from __future__ import annotations

from pyspark.sql import Column
from pyspark.sql import functions as F

from truckee.changes.changelog.column_history import field_key
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    UserDefinedType,
)
from truckee.spark.schema_conversion import bare, spark_type


def conformed(value: Column, own: DataType, mode: str, wanted: DataType) -> Column:
    """Return a value of a type as one of another type.

    Fields of structs are matched by key. The key of a field of `own` follows from the column
    mapping `mode`; in `wanted`, it is the physical name. A missing field is null.
    """
    if isinstance(own, UserDefinedType):
        own = own.sql_type
    if bare(own) == bare(wanted):
        return value
    match own, wanted:
        case StructType(), StructType():
            fields = {field_key(field, mode): field for field in own.fields}
            made = [
                _field(value, fields.get(field.physical_name), mode, field)
                for field in wanted.fields
            ]
            return F.when(value.isNotNull(), F.struct(*made))
        case ArrayType(), ArrayType():
            element, new = own.element_type, wanted.element_type
            return F.transform(value, lambda each: conformed(each, element, mode, new))
        case MapType(), MapType():
            return F.map_from_entries(
                F.transform(F.map_entries(value), lambda entry: _entry(entry, own, mode, wanted))
            )
        case _:
            return value.try_cast(spark_type(bare(wanted)))


def _field(value: Column, own: StructField | None, mode: str, wanted: StructField) -> Column:
    if own is None:
        return F.lit(None).cast(spark_type(bare(wanted.type))).alias(wanted.name)
    inner = conformed(value.getField(own.name), own.type, mode, wanted.type)
    return inner.alias(wanted.name)


def _entry(entry: Column, own: MapType, mode: str, wanted: MapType) -> Column:
    return F.struct(
        conformed(entry.getField("key"), own.key_type, mode, wanted.key_type),
        conformed(entry.getField("value"), own.value_type, mode, wanted.value_type),
    )
