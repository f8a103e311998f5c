"""DELETE: removes the rows for which a condition is true.

| condition                        | what is done                                  | change files |
|----------------------------------|-----------------------------------------------|--------------|
| none, or always true             | every file is removed                         | no           |
| partition columns only           | the files of these partitions are removed     | no           |
| otherwise, if deletion vectors   | rows are marked; files without a row left are | no           |
| are enabled                      | removed                                       |              |
| otherwise                        | files with such rows are rewritten            | with feed on |
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.changes.columns import CHANGE_TYPE
from truckee.commands.dml.assignments import check_condition_type
from truckee.commands.dml.command import run_command
from truckee.commands.dml.file_fates import Fates, check_num_written, fates, write_rows
from truckee.commands.dml.matched_files import num_live, num_touched, touched_files
from truckee.commands.dml.outcome import DmlPlan, RowChanges, no_changes, row_changes, rows_matching
from truckee.commands.dml.settings import DmlSettings, dml_settings
from truckee.commands.removed_files import num_rows
from truckee.deletion_vectors.store import PartFiles, part_files
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.predicates import ALWAYS_TRUE, Predicate
from truckee.spark.dml.expressions import VARIES, Expression, true_only
from truckee.spark.dml.frame_columns import ShownColumns
from truckee.spark.dml.row_bitmaps import FileRows, found_rows, is_in, marked_rows
from truckee.spark.dml.target import Reading, Target
from truckee.spark.jvm.projection import Given, selected
from truckee.spark.local_frames import metrics_frame
from truckee.spark.read.partition_conditions import files_of_partitions
from truckee.spark.session.settings import session_settings
from truckee.spark.write.writer import WrittenFiles
from truckee.storage.base import Storage

_WHAT = "the condition of DELETE"


@dataclass(frozen=True, kw_only=True)
class DeletedRows:
    """The changes that delete rows, and how many rows they delete.

    `num_deleted` is None if whole files are removed and their row counts are unknown.
    """

    changes: RowChanges
    num_deleted: int | None
    condition: Expression | None
    scan_ms: int = 0
    rewrite_ms: int = 0

    @property
    def num_copied(self) -> int:
        """The number of rows that were copied because they shared a file with deleted rows."""
        return sum(files.num_rows for files in self.changes.written)


def delete(
    spark: SparkSession,
    storage: Storage,
    condition: str | Column | None = None,
    *,
    alias: str | None = None,
    shown: ShownColumns | None = None,
) -> DataFrame:
    """Delete the rows for which a condition is true, or all rows without a condition.

    The condition may use columns of the table's DataFrames, which `shown` remembers.

    Returns one row with `num_affected_rows`, which is -1 if it is unknown. If no row matches, there
    is no commit. Raises the errors of `truckee.errors.commands.dml` before anything is written, and
    those of `truckee.errors.transaction` if others changed the same rows meanwhile.
    """
    check_condition_type(condition, what=_WHAT)
    settings = dml_settings("delete", session_settings(spark))
    if shown is not None:
        condition = shown.by_name(spark, condition, alias, what=_WHAT)

    def prepare(snapshot: Snapshot) -> DmlPlan:
        return delete_plan(spark, snapshot, condition, settings=settings, alias=alias)

    done = run_command(spark, storage, "DELETE", prepare, settings)
    return metrics_frame(spark, done, ("num_affected_rows",))


def delete_plan(
    spark: SparkSession,
    snapshot: Snapshot,
    condition: str | Column | None,
    *,
    settings: DmlSettings,
    alias: str | None = None,
) -> DmlPlan:
    """Return a DELETE with all its files written, ready to be committed."""
    start = time.monotonic()
    found = delete_rows(spark, snapshot, condition, settings=settings, alias=alias)
    given = found.condition
    return DmlPlan(
        operation="DELETE",
        parameters={"predicate": [] if given is None else [given.sql]},
        changes=found.changes,
        metrics=_metrics(found, start),
        affected={"num_affected_rows": -1 if found.num_deleted is None else found.num_deleted},
        matching=rows_matching(condition, alias),
    )


def delete_rows(
    spark: SparkSession,
    snapshot: Snapshot,
    condition: str | Column | None,
    *,
    settings: DmlSettings | None = None,
    alias: str | None = None,
) -> DeletedRows:
    """Return the changes that delete the rows a condition is true of; nothing is committed.

    The deletion vectors and files for the commit are written.
    """
    settings = settings or dml_settings("delete", session_settings(spark))
    if condition is None:
        return _whole_files(snapshot, list(snapshot.files()), None, ALWAYS_TRUE)
    target = Target(spark, snapshot, alias)
    found = target.condition(condition, what=_WHAT, allows_exists=settings.allows_exists)
    if found.has_subquery:
        # It is evaluated once: the rows that are found are the ones that go.
        return replace(delete_matched(target, target.rows.where(found.column)), condition=found)
    if found.constant is not VARIES:
        files = list(snapshot.files()) if found.constant is True else []
        return _whole_files(snapshot, files, found, ALWAYS_TRUE)
    if target.is_about_partitions(found):
        files = files_of_partitions(spark, snapshot, condition, alias)
        return _whole_files(snapshot, files, found, target.predicate(found))
    start = time.monotonic()
    with part_files(snapshot.storage) as parts:
        rows = found_rows(target.rows.where(found.column), parts)
        deleted = _by_rows(target, rows, true_only(found.column), settings, start, parts)
    return replace(deleted, condition=found)


def delete_matched(target: Target, matched: DataFrame) -> DeletedRows:
    """Return the changes that delete rows of the target, which `matched` has one or more times."""
    settings = dml_settings("delete", session_settings(target.spark))
    storage = target.snapshot.storage
    start = time.monotonic()
    with part_files(storage) as parts:
        rows = marked_rows(matched, (), parts).rows
        goes = is_in(target.spark, rows, "matched rows", storage.root)
        return _by_rows(target, rows, goes, settings, start, parts)


def _whole_files(
    snapshot: Snapshot, files: list[AddFile], condition: Expression | None, predicate: Predicate
) -> DeletedRows:
    if not files:
        changes = no_changes(snapshot, predicate)
        return DeletedRows(changes=changes, num_deleted=0, condition=condition)
    changes = RowChanges(
        snapshot=snapshot,
        reading=Reading.of(snapshot, predicate, files),
        removed=tuple(files),
    )
    return DeletedRows(changes=changes, num_deleted=num_rows(files), condition=condition)


def _by_rows(
    target: Target,
    found: FileRows,
    goes: Column,
    settings: DmlSettings,
    start: float,
    parts: PartFiles,
) -> DeletedRows:
    """Return the changes that delete the rows that were found, of which `goes` is true."""
    scanned = time.monotonic()
    snapshot = target.snapshot
    touched = touched_files(target, found)
    # Rows marked in a vector cost the feed nothing; a single rewritten file would need change rows
    # for all of them.
    by_cost = not snapshot.properties.enable_change_data_feed
    fate = fates(snapshot, touched, settings, operation="DELETE", rewrites_by_cost=by_cost)
    written = _rewritten(target, fate, goes)
    changes = row_changes(target, touched, fate, written, parts)
    return DeletedRows(
        changes=changes,
        num_deleted=num_touched(touched),
        condition=None,
        scan_ms=int(1000 * (scanned - start)),
        rewrite_ms=int(1000 * (time.monotonic() - scanned)),
    )


def _rewritten(target: Target, fate: Fates, goes: Column) -> tuple[WrittenFiles, ...]:
    """Write the rows that stay and, if the feed is on, the deleted rows as change rows."""
    if not fate.rewritten:
        return ()
    snapshot = target.snapshot
    has_feed = snapshot.properties.enable_change_data_feed
    # If a commit has change files, the feed reads nothing else. So the rows of removed files need
    # change rows too.
    files = [*fate.rewritten, *(fate.removed if has_feed else ())]
    with target.only(file.add for file in files) as rows:
        columns = [target.old_alone(name, name) for name in target.stored_schema.names]
        if has_feed:
            columns.append(Given(F.lit("delete"), CHANGE_TYPE, when=goes))
        else:
            rows = rows.where(~goes)
        rows = selected(rows, columns)
        written = write_rows(target, rows, table=snapshot.configuration)
    live = num_live(fate.rewritten)
    expected = None if live is None else live - num_touched(fate.rewritten)
    check_num_written(written, expected, target, operation="DELETE")
    return (written,)


def _metrics(found: DeletedRows, start: float) -> Callable[[RowChanges], dict[str, object]]:
    def metrics(changes: RowChanges) -> dict[str, object]:
        vectors = changes.vectors
        rows_known = bool(found.num_deleted) or not changes.removed
        return {
            "numRemovedFiles": len(changes.removed),
            "numRemovedBytes": sum(file.size for file in changes.removed),
            "numCopiedRows": found.num_copied if rows_known else None,
            "numDeletedRows": found.num_deleted if rows_known else None,
            "numAddedFiles": len(changes.adds) if rows_known else None,
            "numAddedBytes": sum(add.size for add in changes.adds),
            "numAddedChangeFiles": changes.num_change_files,
            "numDeletionVectorsAdded": vectors.added,
            "numDeletionVectorsRemoved": vectors.removed,
            "numDeletionVectorsUpdated": vectors.updated,
            "executionTimeMs": int(1000 * (time.monotonic() - start)),
            "scanTimeMs": found.scan_ms,
            "rewriteTimeMs": found.rewrite_ms,
        }

    return metrics
