"""replaceOn and replaceUsing: rows of the table that match one of the data give way to the data."""

from __future__ import annotations

from functools import reduce

from pyspark.sql import Column, DataFrame

from truckee.commands.dml.delete import delete_matched
from truckee.commands.write.options import WriteOptions
from truckee.commands.write.overwrite import Replacement, replacement_of
from truckee.errors.commands.dml import AmbiguousColumnError, UnresolvedColumnError
from truckee.errors.commands.write_rows import (
    ReplaceOnAmbiguousError,
    ReplaceOnUnresolvedError,
    ReplaceUsingColumnError,
)
from truckee.log.snapshot import Snapshot
from truckee.spark.dml.expressions import resolved_condition
from truckee.spark.dml.target import Target
from truckee.spark.jvm.projection import quoted
from truckee.spark.read.relations import FILE, ROW

_HIDDEN = (FILE, ROW)


def check_matching(df: DataFrame, snapshot: Snapshot, options: WriteOptions) -> None:
    """Raise what is wrong with replaceOn or replaceUsing, before any row is read."""
    target = Target(df.sparkSession, snapshot, options.target_alias)
    _condition(df, target, options)


def rows_matched(df: DataFrame, snapshot: Snapshot, options: WriteOptions) -> Replacement:
    """Return the rows that match one or more of the data, as DELETE would take them out."""
    target = Target(df.sparkSession, snapshot, options.target_alias)
    condition = _condition(df, target, options)
    return replacement_of(delete_matched(target, target.rows.join(df, condition, "left_semi")))


def _condition(df: DataFrame, target: Target, options: WriteOptions) -> Column:
    if options.replace_on is None:
        return _equal(df, target, options.replace_using)
    try:
        both = target.rows.join(df)
        return resolved_condition(both, options.replace_on, what="replaceOn", hidden=_HIDDEN).column
    except AmbiguousColumnError as error:
        raise ReplaceOnAmbiguousError(column=error.column, condition=options.replace_on) from None
    except UnresolvedColumnError as error:
        raise ReplaceOnUnresolvedError(column=error.column, condition=options.replace_on) from None


def _equal(df: DataFrame, target: Target, names: tuple[str, ...]) -> Column:
    """Return that columns are equal on both sides; NULL is equal to nothing."""
    _check_there(names, target.schema.names, side="table")
    _check_there(names, tuple(df.columns), side="query")
    pairs = (target.rows[quoted(name)] == df[quoted(name)] for name in names)
    return reduce(Column.__and__, pairs)


def _check_there(names: tuple[str, ...], columns: tuple[str, ...], *, side: str) -> None:
    known = {column.casefold() for column in columns}
    for name in names:
        if name.casefold() not in known:
            raise ReplaceUsingColumnError(column=name, side=side, columns=columns)
