"""Names of tables in Spark's catalog, and their locations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import msgspec
from pyspark.sql import SparkSession

from truckee.errors.commands.create import (
    NotATruckeeTableError,
    TableNotFoundError,
    ViewNamedError,
)
from truckee.errors.log import NotADeltaTableError
from truckee.protocol.actions import Metadata
from truckee.spark.session.catalog import (
    DELTA_PROVIDERS,
    is_temporary_view,
    named_table,
    path_in_name,
    register_table,
    table_name_parts,
)

# Delta writes down that a table has no description.
_NULL = msgspec.Raw(b"null")


def delta_location(spark: SparkSession, name: str) -> str:
    """Return the location of the table of a name; for ``delta.`/data/t` `` it is that path.

    Raises TableNotFoundError if there is none, ViewNamedError if it is a view, and
    NotATruckeeTableError if it is another table that is not a Delta table.
    """
    path = path_in_name(spark, name)
    if path is not None:
        return path
    found = named_table(spark, name)
    if found is None:
        if is_temporary_view(spark, name):
            raise ViewNamedError(table=name)
        raise TableNotFoundError(table=name, hint=_hint(table_name_parts(spark, name)))
    if found.is_view:
        raise ViewNamedError(table=name)
    if found.provider not in DELTA_PROVIDERS or found.location is None:
        raise NotATruckeeTableError(table=name, provider=found.provider)
    return found.location


def _hint(parts: Sequence[str]) -> str:
    if len(parts) == 2 and parts[0].lower() in DELTA_PROVIDERS:
        return f"a path in SQL has a slash, as in delta.`./{parts[1]}` or delta.`/data/orders`"
    return "SHOW TABLES lists the names; a path is written as delta.`/data/orders`"


def location_of_table(spark: SparkSession, name: str) -> str:
    """Return the location of the table of a name; NotADeltaTableError unless it is one."""
    try:
        return delta_location(spark, name)
    except TableNotFoundError:
        found = "the catalog has no such name"
        hint = "SHOW TABLES lists the names; DeltaTable.forPath opens a table by its path"
    except ViewNamedError:
        found, hint = "it is a view", "name the table that it reads"
    except NotATruckeeTableError as error:
        found = f"it is a {error.provider} table"
        hint = "name a table that was created USING delta"
        if error.provider == "parquet":
            hint += ", or make it one with CONVERT TO DELTA"
    raise NotADeltaTableError(table=name, found=found, hint=hint)


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
