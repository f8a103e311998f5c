"""The rows that differ between two versions, as a DataFrame.

    files of only one version, rows that vectors add or remove -> one scan -> one aggregation

Rows that cannot have a copy on the other side are not aggregated.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache, reduce

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.classic.dataframe import DataFrame as ClassicDataFrame

from truckee.arrow.compare.diff_view import counted_view, diff_order
from truckee.changes.columns import CHANGE_TYPE, CHANGE_TYPE_FIELD, DELETE, INSERT
from truckee.changes.diff.columns import BASE_ROW_ID
from truckee.changes.diff.missing_files import missing_diff_files
from truckee.changes.diff.request import VersionOrTime, requested_diff
from truckee.changes.diff.snapshot_diff import DiffRead, SnapshotDiff
from truckee.changes.row_identity import ROW_ID
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.report.diff_page import MOST_ROWS_SHOWN, DiffView, diff_fragment
from truckee.scan.pruning import pruned_scan_files
from truckee.scan.scan_file import ScanFile
from truckee.spark.jvm.projection import Given, Named, column, selected
from truckee.spark.read.relations import ROW, scan_frame
from truckee.spark.read.row_pairing import is_after, paired_rows, uncancelled_rows
from truckee.spark.read.scan import Scan
from truckee.spark.schema_conversion import public_schema
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
    frame = _differing_rows(spark, plan)
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


def _differing_rows(spark: SparkSession, plan: SnapshotDiff) -> DataFrame:
    names = [Named(name) for name in (*plan.schema.names, CHANGE_TYPE)]
    frames = [selected(_read(spark, plan, read), names) for read in plan.alone]
    if plan.compared:
        frames.append(_compared(spark, plan))
    if not frames:
        shown = public_schema(StructType((*plan.schema.fields, CHANGE_TYPE_FIELD)))
        return spark.createDataFrame([], shown)
    return reduce(DataFrame.unionAll, frames)


def _compared(spark: SparkSession, plan: SnapshotDiff) -> DataFrame:
    size = sum(file.size for read in plan.compared for file in read.files)
    is_little = size <= _LITTLE_BYTES
    frames = [_read(spark, plan, read, whole_files=is_little) for read in plan.compared]
    rows = reduce(DataFrame.unionByName, frames)
    if is_little:
        # One task compares its own rows: no shuffle is planned, scheduled or written.
        rows = rows.coalesce(1)
    columns = plan.schema.names
    if plan.has_row_ids:
        return _compared_by_ids(rows, plan)
    if not plan.keys:
        return uncancelled_rows(rows, columns)
    if plan.is_recorded:
        # A feed may have a row many times; only its first and last image count.
        rows = uncancelled_rows(rows, columns)
    return paired_rows(rows, columns, identity=plan.keys, where=plan.sides)


def _compared_by_ids(rows: DataFrame, plan: SnapshotDiff) -> DataFrame:
    """Return rows paired by id; rows without a partner are compared by all columns.

    A row that was deleted and inserted again has a different id.
    """
    columns = plan.schema.names
    paired = paired_rows(rows, columns, identity=[ROW_ID], where=plan.sides)
    kind = column(CHANGE_TYPE)
    single = kind.isin(INSERT, DELETE)
    # One pass over the pairs separates the two images of updates, and all other rows.
    group = "__truckee_image"
    marked = paired.withColumn(group, F.when(single, F.lit("")).otherwise(kind))
    summed = uncancelled_rows(marked, columns, within=[group])
    shown = F.when(column(group) == "", kind).otherwise(column(group))
    return selected(summed, [*map(Named, columns), Given(shown, CHANGE_TYPE)])


def _read(
    spark: SparkSession, plan: SnapshotDiff, read: DiffRead, *, whole_files: bool = False
) -> DataFrame:
    """Return the rows of a read, with their change type and, where rows have ids, these."""
    frame = scan_frame(spark, _scan(plan, read), row_ids=plan.has_row_ids, whole_files=whole_files)
    if plan.is_reversed:
        opposite = F.when(is_after(), DELETE).otherwise(INSERT)
        frame = frame.withColumn(CHANGE_TYPE, opposite)
    if not plan.has_row_ids:
        return frame
    assert read.columns.row_id is not None
    counted = column(BASE_ROW_ID) + column(ROW)
    row_id = Given(F.coalesce(column(read.columns.row_id), counted), ROW_ID)
    return selected(frame, [*map(Named, (*plan.schema.names, CHANGE_TYPE)), row_id])


def _scan(plan: SnapshotDiff, read: DiffRead) -> Scan:
    files = read.files
    return Scan(
        storage=read.storage,
        version=read.version,
        table=read.columns.of(plan.after.configuration),
        files=pruned_files(read, plan.after.configuration),
        num_files=len(files),
        size_in_bytes=sum({file.path: file.size for file in files}.values()),
        num_vectors=len({file.path for file in files if not file.rows.is_all}),
        is_feed=True,
        label=f"diff of versions {plan.before.version} and {plan.after.version}",
        missing_file_error=lambda: missing_diff_files(plan),
    )


def pruned_files(
    read: DiffRead, table: TableConfiguration
) -> Callable[[Predicate, str | None], Sequence[ScanFile]]:
    """Return the files of a read that may have rows for which a predicate is true."""
    configuration = read.columns.of(table)

    @lru_cache(maxsize=8)
    def files(predicate: Predicate) -> Sequence[ScanFile]:
        return pruned_scan_files(read.files, configuration, predicate)

    return lambda predicate, _: files(predicate)
