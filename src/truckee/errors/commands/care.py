"""Refused OPTIMIZE, REORG, VACUUM and RESTORE.

Refused OPTIMIZE and REORG; nothing was written.

DeltaError
├── NonPartitionColumnError          a condition on a column that is not a partition column
├── PartitionSubqueryError           a condition with a subquery
├── ZOrderColumnNotFoundError        Z-order by an unknown column
├── ZOrderOnPartitionColumnError     Z-order by a partition column
├── ZOrderWithoutStatisticsError     Z-order by columns without statistics
├── ZOrderOnClusteredTableError      Z-order of a table with clustering columns
├── ConditionOnClusteredTableError   a condition on partitions of a clustered table
└── FullOptimizeNotSupportedError    OPTIMIZE FULL of a table without clustering columns

Refused vacuums; no file was deleted.

DeltaError
├── RetentionTooShortError     files would be deleted that the table promises to keep
├── NegativeRetentionError     a negative retention
├── VacuumLiteError            the log does not reach back far enough for LITE
├── InventoryError             an inventory without the columns it needs
└── ConsumerNotFoundError      a consumer to protect that cannot be found

Refused restores; nothing was written.

DeltaError
├── RestoreVersionError              a version that does not exist, or not any more
├── RestoreTimestampEarlierError     a time before the first restorable version
├── RestoreTimestampGreaterError     a time after the latest version
└── RestoreMissingFilesError         files of the version were deleted by a vacuum
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from truckee.errors.base import DeltaError, has_session_settings
from truckee.errors.log import utc_text


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


RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
_NO_CHECK = "call truckee vacuum with --no-retention-check"


@dataclass(eq=False, kw_only=True)
class RetentionTooShortError(DeltaError):
    """A vacuum was asked to delete files that the table promises to keep."""

    code: ClassVar[str] = "DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT"
    hours: int
    least_hours: int

    def __str__(self) -> str:
        allow = f"set {RETENTION_CHECK} to false" if has_session_settings() else _NO_CHECK
        return (
            f"a retention of {self.hours} hours is shorter than the {self.least_hours} hours for "
            "which the table keeps deleted files; running readers and writers, and time travel, "
            "may need them\n"
            f"hint: retain at least {self.least_hours} hours, or, if nobody uses the table, {allow}"
        )


@dataclass(eq=False, kw_only=True)
class NegativeRetentionError(DeltaError):
    """A retention below zero."""

    code: ClassVar[str] = "DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE"
    hours: int

    def __str__(self) -> str:
        return f"a retention of {self.hours} hours is negative\nhint: pass 0 hours or more"


@dataclass(eq=False, kw_only=True)
class VacuumLiteError(DeltaError):
    """VACUUM LITE needs commits that are gone."""

    code: ClassVar[str] = "DELTA_CANNOT_VACUUM_LITE"
    table: str
    first: int

    def __str__(self) -> str:
        return (
            f"VACUUM LITE of the table {self.table} needs the commits before version {self.first}, "
            "which the log no longer has\nhint: run a full vacuum once"
        )


@dataclass(eq=False, kw_only=True)
class InventoryError(DeltaError):
    """An inventory of files without the columns that a vacuum needs."""

    code: ClassVar[str] = "DELTA_INVALID_INVENTORY_SCHEMA"
    found: str
    expected: str

    def __str__(self) -> str:
        return (
            f"the inventory has the columns {self.found}\n"
            f"hint: it needs the columns {self.expected}, in this order"
        )


@dataclass(eq=False, kw_only=True)
class ConsumerNotFoundError(DeltaError):
    """A consumer whose files a vacuum should keep cannot be found."""

    code: ClassVar[str] = "DELTA_VACUUM_CONSUMER_NOT_FOUND"
    consumer: str
    reason: str

    def __str__(self) -> str:
        return (
            f"the files that {self.consumer} needs cannot be kept: {self.reason}\n"
            "hint: name the checkpoint folder of a stream that reads this table, or a version"
        )


@dataclass(eq=False, kw_only=True)
class RestoreVersionError(DeltaError):
    """The version does not exist, or not any more."""

    code: ClassVar[str] = "DELTA_CANNOT_RESTORE_TABLE_VERSION"
    table: str
    version: int
    earliest: int
    latest: int

    def __str__(self) -> str:
        return (
            f"the table {self.table} cannot be restored to version {self.version}: it has the "
            f"versions {self.earliest} to {self.latest}\nhint: choose one of these"
        )


@dataclass(eq=False, kw_only=True)
class RestoreTimestampEarlierError(DeltaError):
    """The time is before the first version that can be restored."""

    code: ClassVar[str] = "DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER"
    table: str
    timestamp_ms: int
    earliest_ms: int

    def __str__(self) -> str:
        return (
            f"the table {self.table} cannot be restored to {utc_text(self.timestamp_ms)}: its "
            f"earliest version is from {utc_text(self.earliest_ms)}\n"
            "hint: choose that time or a later one"
        )


@dataclass(eq=False, kw_only=True)
class RestoreTimestampGreaterError(DeltaError):
    """The time is after the latest version."""

    code: ClassVar[str] = "DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER"
    table: str
    timestamp_ms: int
    latest_ms: int

    def __str__(self) -> str:
        return (
            f"the table {self.table} cannot be restored to {utc_text(self.timestamp_ms)}: its "
            f"latest version is from {utc_text(self.latest_ms)}\n"
            "hint: choose that time or an earlier one"
        )


@dataclass(eq=False, kw_only=True)
class RestoreMissingFilesError(DeltaError):
    """Files of the version to be restored are gone."""

    code: ClassVar[str] = "DELTA_RESTORE_MISSING_FILES"
    table: str
    version: int
    count: int
    paths: tuple[str, ...]

    def __str__(self) -> str:
        shown = "".join(f"\n  {path}" for path in self.paths)
        setting = (
            "; spark.sql.files.ignoreMissingFiles restores what is left, without the rows of these "
            "files"
        )
        return (
            f"files that version {self.version} of the table {self.table} needs are gone, most "
            f"likely deleted by a vacuum ({self.count} in all):{shown}\n"
            f"hint: restore a later version{setting if has_session_settings() else ''}"
        )
