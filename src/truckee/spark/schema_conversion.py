"""Our type tree as Spark's types, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import msgspec
from msgspec.structs import replace
from pyspark.sql import SparkSession
from pyspark.sql.types import DataType as SparkType
from pyspark.sql.types import StructType as SparkStruct

from truckee.protocol.column_metadata import PARQUET_FIELD_ID_KEY
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    StructField,
    StructType,
    UserDefinedType,
    parse_schema,
    physical_schema,
)

_INTERNAL_METADATA = ("delta.", PARQUET_FIELD_ID_KEY)
# Spark requires this many integer digits of a decimal that it reads from integers.
_INTEGER_DIGITS = {"byte": 10, "short": 10, "integer": 10, "long": 20}


def to_spark(schema: StructType) -> SparkStruct:
    """Return the schema as PySpark's StructType, field metadata and all."""
    return SparkStruct.fromJson(msgspec.json.decode(schema.to_json()))


def from_spark(schema: SparkStruct) -> StructType:
    """Return PySpark's StructType as our schema."""
    return parse_schema(schema.json())


def to_java(spark: SparkSession, schema: SparkStruct) -> Any:
    """Return the schema as the JVM's StructType."""
    return spark._jsparkSession.parseDataType(schema.json())


def file_schema(schema: StructType, mode: str) -> SparkStruct:
    """Return the schema with which Spark reads the data files of a table.

    Only mode `id` has field ids: Spark matches by id wherever a column has one, but a table that
    was given its mapping later has files without any.
    """
    physical = msgspec.json.decode(physical_schema(_roomy(schema), mode).to_json())
    if mode != "id":
        _keep_metadata(physical, lambda _: False)
    return SparkStruct.fromJson(physical)


def public_schema(schema: StructType) -> SparkStruct:
    """Return the schema that users see: without Delta's own metadata of fields."""
    shown = msgspec.json.decode(schema.to_json())
    _keep_metadata(shown, lambda key: not key.startswith(_INTERNAL_METADATA))
    return SparkStruct.fromJson(shown)


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


def _roomy(schema: StructType) -> StructType:
    """Return the schema with decimals that hold any integer, where integers were widened to them.

    A `decimal(4,1)` column that was a `byte` before has files of either type, and Spark reads
    INT32 only as decimals with ten digits before the point.
    """
    return StructType(tuple(_roomy_field(field) for field in schema.fields))


def _roomy_field(field: StructField) -> StructField:
    return replace(field, type=_roomy_type(field.type, field.type_changes, ()))


def _roomy_type(
    data_type: DataType, changes: Sequence[Mapping[str, str]], inside: tuple[str, ...]
) -> DataType:
    """Return the type of a column, or of what is `inside` its arrays and maps."""
    match data_type:
        case StructType():
            return _roomy(data_type)
        case ArrayType(element_type):
            element = _roomy_type(element_type, changes, (*inside, "element"))
            return replace(data_type, element_type=element)
        case MapType(key_type, value_type):
            key = _roomy_type(key_type, changes, (*inside, "key"))
            value = _roomy_type(value_type, changes, (*inside, "value"))
            return replace(data_type, key_type=key, value_type=value)
        case DecimalType():
            where = ".".join(inside)
            old = [each["fromType"] for each in changes if each.get("fieldPath", "") == where]
            digits = max((_INTEGER_DIGITS.get(name, 0) for name in old), default=0)
            precision = min(38, max(data_type.precision, digits + data_type.scale))
            return replace(data_type, precision=precision)
        case _:
            return data_type


def _keep_metadata(node: Any, keeps: Callable[[str], bool]) -> None:
    if isinstance(node, dict):
        if "metadata" in node:
            kept = {key: value for key, value in node["metadata"].items() if keeps(key)}
            node["metadata"] = kept
        for key, value in node.items():
            if key != "metadata":
                _keep_metadata(value, keeps)
    elif isinstance(node, list):
        for value in node:
            _keep_metadata(value, keeps)
