"""Names of tables, and the places that they stand for."""

from __future__ import annotations

from pyspark.sql import SparkSession

from truckee.errors.create import NotATruckeeTableError, TableNotFoundError
from truckee.spark.catalog import DELTA_PROVIDERS, named_table


def delta_location(spark: SparkSession, name: str) -> str:
    """Return where the table of a name lies.

    Raises TableNotFoundError if there is none, and NotATruckeeTableError if it is no Delta table.
    """
    found = named_table(spark, name)
    if found is None:
        raise TableNotFoundError(
            table=name, hint="create it with DeltaTable.create or truckee.write(df).saveAsTable"
        )
    if found.provider not in DELTA_PROVIDERS or found.location is None:
        raise NotATruckeeTableError(table=name, provider=found.provider)
    return found.location
