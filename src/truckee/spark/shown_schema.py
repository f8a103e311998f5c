"""A schema as users of Spark see it."""

from __future__ import annotations

from pyspark.sql.types import StructField, StructType

from truckee.protocol.schema import StructType as TableSchema
from truckee.spark.types import to_spark

_INTERNAL_METADATA = ("delta.", "parquet.field.id")


def shown_schema(schema: TableSchema) -> StructType:
    """Return the columns without what only readers of data files need to know of them."""
    return StructType([_shown(field) for field in to_spark(schema).fields])


def _shown(field: StructField) -> StructField:
    metadata = {
        key: value
        for key, value in (field.metadata or {}).items()
        if not key.startswith(_INTERNAL_METADATA)
    }
    return StructField(field.name, field.dataType, field.nullable, metadata)
