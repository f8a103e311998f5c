"""Columns and types of tables in Spark's terms, as writing needs them."""

from __future__ import annotations

from msgspec.structs import replace
from pyspark.sql import Column
from pyspark.sql import functions as sf
from pyspark.sql.types import DataType as SparkType

from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    StructField,
    StructType,
    UserDefinedType,
)
from truckee.spark.types import to_spark


def column(name: str) -> Column:
    """Return the top-level column of exactly this name, whatever characters it has."""
    return sf.col(quoted(name))


def quoted(name: str) -> str:
    """Return a column's name quoted for SQL, whatever characters it has."""
    return f"`{name.replace('`', '``')}`"


def spark_type(data_type: DataType) -> SparkType:
    """Return one of our types as Spark's."""
    return to_spark(StructType((StructField("value", data_type),))).fields[0].dataType


def bare(data_type: DataType) -> DataType:
    """Return the type with no metadata, and null allowed everywhere.

    User-defined types become the types that store them.
    """
    match data_type:
        case StructType():
            return bare_schema(data_type)
        case ArrayType(element_type):
            return ArrayType(bare(element_type))
        case MapType(key_type, value_type):
            return MapType(bare(key_type), bare(value_type))
        case UserDefinedType(sql_type):
            return bare(sql_type)
        case _:
            return data_type


def bare_schema(schema: StructType) -> StructType:
    """Return the schema with no metadata, and null allowed everywhere."""
    return StructType(tuple(StructField(field.name, bare(field.type)) for field in schema.fields))


def with_nulls(data_type: DataType) -> DataType:
    """Return the type with null allowed everywhere, and the metadata of its fields kept."""
    match data_type:
        case StructType(fields):
            return StructType(
                tuple(replace(f, type=with_nulls(f.type), nullable=True) for f in fields)
            )
        case ArrayType(element_type):
            return ArrayType(with_nulls(element_type))
        case MapType(key_type, value_type):
            return MapType(with_nulls(key_type), with_nulls(value_type))
        case _:
            return data_type
