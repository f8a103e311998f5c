"""UPDATE: gives new values to the rows for which a condition is true.

| condition                                      | what is done                                   |
|------------------------------------------------|------------------------------------------------|
| none, or partition columns only                | the files are rewritten with new values        |
| otherwise, if deletion vectors are enabled     | old rows are marked, and only new rows written |
| otherwise                                      | files with such rows are rewritten             |

If the feed is on, pre- and postimages are written in the same pass in all cases.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.commands.dml.assignments import (
    Assignment,
    assignments,
    check_condition_type,
    check_values,
    new_values,
)
from truckee.commands.dml.command import run_command
from truckee.commands.dml.file_fates import Fates, check_num_written, fates, write_rows
from truckee.commands.dml.matched_files import num_live, num_touched, touched_files
from truckee.commands.dml.outcome import DmlPlan, RowChanges, no_changes, row_changes, rows_matching
from truckee.commands.dml.row_images import NewValues, updated_rows
from truckee.commands.dml.settings import DmlSettings, dml_settings
from truckee.commands.removed_files import num_rows
from truckee.deletion_vectors.store import part_files
from truckee.errors.options import NoAssignmentsError
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.predicates import ALWAYS_TRUE, Predicate
from truckee.spark.dml.expressions import VARIES, Expression, true_only
from truckee.spark.dml.frame_columns import ShownColumns
from truckee.spark.dml.row_bitmaps import found_rows, is_of_files
from truckee.spark.dml.target import Reading, Target
from truckee.spark.local_frames import metrics_frame
from truckee.spark.read.partition_conditions import files_of_partitions
from truckee.spark.read.row_id_columns import check_row_ids
from truckee.spark.session.settings import session_settings
from truckee.spark.write.writer import WrittenFiles
from truckee.storage.base import Storage

_WHAT = "the condition of UPDATE"


@dataclass(frozen=True, kw_only=True)
class _Updated:
    """The changes that update rows, and how many rows they update."""

    changes: RowChanges
    num_updated: int = 0
    num_copied: int = 0
    num_touched_files: int = 0
    scan_ms: int = 0
    rewrite_ms: int = 0


def update(
    spark: SparkSession,
    storage: Storage,
    condition: str | Column | None = None,
    set: Mapping[str, str | Column] | None = None,  # noqa: A002  delta-spark's name
    *,
    alias: str | None = None,
    shown: ShownColumns | None = None,
) -> DataFrame:
    """Give new values to the rows for which a condition is true, or to all rows without one.

    Values are computed from the old row, and cast as by an INSERT. They and the condition may use
    columns of the table's DataFrames, which `shown` remembers. Returns one row with
    `num_affected_rows`. If no row matches, there is no commit. Raises the errors of
    `truckee.errors.commands.dml` before anything is written, those of
    `truckee.errors.commands.write_rows` if new rows break a rule of the table, and those of
    `truckee.errors.transaction` if others changed the same rows meanwhile.
    """
    check_values(set, what="UPDATE")
    check_condition_type(condition, what=_WHAT)
    if not set:
        raise NoAssignmentsError(what="UPDATE")
    values = set
    settings = dml_settings("update", session_settings(spark))
    if shown is not None:
        condition = shown.by_name(spark, condition, alias, what=_WHAT)
        values = {
            name: shown.by_name(spark, value, alias, what=f"the value of {name} in UPDATE")
            for name, value in set.items()
        }

    def prepare(snapshot: Snapshot) -> DmlPlan:
        return update_plan(spark, snapshot, condition, values, settings=settings, alias=alias)

    done = run_command(spark, storage, "UPDATE", prepare, settings)
    return metrics_frame(spark, done, ("num_affected_rows",))


def update_plan(
    spark: SparkSession,
    snapshot: Snapshot,
    condition: str | Column | None,
    given: Mapping[str, str | Column],
    *,
    settings: DmlSettings,
    alias: str | None = None,
) -> DmlPlan:
    """Return an UPDATE with all its files written, ready to be committed."""
    start = time.monotonic()
    check_row_ids(snapshot, "UPDATE")
    target = Target(spark, snapshot, alias)
    values = assignments(
        given,
        snapshot.schema,
        lambda value, what, kind: target.value(value, what=what, stored_as=kind),
        what="UPDATE",
        alias=alias,
    )
    found = None
    if condition is not None:
        found = target.condition(condition, what=_WHAT)
    updated = _updated(target, condition, found, values, settings, alias)
    return DmlPlan(
        operation="UPDATE",
        parameters={"predicate": [] if found is None else [found.sql]},
        changes=updated.changes,
        metrics=_metrics(updated, start),
        affected={"num_affected_rows": updated.num_updated},
        matching=rows_matching(condition, alias),
    )


def _updated(
    target: Target,
    given: str | Column | None,
    condition: Expression | None,
    values: list[Assignment],
    settings: DmlSettings,
    alias: str | None,
) -> _Updated:
    snapshot = target.snapshot
    if given is None or condition is None or condition.constant is not VARIES:
        all_of_them = condition is None or condition.constant is True
        files = list(snapshot.files()) if all_of_them else []
        return _whole_files(target, files, ALWAYS_TRUE, values)
    if target.is_about_partitions(condition):
        files = files_of_partitions(target.spark, snapshot, given, alias)
        return _whole_files(target, files, target.predicate(condition), values)
    return _by_rows(target, condition, values, settings)


def _whole_files(
    target: Target, files: list[AddFile], predicate: Predicate, values: list[Assignment]
) -> _Updated:
    snapshot = target.snapshot
    if not files:
        return _Updated(changes=no_changes(snapshot, predicate))
    start = time.monotonic()
    with target.only(files) as rows:
        written = _write(target, rows, values, F.lit(True))
    check_num_written(written, num_rows(files), target, operation="UPDATE")
    changes = RowChanges(
        snapshot=snapshot,
        reading=Reading.of(snapshot, predicate, files),
        removed=tuple(files),
        written=(written,),
    )
    return _Updated(
        changes=changes,
        num_updated=written.num_rows,
        num_touched_files=len(files),
        rewrite_ms=int(1000 * (time.monotonic() - start)),
    )


def _by_rows(
    target: Target, condition: Expression, values: list[Assignment], settings: DmlSettings
) -> _Updated:
    start = time.monotonic()
    snapshot = target.snapshot
    with part_files(snapshot.storage) as parts:
        touched = touched_files(target, found_rows(target.rows.where(condition.column), parts))
        scanned = time.monotonic()
        fate = fates(snapshot, touched, settings, operation="UPDATE")
        written: tuple[WrittenFiles, ...] = ()
        if touched:
            written = (_write_new_rows(target, condition, values, fate),)
            check_num_written(written[0], _num_expected(fate), target, operation="UPDATE")
        changes = row_changes(target, touched, fate, written, parts)
    num_updated = num_touched(touched)
    return _Updated(
        changes=changes,
        num_updated=num_updated,
        num_copied=sum(files.num_rows for files in written) - num_updated,
        num_touched_files=len(touched),
        scan_ms=int(1000 * (scanned - start)),
        rewrite_ms=int(1000 * (time.monotonic() - scanned)),
    )


def _write_new_rows(
    target: Target, condition: Expression, values: list[Assignment], fate: Fates
) -> WrittenFiles:
    files = [*fate.removed, *fate.rewritten, *fate.marked]
    with target.only(file.add for file in files) as rows:
        if not fate.rewritten:
            return _write(target, rows.where(condition.column), values, F.lit(True))
        is_updated = true_only(condition.column)
        if fate.marked:
            copied = is_of_files(file.id for file in fate.rewritten)
            rows = rows.where(is_updated | copied)
        return _write(target, rows, values, is_updated)


def _write(
    target: Target, rows: DataFrame, values: list[Assignment], is_updated: Column
) -> WrittenFiles:
    snapshot = target.snapshot
    new = updated_rows(
        rows,
        target.stored_schema,
        [NewValues(is_updated, target.with_new_version(new_values(values, target.old)))],
        old=target.old_alone,
        has_feed=snapshot.properties.enable_change_data_feed,
    )
    return write_rows(
        target,
        new,
        table=snapshot.configuration,
        given={value.column.path[0] for value in values},
    )


def _num_expected(fate: Fates) -> int | None:
    """Return how many rows the new files must have; None if it is not known."""
    live = num_live(fate.rewritten)
    return None if live is None else live + num_touched((*fate.removed, *fate.marked))


def _metrics(updated: _Updated, start: float) -> Callable[[RowChanges], dict[str, object]]:
    def metrics(changes: RowChanges) -> dict[str, object]:
        vectors = changes.vectors
        return {
            "numRemovedFiles": updated.num_touched_files,
            "numRemovedBytes": sum(file.size for file in changes.removed),
            "numAddedFiles": len(changes.adds),
            "numAddedBytes": sum(add.size for add in changes.adds),
            "numUpdatedRows": updated.num_updated,
            "numCopiedRows": updated.num_copied,
            "numAddedChangeFiles": changes.num_change_files,
            "numDeletionVectorsAdded": vectors.added,
            "numDeletionVectorsRemoved": vectors.removed,
            "numDeletionVectorsUpdated": vectors.updated,
            "executionTimeMs": int(1000 * (time.monotonic() - start)),
            "scanTimeMs": updated.scan_ms,
            "rewriteTimeMs": updated.rewrite_ms,
        }

    return metrics
