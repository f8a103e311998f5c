"""Names of tables in Spark's catalog, and the places that they stand for."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pyspark.sql import SparkSession

from truckee.errors.create import NotATruckeeTableError, TableNotFoundError
from truckee.protocol.actions import Metadata
from truckee.protocol.schema import StructType
from truckee.spark.columns import bare_schema
from truckee.spark.read.named_tables import enable_names
from truckee.spark.session.catalog import (
    DELTA_PROVIDERS,
    drop_table,
    named_table,
    path_in_name,
    register_table,
)
from truckee.spark.types import to_spark


def delta_location(spark: SparkSession, name: str) -> str:
    """Return where the table of a name lies; ``delta.`/data/t` `` lies where it says.

    Raises TableNotFoundError if there is none, and NotATruckeeTableError if it is no Delta table.
    """
    path = path_in_name(spark, name)
    if path is not None:
        return path
    found = named_table(spark, name)
    if found is None:
        raise TableNotFoundError(
            table=name, hint="create it with DeltaTable.create or truckee.write(df).saveAsTable"
        )
    if found.provider not in DELTA_PROVIDERS or found.location is None:
        raise NotATruckeeTableError(table=name, provider=found.provider)
    return found.location


def enter_table(
    spark: SparkSession, name: str, schema: StructType, location: str | None = None
) -> None:
    """Enter a table into the catalog, so that SQL knows it by its name.

    Without a location it lies where the catalog puts it, and is deleted with its name.
    """
    enable_names(spark)
    register_table(spark, name, to_spark(bare_schema(schema)), location=location)


@contextmanager
def entered(
    spark: SparkSession, name: str, schema: StructType, location: str | None
) -> Iterator[None]:
    """Enter a table into the catalog while the body creates it; not if the body fails."""
    if location is not None:
        yield
        enter_table(spark, name, schema, location)
        return
    # The catalog takes a folder of its own only while it is empty.
    enter_table(spark, name, schema)
    try:
        yield
    except BaseException:
        drop_table(spark, name)
        raise


def creation_parameters(
    metadata: Metadata, *, cluster_by: Iterable[tuple[str, ...]], is_managed: bool
) -> dict[str, Any]:
    """Return what commitInfo says of a table that is created or replaced."""
    return {
        "partitionBy": list(metadata.partition_columns),
        "clusterBy": [".".join(path) for path in cluster_by],
        "description": metadata.description,
        "isManaged": "true" if is_managed else "false",
        "properties": metadata.configuration,
    }
