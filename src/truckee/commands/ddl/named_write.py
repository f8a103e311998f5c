"""Writes to tables by name; a new table is created and entered into the catalog."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from pyspark.sql import DataFrame

from truckee.commands.catalog import delta_location, enter_table
from truckee.commands.ddl.create import check_empty
from truckee.commands.table_plan import existing_table
from truckee.commands.write.options import matching_option
from truckee.commands.write.placed_rows import placed_rows
from truckee.commands.write.plan import Write
from truckee.commands.write.write import write_table
from truckee.errors.commands.create import TableAlreadyExistsError
from truckee.errors.commands.write import ColumnCountError
from truckee.log.snapshot import load_snapshot
from truckee.spark.session.catalog import NamedTable, default_location, named_table
from truckee.storage.base import Storage

_REPLACES = "CREATE OR REPLACE TABLE AS SELECT"


def save_as_table(
    df: DataFrame, name: str, write_to: Callable[[str], Write], *, path: str | None = None
) -> None:
    """Write rows to the table of a name; `write_to` makes the write for a location.

    `path` is the location of a new table, None for the catalog's default.
    """
    spark = df.sparkSession
    found = named_table(spark, name)
    if found is None:
        _write_new(df, name, write_to(path or default_location(spark, name)), path)
        return
    write = write_to(delta_location(spark, name))
    if write.mode == "ErrorIfExists":
        raise TableAlreadyExistsError(table=name)
    _write_known(df, write, found)


def _write_new(df: DataFrame, name: str, write: Write, path: str | None) -> None:
    spark = df.sparkSession
    if existing_table(write.storage) is not None:
        # The table exists, but the catalog does not know it: write to it, then enter its name.
        write_table(df, write)
        enter_table(spark, name, write.storage.root)
        return
    if path is None:
        check_empty(write.storage)
    if not _is_partial(write):
        operation = _REPLACES if write.is_overwrite else "CREATE TABLE AS SELECT"
        write = replace(write, operation=operation, is_managed=path is None)
    write_table(df, write)
    enter_table(spark, name, write.storage.root, is_managed=path is None)


def _write_known(df: DataFrame, write: Write, found: NamedTable) -> None:
    if write.is_overwrite and not _is_partial(write):
        write = replace(write, operation=_REPLACES, is_managed=found.is_managed)
    write_table(df, write)


def _is_partial(write: Write) -> bool:
    """Return whether an option says which rows to replace; the history then says WRITE."""
    return write.options.replace_where is not None or matching_option(write.options) is not None


def by_position(df: DataFrame, storage: Storage) -> DataFrame:
    """Return rows that are in the order of a table's columns, with the names of these."""
    schema = load_snapshot(storage).schema
    found = tuple(df.columns)
    if len(schema.names) != len(found):
        raise ColumnCountError(table=storage.root, expected=schema.names, found=found)
    rows = df.toDF(*schema.names)
    return placed_rows(rows, schema, by_place=schema.names != found, keeps_types=True)
