"""Names of tables in Spark's catalog, and their locations."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from truckee.errors.commands.create import NotATruckeeTableError, TableNotFoundError
from truckee.protocol.actions import Metadata
from truckee.spark.session.catalog import (
    DELTA_PROVIDERS,
    named_table,
    path_in_name,
    register_table,
)

# Delta writes down that a table has no description.
_NULL = msgspec.Raw(b"null")


def delta_location(spark: SparkSession, name: str) -> str:
    """Return the location of the table of a name; for ``delta.`/data/t` `` it is that path.

    Raises TableNotFoundError if there is none, and NotATruckeeTableError if it is not a Delta
    table.
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


_ready: list[Callable[[SparkSession], object]] = []


def before_names(prepare: Callable[[SparkSession], object]) -> None:
    """Register a function that prepares a session before its first table is entered."""
    if prepare not in _ready:
        _ready.append(prepare)


def enter_table(
    spark: SparkSession,
    name: str,
    location: str,
    *,
    is_managed: bool = False,
    comment: str | None = None,
) -> None:
    """Enter a table into the catalog, so that SQL knows it by its name.

    A managed table is deleted with its name.
    """
    for prepare in _ready:
        prepare(spark)
    register_table(spark, name, location, is_managed=is_managed, comment=comment)


def creation_parameters(
    metadata: Metadata, *, cluster_by: Iterable[tuple[str, ...]], is_managed: bool
) -> dict[str, Any]:
    """Return what commitInfo says of a table that is created or replaced."""
    return {
        "partitionBy": list(metadata.partition_columns),
        "clusterBy": [".".join(path) for path in cluster_by],
        "description": _NULL if metadata.description is None else metadata.description,
        "isManaged": "true" if is_managed else "false",
        "properties": metadata.configuration,
    }
