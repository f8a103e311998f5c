"""Refused OPTIMIZE, REORG, VACUUM and RESTORE.

Refused OPTIMIZE and REORG; nothing was written.

Refused vacuums; no file was deleted.

Refused restores; nothing was written.
"""

from __future__ import annotations

from truckee.errors.base import DeltaError, has_session_settings


class NonPartitionColumnError(
    DeltaError,
    code="DELTA_NON_PARTITION_COLUMN_REFERENCE",
    state="42P10",
    spark="AnalysisException",
):
    """A condition on partitions uses other columns too."""

    condition: str
    columns: tuple[str, ...]
    partition_columns: tuple[str, ...]

    def sentence(self) -> str:
        names = ", ".join(f"'{name}'" for name in self.columns)
        hint = "hint: leave the condition out" if not self.partition_columns else ""
        return (
            f"Predicate references non-partition column {names}. Only the partition columns may "
            f"be referenced: [{', '.join(self.partition_columns)}]\n{hint}"
        ).rstrip()


class PartitionSubqueryError(
    DeltaError,
    code="DELTA_UNSUPPORTED_SUBQUERY_IN_PARTITION_PREDICATES",
    state="0AKDC",
    spark="AnalysisException",
):
    """A condition on partitions has a subquery."""

    condition: str
    text = "the condition ({condition}) has a subquery, which is not supported here"
    hint = "run the query first, and compare with its result"


class ZOrderColumnNotFoundError(
    DeltaError,
    code="DELTA_ZORDERING_COLUMN_DOES_NOT_EXIST",
    state="42703",
    spark="IllegalArgumentException",
):
    """Z-order by a column that the table does not have."""

    column: str
    columns: tuple[str, ...]
    text = "cannot Z-order by {column}, which is not a column of the table"
    hint = "use one of [{columns}]"


class ZOrderOnPartitionColumnError(
    DeltaError,
    code="DELTA_ZORDERING_ON_PARTITION_COLUMN",
    state="42P10",
    spark="IllegalArgumentException",
):
    """Z-order by a partition column, whose value is the same in all rows of a file."""

    column: str
    text = "{column} is a partition column. Z-Ordering can only be performed on data columns"
    hint = "Z-order by other columns; files are already split by this one"


class ZOrderWithoutStatisticsError(
    DeltaError,
    code="DELTA_ZORDERING_ON_COLUMN_WITHOUT_STATS",
    state="KD00D",
    spark="AnalysisException",
):
    """Z-order by columns without statistics, which would not skip any file."""

    columns: tuple[str, ...]
    text = (
        "Z-order by [{columns}] skips no files, since no minimum and maximum of these columns is "
        "collected"
    )
    hint = (
        "name them in the table property delta.dataSkippingStatsColumns, or set "
        "spark.databricks.delta.optimize.zorder.checkStatsCollection.enabled to false"
    )


class ZOrderOnClusteredTableError(
    DeltaError, code="DELTA_CLUSTERING_WITH_ZORDER_BY", state="42613", spark="AnalysisException"
):
    """Z-order of a table that has clustering columns."""

    table: str
    text = "the table {table} is a clustered table, which cannot be Z-ordered"
    hint = "use executeCompaction(), which clusters it by its clustering columns"


class ConditionOnClusteredTableError(
    DeltaError,
    code="DELTA_CLUSTERING_WITH_PARTITION_PREDICATE",
    state="0A000",
    spark="UnsupportedOperationException",
):
    """OPTIMIZE with a condition on a clustered table, which has no partitions."""

    table: str
    condition: str
    text = (
        "the table {table} is a clustered table, so it has no partitions that the condition "
        "({condition}) could select"
    )
    hint = "leave the condition out"


class FullOptimizeNotSupportedError(
    DeltaError,
    code="DELTA_OPTIMIZE_FULL_NOT_SUPPORTED",
    state="42601",
    spark="UnsupportedOperationException",
):
    """OPTIMIZE FULL of a table without clustering columns."""

    table: str
    text = "OPTIMIZE FULL reclusters a table, but {table} has no clustering columns"
    hint = "use executeCompaction() or executeZOrderBy(...)"


RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"
_NO_CHECK = "call truckee vacuum with --no-retention-check"


class RetentionTooShortError(
    DeltaError,
    code="DELTA_VACUUM_RETENTION_PERIOD_TOO_SHORT",
    state="22003",
    spark="IllegalArgumentException",
):
    """A vacuum was asked to delete files that the table promises to keep."""

    hours: int
    least_hours: int
    text = (
        "a retention of {hours} hours is shorter than the {least_hours} hours for which the table "
        "keeps deleted files; running readers and writers, and time travel, may need them"
    )
    hint = "retain at least {least_hours} hours, or, if nobody uses the table, {allow}"

    @property
    def allow(self) -> str:
        """What lets a vacuum delete such files."""
        return f"set {RETENTION_CHECK} to false" if has_session_settings() else _NO_CHECK


class NegativeRetentionError(
    DeltaError,
    code="DELTA_VACUUM_RETENTION_PERIOD_NEGATIVE",
    state="22003",
    spark="IllegalArgumentException",
):
    """A retention below zero."""

    hours: int
    text = "a retention of {hours} hours is negative"
    hint = "pass 0 hours or more"


class VacuumLiteError(DeltaError, code="DELTA_CANNOT_VACUUM_LITE", state="55000"):
    """VACUUM LITE needs commits that are gone."""

    table: str
    first: int
    text = (
        "VACUUM LITE of the table {table} needs the commits before version {first}, which the log "
        "no longer has"
    )
    hint = "run a full vacuum once"


class InventoryError(
    DeltaError, code="DELTA_INVALID_INVENTORY_SCHEMA", state="42000", spark="AnalysisException"
):
    """An inventory of files without the columns that a vacuum needs."""

    found: str
    expected: str
    text = "the inventory has the columns {found}"
    hint = "it needs the columns {expected}, in this order"


class ConsumerNotFoundError(DeltaError, code="DELTA_VACUUM_CONSUMER_NOT_FOUND", state="22023"):
    """A consumer whose files a vacuum should keep cannot be found."""

    consumer: str
    reason: str
    text = "the files that {consumer} needs cannot be kept: {reason}"
    hint = "name the checkpoint folder of a stream that reads this table, or a version"


class RestoreVersionError(
    DeltaError, code="DELTA_CANNOT_RESTORE_TABLE_VERSION", state="22003", spark="AnalysisException"
):
    """The version does not exist, or not any more."""

    table: str
    version: int
    earliest: int
    latest: int
    text = (
        "the table {table} cannot be restored to version {version}: it has the versions {earliest} "
        "to {latest}"
    )
    hint = "choose one of these"


class RestoreTimestampEarlierError(
    DeltaError,
    code="DELTA_CANNOT_RESTORE_TIMESTAMP_EARLIER",
    state="22003",
    spark="AnalysisException",
):
    """The time is before the first version that can be restored."""

    table: str
    timestamp_ms: int
    earliest_ms: int
    text = (
        "the table {table} cannot be restored to {timestamp_ms!t}: its earliest version is from "
        "{earliest_ms!t}"
    )
    hint = "choose that time or a later one"


class RestoreTimestampGreaterError(
    DeltaError,
    code="DELTA_CANNOT_RESTORE_TIMESTAMP_GREATER",
    state="22003",
    spark="AnalysisException",
):
    """The time is after the latest version."""

    table: str
    timestamp_ms: int
    latest_ms: int
    text = (
        "the table {table} cannot be restored to {timestamp_ms!t}: its latest version is from "
        "{latest_ms!t}"
    )
    hint = "choose that time or an earlier one"


class RestoreMissingFilesError(DeltaError, code="DELTA_RESTORE_MISSING_FILES", state="42K03"):
    """Files of the version to be restored are gone."""

    table: str
    version: int
    count: int
    paths: tuple[str, ...]

    def sentence(self) -> str:
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
