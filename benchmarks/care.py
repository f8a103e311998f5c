"""Compaction, Z-order, purge, vacuum and restore of one table, by every engine that can.

Every run has a table of its own: hard links to one that is never changed, under a new name, made
outside the clock. An engine answers with how many files it has rewritten.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.dml import copy_table
from benchmarks.dml import path_of as path_of


def reset(context: Any, params: dict[str, Any]) -> None:
    """Give the engine an unchanged table, under a name that no cache knows."""
    copy_table(context, Path(params["table"]))


def compact_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee import DeltaTable

    table = DeltaTable.forPath(context.spark, path_of(context))
    return int(table.optimize().executeCompaction().collect()[0].metrics.numFilesRemoved)


def compact_delta_spark(context: Any, params: dict[str, Any]) -> int:
    done = context.spark.sql(f"OPTIMIZE delta.`{path_of(context)}`").collect()
    return int(done[0].metrics.numFilesRemoved)


def compact_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable

    return int(DeltaTable(path_of(context)).optimize.compact()["numFilesRemoved"])


def zorder_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee import DeltaTable

    context.spark.conf.set(_MAX_FILE_SIZE, str(params["file_size"]))
    table = DeltaTable.forPath(context.spark, path_of(context))
    return int(table.optimize().executeZOrderBy("a", "b").collect()[0].metrics.numFilesRemoved)


def zorder_delta_spark(context: Any, params: dict[str, Any]) -> int:
    context.spark.conf.set(_MAX_FILE_SIZE, str(params["file_size"]))
    text = f"OPTIMIZE delta.`{path_of(context)}` ZORDER BY (a, b)"
    return int(context.spark.sql(text).collect()[0].metrics.numFilesRemoved)


def zorder_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable

    done = DeltaTable(path_of(context)).optimize.z_order(
        ["a", "b"], target_size=params["file_size"]
    )
    return int(done["numFilesRemoved"])


_MAX_FILE_SIZE = "spark.databricks.delta.optimize.maxFileSize"


def purge_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee import DeltaTable

    table = DeltaTable.forPath(context.spark, path_of(context))
    return int(table.optimize().purge().collect()[0].metrics.numFilesRemoved)


def purge_delta_spark(context: Any, params: dict[str, Any]) -> int:
    done = context.spark.sql(f"REORG TABLE delta.`{path_of(context)}` APPLY (PURGE)").collect()
    return int(done[0].metrics.numFilesRemoved)


_RETENTION_CHECK = "spark.databricks.delta.retentionDurationCheck.enabled"


def vacuum_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee import DeltaTable

    context.spark.conf.set(_RETENTION_CHECK, "false")
    DeltaTable.forPath(context.spark, path_of(context)).vacuum(0)
    return _files_left(context)


def vacuum_delta_spark(context: Any, params: dict[str, Any]) -> int:
    context.spark.conf.set(_RETENTION_CHECK, "false")
    context.spark.sql(f"VACUUM delta.`{path_of(context)}` RETAIN 0 HOURS").collect()
    return _files_left(context)


def vacuum_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable

    DeltaTable(path_of(context)).vacuum(0, dry_run=False, enforce_retention_duration=False)
    return _files_left(context)


def _files_left(context: Any) -> int:
    return sum(1 for _ in Path(path_of(context)).glob("*.parquet"))


def restore_truckee(context: Any, params: dict[str, Any]) -> int:
    from truckee import DeltaTable

    done = DeltaTable.forPath(context.spark, path_of(context)).restoreToVersion(0).collect()
    return int(done[0].num_restored_files)


def restore_delta_spark(context: Any, params: dict[str, Any]) -> int:
    text = f"RESTORE TABLE delta.`{path_of(context)}` TO VERSION AS OF 0"
    return int(context.spark.sql(text).collect()[0].num_restored_files)


def restore_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable

    return int(DeltaTable(path_of(context)).restore(0)["numRestoredFile"])
