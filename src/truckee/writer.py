"""truckee.write: Spark's DataFrameWriter, method by method, into Delta tables."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

from pyspark.sql import DataFrame

from truckee.commands.care.auto_compact import enable_auto_compaction
from truckee.commands.catalog import delta_location
from truckee.commands.ddl.named_write import by_position, save_as_table
from truckee.commands.write.options import (
    WRITE_OPTIONS,
    save_mode,
    write_options,
)
from truckee.commands.write.plan import Write
from truckee.commands.write.write import write_table
from truckee.doors.enable import enable_on_first_use
from truckee.errors.commands.create import NoPathGivenError
from truckee.options.arguments import check_format, checked_argument
from truckee.options.text import Options, options_text, warn_of_unknown
from truckee.protocol.property_kinds import parse_column_names
from truckee.spark.session.arguments import PathLike, checked_frame
from truckee.spark.session.settings import session_settings, session_storage

enable_auto_compaction()
enable_on_first_use()


class TableWriter:
    """Writes a DataFrame to a table; made by `truckee.write(df)`."""

    def __init__(self, df: DataFrame) -> None:
        self._df = df
        self._mode = "ErrorIfExists"
        self._options: dict[str, Any] = {}
        self._partition_by: tuple[str, ...] | None = None
        self._cluster_by: tuple[tuple[str, ...], ...] = ()

    def __repr__(self) -> str:
        return f"truckee.write(df).mode({self._mode!r}){options_text(self._options)}"

    def format(self, source: str) -> TableWriter:
        """Take the format's name, for code that names one: delta or truckee."""
        check_format(source)
        return self

    def mode(self, saveMode: str | None) -> TableWriter:
        """Set what to do if the table exists: append, overwrite, ignore, or error (default)."""
        if saveMode is not None:
            self._mode = save_mode(checked_argument(saveMode, str, what="saveMode"))
        return self

    def option(self, key: str, value: Any) -> TableWriter:
        """Set one option, such as `mergeSchema` or `replaceWhere`."""
        self._options[checked_argument(key, str, what="key")] = value
        return self

    def options(self, **options: Any) -> TableWriter:
        """Set several options."""
        self._options.update(options)
        return self

    def partitionBy(self, *cols: str | Iterable[str]) -> TableWriter:
        """Partition a new table by these columns, given one by one or as a list."""
        self._partition_by = tuple(_names(cols))
        return self

    def clusterBy(self, *cols: str | Iterable[str]) -> TableWriter:
        """Record for a new table that it is clustered by these columns."""
        self._cluster_by = tuple(parse_column_names(name)[0] for name in _names(cols))
        return self

    def save(
        self,
        path: PathLike | None = None,
        format: str | None = None,
        mode: str | None = None,
        partitionBy: str | list[str] | None = None,
        **options: Any,
    ) -> None:
        """Write the rows to the table at a path; it is created if it does not exist."""
        check_format(format)
        self._with(mode, partitionBy, options)
        where = path if path is not None else Options(self._options).get("path")
        if where is None:
            raise NoPathGivenError
        write_table(self._df, replace(self._write(where), cuts_off=False))

    def saveAsTable(
        self,
        name: str,
        format: str | None = None,
        mode: str | None = None,
        partitionBy: str | list[str] | None = None,
        **options: Any,
    ) -> None:
        """Write the rows to the table of a name; it is created if it does not exist.

        The location of a new table is the option `path`, else the catalog's default.
        """
        check_format(format)
        self._with(mode, partitionBy, options)
        save_as_table(self._df, name, self._write, path=Options(self._options).get("path"))

    def insertInto(self, tableName: str, overwrite: bool | None = None) -> None:
        """Append the rows to the table of a name, or replace its rows; by column position."""
        if overwrite is not None:
            self._mode = "Overwrite" if overwrite else "Append"
        if self._mode != "Overwrite":
            self._mode = "Append"
        spark = self._df.sparkSession
        location = delta_location(spark, tableName)
        write = self._write(location)
        write_table(by_position(self._df, write.storage), write)

    def _with(
        self, mode: str | None, partition_by: str | list[str] | None, options: dict[str, Any]
    ) -> None:
        self.mode(mode).options(**options)
        if partition_by is not None:
            self.partitionBy(partition_by)

    def _write(self, path: PathLike) -> Write:
        spark = self._df.sparkSession
        text = Options(self._options)
        warn_of_unknown(text, WRITE_OPTIONS, what="a write")
        options = write_options(text, session_settings(spark))
        return Write(
            storage=session_storage(spark, path, options.store),
            mode=self._mode,
            partition_by=self._partition_by,
            cluster_by=self._cluster_by,
            options=options,
        )


def write(df: DataFrame) -> TableWriter:
    """Return a writer of Delta tables, used like `df.write`."""
    return TableWriter(checked_frame(df, what="what is written"))


def _names(given: Iterable[str | Iterable[str]]) -> Iterable[str]:
    for names in given:
        each = [names] if isinstance(names, str) or not isinstance(names, Iterable) else names
        for name in each:
            yield checked_argument(name, str, what="the name of a column")
