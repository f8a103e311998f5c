"""Refused OPTIMIZE and REORG; nothing was written.

DeltaError
├── NonPartitionColumnError          a condition on a column that is not a partition column
├── PartitionSubqueryError           a condition with a subquery
├── ZOrderColumnNotFoundError        Z-order by an unknown column
├── ZOrderOnPartitionColumnError     Z-order by a partition column
├── ZOrderWithoutStatisticsError     Z-order by columns without statistics
├── ZOrderOnClusteredTableError      Z-order of a table with clustering columns
├── ConditionOnClusteredTableError   a condition on partitions of a clustered table
└── FullOptimizeNotSupportedError    OPTIMIZE FULL of a table without clustering columns
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError


@dataclass(eq=False, kw_only=True)
class NonPartitionColumnError(DeltaError):
    """A condition on partitions uses other columns too."""

    code: ClassVar[str] = "DELTA_NON_PARTITION_COLUMN_REFERENCE"
    condition: str
    columns: tuple[str, ...]
    partition_columns: tuple[str, ...]

    def __str__(self) -> str:
        names = ", ".join(f"'{name}'" for name in self.columns)
        hint = "hint: leave the condition out" if not self.partition_columns else ""
        return (
            f"Predicate references non-partition column {names}. Only the partition columns may "
            f"be referenced: [{', '.join(self.partition_columns)}]\n{hint}"
        ).rstrip()


@dataclass(eq=False, kw_only=True)
class PartitionSubqueryError(DeltaError):
    """A condition on partitions has a subquery."""

    code: ClassVar[str] = "DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES"
    condition: str

    def __str__(self) -> str:
        return (
            f"the condition ({self.condition}) has a subquery, which is not supported here\n"
            "hint: run the query first, and compare with its result"
        )


@dataclass(eq=False, kw_only=True)
class ZOrderColumnNotFoundError(DeltaError):
    """Z-order by a column that the table does not have."""

    code: ClassVar[str] = "DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST"
    column: str
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"cannot Z-order by {self.column}, which is not a column of the table\n"
            f"hint: use one of [{', '.join(self.columns)}]"
        )


@dataclass(eq=False, kw_only=True)
class ZOrderOnPartitionColumnError(DeltaError):
    """Z-order by a partition column, whose value is the same in all rows of a file."""

    code: ClassVar[str] = "DELTA_ZORDERING_ON_PARTITION_COLUMN"
    column: str

    def __str__(self) -> str:
        return (
            f"{self.column} is a partition column. Z-Ordering can only be performed on data "
            "columns\nhint: Z-order by other columns; files are already split by this one"
        )


@dataclass(eq=False, kw_only=True)
class ZOrderWithoutStatisticsError(DeltaError):
    """Z-order by columns without statistics, which would not skip any file."""

    code: ClassVar[str] = "DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS"
    columns: tuple[str, ...]

    def __str__(self) -> str:
        return (
            f"Z-order by [{', '.join(self.columns)}] skips no files, since no minimum and maximum "
            "of these columns is collected\n"
            "hint: name them in the table property delta.dataSkippingStatsColumns, or set "
            "spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled to false"
        )


@dataclass(eq=False, kw_only=True)
class ZOrderOnClusteredTableError(DeltaError):
    """Z-order of a table that has clustering columns."""

    code: ClassVar[str] = "DELTA_CLUSTERING_WITH_ZORDER_BY"
    table: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} is a clustered table, which cannot be Z-ordered\n"
            "hint: use executeCompaction(), which clusters it by its clustering columns"
        )


@dataclass(eq=False, kw_only=True)
class ConditionOnClusteredTableError(DeltaError):
    """OPTIMIZE with a condition on a clustered table, which has no partitions."""

    code: ClassVar[str] = "DELTA_CLUSTERING_WITH_PARTITION_PREDICATE"
    table: str
    condition: str

    def __str__(self) -> str:
        return (
            f"the table {self.table} is a clustered table, so it has no partitions that the "
            f"condition ({self.condition}) could select\nhint: leave the condition out"
        )


@dataclass(eq=False, kw_only=True)
class FullOptimizeNotSupportedError(DeltaError):
    """OPTIMIZE FULL of a table without clustering columns."""

    code: ClassVar[str] = "DELTA_OPTIMIZE_FULL_NOT_SUPPORTED"
    table: str

    def __str__(self) -> str:
        return (
            f"OPTIMIZE FULL reclusters a table, but {self.table} has no clustering columns\n"
            "hint: use executeCompaction() or executeZOrderBy(...)"
        )
