"""The table that a statement is about, by its name or its path."""

from __future__ import annotations

from pyspark.sql import SparkSession

from truckee.commands.catalog import delta_location
from truckee.spark.session.settings import session_storage
from truckee.sql.statements import TableRef
from truckee.storage.base import Storage


def table_storage(spark: SparkSession, table: TableRef) -> Storage:
    """Return the location of a table; raises TableNotFoundError for an unknown name."""
    if table.path is not None:
        return session_storage(spark, table.path)
    return session_storage(spark, delta_location(spark, str(table)))
