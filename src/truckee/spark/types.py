"""Our type tree as Spark's types, and back."""

from __future__ import annotations

from typing import Any

import msgspec
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType as SparkStruct

from truckee.protocol.schema import StructType, parse_schema


def to_spark(schema: StructType) -> SparkStruct:
    """Return the schema as PySpark's StructType, field metadata and all."""
    return SparkStruct.fromJson(msgspec.json.decode(schema.to_json()))


def from_spark(schema: SparkStruct) -> StructType:
    """Return PySpark's StructType as our schema."""
    return parse_schema(schema.json())


def to_java(spark: SparkSession, schema: SparkStruct) -> Any:
    """Return the schema as the JVM's StructType."""
    return spark._jsparkSession.parseDataType(schema.json())  # type: ignore[attr-defined]
