"""The source that Spark's catalog has noted for tables by name, in a session without a better one.

Spark looks it up to learn that a table can be read, and asks it nothing else: where the table
lies, and how its rows are read, is for `named_tables` to say.
"""

from __future__ import annotations

from pyspark.sql.datasource import DataSource, DataSourceWriter
from pyspark.sql.types import StructType

from truckee.errors.streaming import NoPathToWriteError

PROVIDER = "truckee"


class NamedSource(DataSource):
    """A source that has a name, and no rows of its own."""

    @classmethod
    def name(cls) -> str:
        """Return the name of the format."""
        return PROVIDER

    def writer(self, schema: StructType, overwrite: bool) -> DataSourceWriter:  # noqa: ARG002
        """Say why rows cannot be written this way."""
        raise NoPathToWriteError
