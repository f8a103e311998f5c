"""Auto compaction: a write that leaves many small files behind is followed by an OPTIMIZE.

Only partitions to which the write added files are compacted, and only if they now have
`minNumFiles` small files. These are counted in the log, so it does not matter who wrote them.

| setting of the session, after `spark.databricks.delta.`        | default           |
|----------------------------------------------------------------|-------------------|
| `autoCompact.enabled`                                          | the table's       |
| `autoCompact.maxFileSize`                                      | 128 MiB           |
| `autoCompact.minFileSize`                                      | half of that      |
| `autoCompact.minNumFiles`                                      | 50                |
| `autoCompact.maxNumModifiedPartitions`                         | 128               |
"""

from __future__ import annotations

import logging
from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql import SparkSession

from truckee.care.bins import PartitionKey, by_partition, is_candidate, partition_of
from truckee.commands.after_commit import add_follow_up
from truckee.commands.care.optimize import run_optimize
from truckee.commands.care.optimize_plan import OptimizeRequest, partition_fields
from truckee.commands.care.optimize_settings import DELTA_SETTINGS, OptimizeSettings, size_setting
from truckee.log.files.commits import read_commit
from truckee.log.snapshot import load_snapshot
from truckee.options.text import Options
from truckee.protocol.actions import Metadata
from truckee.protocol.properties import TableProperties
from truckee.spark.session.settings import session_settings, session_zone
from truckee.storage.base import Storage

_log = logging.getLogger(__name__)

_MIB = 1 << 20


@dataclass(frozen=True, kw_only=True)
class AutoCompactSettings:
    """When a compaction follows a write, and which files it considers."""

    min_num_files: int = 50
    max_partitions: int = 128
    optimize: OptimizeSettings


def enable_auto_compaction() -> None:
    """Let a compaction follow writes of this process, if the table or the session asks for it."""
    add_follow_up("auto compaction", auto_compact)


def auto_compact(spark: SparkSession, storage: Storage, version: int, metadata: Metadata) -> None:
    """Compact the partitions that a version has added files to, if too many are small."""
    properties = TableProperties.from_configuration(metadata.configuration)
    settings = auto_compact_settings(session_settings(spark), properties)
    if settings is None:
        return
    chosen = crowded_partitions(spark, storage, version, settings)
    if not chosen:
        return
    _log.info("auto compaction of %d partitions of %s", len(chosen), storage.root)
    request = OptimizeRequest(is_auto=True, partitions=frozenset(chosen))
    run_optimize(spark, storage, request, settings.optimize)


def auto_compact_settings(
    settings: Mapping[str, str], properties: TableProperties
) -> AutoCompactSettings | None:
    """Return how to compact after a write, None if neither session nor table asks for it.

    The session takes precedence over the table. If `delta.autoOptimize`, the old name, is true, it
    takes precedence over the new one.
    """
    given = Options(settings)
    wanted = bool(properties.auto_optimize) or properties.auto_compact not in (None, "false")
    if not given.boolean(f"{DELTA_SETTINGS}autoCompact.enabled", wanted):
        return None
    largest = size_setting(given, f"{DELTA_SETTINGS}autoCompact.maxFileSize", 128 * _MIB)
    smallest = size_setting(given, f"{DELTA_SETTINGS}autoCompact.minFileSize", largest // 2)
    return AutoCompactSettings(
        min_num_files=size_setting(given, f"{DELTA_SETTINGS}autoCompact.minNumFiles", 50),
        max_partitions=size_setting(
            given, f"{DELTA_SETTINGS}autoCompact.maxNumModifiedPartitions", 128
        ),
        optimize=OptimizeSettings(max_file_size=largest, min_file_size=smallest),
    )


def crowded_partitions(
    spark: SparkSession, storage: Storage, version: int, settings: AutoCompactSettings
) -> list[PartitionKey]:
    """Return the partitions that got files in a version and now have many small files."""
    snapshot = load_snapshot(storage)
    of = partition_of(partition_fields(snapshot), session_zone(spark))
    written = {of(add) for add in read_commit(storage, version).adds if add.data_change}
    limits = settings.optimize
    small = (
        file
        for file in snapshot.files()
        if is_candidate(file, min_size=limits.min_file_size, max_deleted=limits.max_deleted_ratio)
    )
    crowded = [
        partition
        for partition, files in by_partition(small, of).items()
        if partition in written and len(files) >= settings.min_num_files
    ]
    return crowded[: settings.max_partitions]
