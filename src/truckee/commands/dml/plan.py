"""A command whose files are written, but which is not committed yet."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import Column, DataFrame

from truckee.commands.dml.outcome import RowChanges
from truckee.protocol.actions import Metadata


@dataclass(frozen=True, kw_only=True)
class DmlPlan:
    """A DELETE, UPDATE or MERGE that is ready to be committed.

    `affected` are the numbers for the caller, `metrics` those for the commit. `matching` filters
    any rows of the table for those that the command's outcome depends on. `metadata` is that of the
    table after the commit, None if it does not change.
    """

    operation: str
    parameters: Mapping[str, Any]
    changes: RowChanges
    metrics: Callable[[RowChanges], Mapping[str, object]]
    affected: Mapping[str, int]
    matching: Callable[[DataFrame], DataFrame]
    metadata: Metadata | None = None


def rows_matching(
    condition: str | Column | None, alias: str | None
) -> Callable[[DataFrame], DataFrame]:
    """Return a function that filters rows of a table for those a condition is true of."""

    def matching(rows: DataFrame) -> DataFrame:
        named = rows if alias is None else rows.alias(alias)
        return named if condition is None else named.where(condition)

    return matching
