"""The rows that differ between two versions, as a DataFrame."""

from __future__ import annotations

from collections.abc import Sequence

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from truckee.arrow.compare.diff_view import counted_view, diff_order
from truckee.changes.columns import CHANGE_TYPE
from truckee.changes.diff.request import VersionOrTime, requested_diff
from truckee.changes.diff.snapshot_diff import SnapshotDiff
from truckee.report.diff_page import MOST_ROWS_SHOWN, DiffView, diff_fragment
from truckee.rows.diff import diff_rows
from truckee.spark.jvm.projection import column
from truckee.spark.read.engine import plan_frame
from truckee.spark.session.settings import session_zone
from truckee.storage.base import Storage

_LITTLE_BYTES = 16 << 20
_TYPES_IN_ORDER = ("delete", "update_preimage", "update_postimage", "insert")


class DiffFrame(ClassicDataFrame):
    """A DataFrame that a notebook shows as a page: counts, rows, and differences in metadata.

    Showing it runs two queries, one of which counts.
    """

    plan: SnapshotDiff

    def _repr_html_(self) -> str | None:
        return diff_fragment(self.plan, diff_frame_view(self, self.plan))


def diff_frame(
    spark: SparkSession,
    storage: Storage,
    versions: tuple[VersionOrTime | None, VersionOrTime | None],
    keys: Sequence[str] | None,
    other: Storage | None,
) -> DataFrame:
    """Return the rows that differ between two versions; see `requested_diff`."""
    zone = session_zone(spark)
    plan = requested_diff(storage, *versions, keys, other=other, time_zone=zone)
    return snapshot_diff_frame(spark, plan)


def snapshot_diff_frame(spark: SparkSession, plan: SnapshotDiff) -> DataFrame:
    """Return the rows that differ: the columns of the diff, and `_change_type`."""
    frame = plan_frame(spark, diff_rows(plan))
    shown = DiffFrame(frame._jdf, spark)
    shown.plan = plan
    return shown


def diff_frame_view(
    frame: DataFrame, plan: SnapshotDiff, *, most: int = MOST_ROWS_SHOWN
) -> DiffView:
    """Return what a page shows of a diff that Spark reads; only the rows shown are collected."""
    partitions = [name for name in plan.after.partition_columns if name in frame.columns]
    by = [CHANGE_TYPE, *partitions]
    counts = frame.groupBy(*map(column, by)).count().toArrow()
    rows = in_diff_order(frame, plan).limit(most).toArrow()
    return counted_view(plan, rows, counts, most=most)


def in_diff_order(frame: DataFrame, plan: SnapshotDiff) -> DataFrame:
    """Return rows of a diff by its keys, or by the first column, and then by type."""
    rank = F.array_position(F.array(*map(F.lit, _TYPES_IN_ORDER)), column(CHANGE_TYPE))
    order = [column(name) for name in diff_order(plan) if _has_order(frame, name)]
    return frame.orderBy(*order, rank)


def _has_order(frame: DataFrame, name: str) -> bool:
    kind = frame.schema[name].dataType.typeName()
    return kind not in ("map", "variant", "void")
