"""DeltaOptimizeBuilder: what `DeltaTable.optimize()` returns, with delta-spark's names."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from pyspark.sql import DataFrame, SparkSession

from truckee.commands.care.optimize import optimize, purge
from truckee.errors.options import ArgumentTypeError
from truckee.options.arguments import type_name
from truckee.storage.base import Storage

_COLUMNS = "the columns of executeZOrderBy"


@dataclass(frozen=True)
class DeltaOptimizeBuilder:
    """Chooses partitions, and then how their files are rewritten."""

    _spark: SparkSession
    _storage: Storage
    _where: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"DeltaOptimizeBuilder({self._storage.root!r}, where={list(self._where)!r})"

    def where(self, partitionFilter: str) -> DeltaOptimizeBuilder:
        """Choose the partitions for which a condition is true; several conditions are combined."""
        if not isinstance(partitionFilter, str):
            raise ArgumentTypeError(
                what="the condition of OPTIMIZE", needs="be text", found=type_name(partitionFilter)
            )
        return DeltaOptimizeBuilder(self._spark, self._storage, (*self._where, partitionFilter))

    def executeCompaction(self) -> DataFrame:
        """Combine small files into larger ones; a clustered table is clustered."""
        return optimize(self._spark, self._storage, where=self._where)

    def executeZOrderBy(self, *cols: str | list[str] | tuple[str, ...]) -> DataFrame:
        """Rewrite all files so that rows with similar values in all these columns are together."""
        return optimize(self._spark, self._storage, where=self._where, zorder_by=_names(cols))

    def executeFull(self) -> DataFrame:
        """Cluster a clustered table, including files that are clustered by other columns.

        This is `OPTIMIZE table FULL`, for which delta-spark has no method.
        """
        return optimize(self._spark, self._storage, where=self._where, full=True)

    def purge(self) -> DataFrame:
        """Rewrite the files with deleted rows or dropped columns, without these.

        This is `REORG TABLE table APPLY (PURGE)`, for which delta-spark has no method.
        """
        return purge(self._spark, self._storage, where=self._where)


def _names(cols: Iterable[str | list[str] | tuple[str, ...]]) -> tuple[str, ...]:
    given = tuple(cols)
    if len(given) == 1 and isinstance(given[0], list | tuple):
        given = tuple(given[0])
    if not given:
        raise ArgumentTypeError(what=_COLUMNS, needs="be one or more names", found="none")
    for name in given:
        if not isinstance(name, str):
            raise ArgumentTypeError(what=_COLUMNS, needs="be text", found=type_name(name))
    return tuple(str(name) for name in given)
