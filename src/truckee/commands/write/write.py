"""Append and overwrite: rows of a DataFrame become rows of a table, in one commit.

    options  ->  schema after the write  ->  checks        ->  data files     ->  commit
                 (write.plan)                (table_plan)      (spark.write)      (log.transaction)

Whatever is wrong with the schema or the options is raised before a file is written.
"""

from __future__ import annotations

from itertools import islice
from typing import Any

import msgspec
from pyspark.sql import DataFrame
from pyspark.sql import functions as sf

from truckee.changes.columns import CHANGE_TYPE
from truckee.commands.after_commit import rows_committed
from truckee.commands.catalog import creation_parameters
from truckee.commands.commit import NewFiles, commit_written, discarding
from truckee.commands.removed_files import file_removals
from truckee.commands.schema.identity_marks import with_identity_marks
from truckee.commands.table_plan import TablePlan, existing_table
from truckee.commands.write.options import WriteOptions, matching_option
from truckee.commands.write.overwrite import Replacement, every_file, files_beside, rows_where
from truckee.commands.write.plan import Write, table_after
from truckee.commands.write.replaced_rows import check_matching, rows_matched
from truckee.errors.commands.write import (
    OverwriteOptionError,
    StreamingFrameError,
    TableExistsError,
)
from truckee.errors.commands.write_rows import ReplaceWhileCreatingError
from truckee.errors.log import NothingToReplaceError
from truckee.log.commit.transaction import Transaction
from truckee.log.running_command import running
from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import RemoveFile
from truckee.spark.dml.merge_source import kept_rows
from truckee.spark.read.frames import CommandReads, one_version
from truckee.spark.schema_conversion import from_spark
from truckee.spark.session.settings import (
    reset_transaction_version,
    session_settings,
)
from truckee.spark.write.condition_checks import check_condition
from truckee.spark.write.constraints import replace_where_rule
from truckee.spark.write.incoming_rows import RowsToWrite, rows_to_write
from truckee.spark.write.writer import WrittenFiles, write_files


def write_table(df: DataFrame, write: Write) -> int | None:
    """Write the rows of `df`, and return the version that has them.

    None means that nothing was written: the table exists and the mode is `ignore`, or the same
    write was committed before, as `txnAppId` and `txnVersion` tell.
    """
    spark = df.sparkSession
    with (
        running(write.operation, write.storage.root),
        one_version(spark) as reads,
    ):
        version = _written(df, write, reads)
        if write.options.resets_version:
            reset_transaction_version(spark)
        return version


def check_write(df: DataFrame, write: Write) -> None:
    """Raise what a write would raise before it runs a query; nothing is written."""
    snapshot = existing_table(write.storage)
    _check_request(df, write, snapshot)
    _table_after(df, write, snapshot).check(write.operation, _sample_removes(write, snapshot))


def _written(df: DataFrame, write: Write, reads: CommandReads) -> int | None:
    snapshot = existing_table(write.storage)
    if snapshot is not None and write.mode == "Ignore":
        return None
    if snapshot is not None:
        reads.start_from(snapshot)
    _check_request(df, write, snapshot)
    if matching_option(write.options) is not None and write.matched_by is None:
        # The data is read twice, and must have the same rows both times.
        df = kept_rows(df)
    table = _table_after(df, write, snapshot)
    transaction = table.transaction()
    if not _is_news(transaction, write.options):
        return None
    table.check(write.operation, _sample_removes(write, snapshot))
    rows = rows_to_write(df, table.schema)

    replaced = _replaced(df, write, snapshot)
    with discarding(replaced):
        written = _write_files(rows, write, table, has_changes=replaced.num_change_files > 0)
        with discarding(written):
            if snapshot is not None and _is_dynamic(write, snapshot):
                replaced = files_beside(df.sparkSession, snapshot, written.adds)
            replaced = replaced.with_data_change(write.options.data_change)
            _stage(transaction, table, written, replaced)
            reads.note(transaction)
    version = commit_written(
        transaction,
        NewFiles((written, replaced)),
        write.operation,
        parameters=_parameters(write, table),
        metrics=_metrics(written, replaced),
        user_metadata=write.options.user_metadata,
    )
    if write.options.data_change:
        rows_committed(df.sparkSession, write.storage, version, table.metadata)
    return version


def _table_after(df: DataFrame, write: Write, snapshot: Snapshot | None) -> TablePlan:
    return table_after(write, from_spark(df.schema), snapshot, session_settings(df.sparkSession))


def _check_request(df: DataFrame, write: Write, snapshot: Snapshot | None) -> None:
    if df.isStreaming:
        raise StreamingFrameError
    if snapshot is not None and write.mode == "ErrorIfExists":
        raise TableExistsError(path=write.storage.root)
    condition, matching = write.options.replace_where, matching_option(write.options)
    option = matching if condition is None else "replaceWhere"
    if option is None:
        return
    # A write that makes a new table has nothing to replace, in whatever mode. An append never has.
    makes_table = condition is not None and write.mode != "Append"
    if not write.is_overwrite and not makes_table:
        raise OverwriteOptionError(option=option, mode=write.mode.lower())
    if matching is not None and write.replaces:
        raise ReplaceWhileCreatingError(option=matching)
    if condition is not None:
        schema = from_spark(df.schema) if snapshot is None else snapshot.schema
        check_condition(df.sparkSession, condition, schema, what="replaceWhere")
    if matching is None:
        return
    if snapshot is None:
        raise NothingToReplaceError(table=write.storage.root, option=matching)
    check_matching(_matched_by(df, write), snapshot, write.options)


def _is_news(transaction: Transaction, options: WriteOptions) -> bool:
    if options.txn_app_id is None or options.txn_version is None:
        return True
    return transaction.set_transaction(options.txn_app_id, options.txn_version)


def _sample_removes(write: Write, snapshot: Snapshot | None) -> list[RemoveFile]:
    """Return the removal of any one file: it stands for all that an overwrite removes."""
    if snapshot is None or not write.is_overwrite:
        return []
    return file_removals(islice(snapshot.files(), 1), data_change=write.options.data_change)


def _is_dynamic(write: Write, snapshot: Snapshot) -> bool:
    return (
        write.is_overwrite and write.options.dynamic_overwrite and bool(snapshot.partition_columns)
    )


def _replaced(df: DataFrame, write: Write, snapshot: Snapshot | None) -> Replacement:
    """Return what the new rows replace, as far as it is known before they are written."""
    if snapshot is None:
        # As in delta-spark, an overwrite of a path looks for files, also where there are none.
        is_plain = write.options.replace_where is None and not write.options.dynamic_overwrite
        looks = write.is_overwrite and write.is_managed is None and is_plain
        return Replacement(predicate=None) if looks else Replacement()
    if not write.is_overwrite or _is_dynamic(write, snapshot):
        return Replacement()
    if write.options.replace_where is not None:
        return rows_where(df.sparkSession, snapshot, write.options.replace_where)
    if matching_option(write.options) is not None:
        return rows_matched(_matched_by(df, write), snapshot, write.options)
    return every_file(snapshot)


def _matched_by(df: DataFrame, write: Write) -> DataFrame:
    return df if write.matched_by is None else write.matched_by


def _write_files(
    rows: RowsToWrite, write: Write, table: TablePlan, *, has_changes: bool
) -> WrittenFiles:
    condition = write.options.replace_where
    checks = condition is not None and write.options.check_replace_where
    df = rows.df
    if has_changes:
        # If a commit has change files, the feed reads nothing else. So if removed rows have change
        # rows, new rows need them too.
        kinds = sf.explode(sf.array(sf.lit(None).cast("string"), sf.lit("insert")))
        df = df.withColumn(CHANGE_TYPE, kinds)
    return write_files(
        df,
        storage=table.storage,
        table=table.configuration,
        options=write.options.files,
        data_change=write.options.data_change,
        rules=[replace_where_rule(condition)] if condition is not None and checks else [],
        computed=rows.computed,
        identities=rows.identities,
    )


def _stage(
    transaction: Transaction, table: TablePlan, written: WrittenFiles, replaced: Replacement
) -> None:
    if written.identity_marks:
        transaction.set_metadata(with_identity_marks(table.metadata, written.identity_marks))
    replaced.note(transaction)
    transaction.stage(*written.adds, *written.changes, *replaced.actions)


def _parameters(write: Write, table: TablePlan) -> dict[str, Any]:
    options = write.options
    if write.is_managed is not None:
        is_v1 = write.is_overwrite and not write.replaces
        overwrites = {"isV1SaveAsTableOverwrite": True, **_allowed(write)} if is_v1 else {}
        return overwrites | creation_parameters(
            table.metadata, cluster_by=write.cluster_by, is_managed=write.is_managed
        )
    return {
        "mode": write.mode,
        "partitionBy": msgspec.json.encode(list(write.partition_by or ())).decode(),
        "predicate": options.replace_where,
        "replaceOnCond": options.replace_on,
        "replaceUsingCols": _listed(options.replace_using),
        **_allowed(write),
    }


def _allowed(write: Write) -> dict[str, Any]:
    options = write.options
    return {
        "isDynamicPartitionOverwrite": True if options.dynamic_overwrite else None,
        "canOverwriteSchema": True if options.overwrite_schema and write.is_overwrite else None,
        "canMergeSchema": True if options.merge_schema else None,
    }


def _listed(names: tuple[str, ...]) -> str | None:
    return f"({','.join(names)})" if names else None


def _metrics(written: WrittenFiles, replaced: Replacement) -> dict[str, object]:
    metrics: dict[str, object] = {
        "numFiles": len(written.adds) + len(replaced.copied),
        "numOutputRows": written.num_rows,
        "numOutputBytes": written.num_bytes + sum(add.size for add in replaced.copied),
    }
    if not replaced.looked_at_table:
        return metrics
    metrics["numRemovedFiles"] = len(replaced.removed)
    metrics["numRemovedBytes"] = sum(file.size for file in replaced.removed)
    if replaced.changes is not None:
        metrics["numAddedChangeFiles"] = replaced.num_change_files + len(written.changes)
        if replaced.num_deleted is not None:
            metrics |= {
                "numDeletedRows": replaced.num_deleted,
                "numCopiedRows": replaced.num_copied,
            }
    return metrics
