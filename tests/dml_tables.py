"""Small tables for tests of DELETE, UPDATE and MERGE, and their state afterwards."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, SparkSession

from truckee.changes.plan import open_feed
from truckee.commands.write.write import write_table
from truckee.log.files.commits import Commit, read_commit
from truckee.log.files.history import latest_version
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.feed import feed_options
from truckee.protocol.actions import CommitInfo
from truckee.rows.plan import Recorded
from truckee.spark.read.engine import plan_frame
from truckee.spark.read.frames import snapshot_frame
from truckee.storage import open_storage
from truckee.storage.base import Storage
from truckee.writer import write

VECTORS = {"delta.enableDeletionVectors": "true"}
FEED = {"delta.enableChangeDataFeed": "true"}
MAPPED = {"delta.columnMapping.mode": "name"}
KEEPS_SOURCE = "spark.databricks.delta.merge.materializeSource"
TIMES = ("executionTimeMs", "scanTimeMs", "rewriteTimeMs", "materializeSourceTimeMs")


class Table:
    """A table under test."""

    def __init__(self, spark: SparkSession, path: Path) -> None:
        self.spark = spark
        self.path = path
        self.storage: Storage = open_storage(str(path))

    def append(self, rows: DataFrame, **options: str) -> Table:
        """Append rows as one file (for each partition)."""
        writer = write(rows.coalesce(1)).mode("append").options(**options)
        # Through this table's own storage, which may delay the commit.
        plan = replace(writer._write(str(self.path)), storage=self.storage)
        write_table(rows.coalesce(1), plan)
        return self

    @property
    def snapshot(self) -> Snapshot:
        return load_snapshot(self.storage)

    @property
    def version(self) -> int:
        return latest_version(self.storage)

    @property
    def last(self) -> Commit:
        return read_commit(self.storage, self.version)

    @property
    def info(self) -> CommitInfo:
        info = self.last.commit_info
        assert info is not None
        return info

    @property
    def metrics(self) -> dict[str, Any]:
        """The metrics of the last commit, those that are times and bytes left out."""
        found = self.info.operation_metrics or {}
        return {k: v for k, v in found.items() if k not in TIMES and "Bytes" not in k}

    def frame(self, version: int | None = None) -> DataFrame:
        return snapshot_frame(self.spark, load_snapshot(self.storage, version))

    def rows(self, version: int | None = None) -> list[tuple[Any, ...]]:
        return ordered(self.frame(version))

    def changes(self, start: int, end: int | None = None) -> list[tuple[Any, ...]]:
        """The rows of the feed: the table's columns, the change type and the version."""
        given = {"startingVersion": start, **({} if end is None else {"endingVersion": end})}
        options = feed_options(given, conf={}, time_zone="UTC")
        feed = plan_frame(self.spark, Recorded(open_feed(self.storage, options)))
        return ordered(feed.drop("_commit_timestamp"))

    def files_on_disk(self) -> set[str]:
        """Every file of the table except the log."""
        return {
            str(path.relative_to(self.path))
            for path in self.path.rglob("*")
            if path.is_file() and "_delta_log" not in path.parts and path.suffix != ".crc"
        }


def create_table(
    spark: SparkSession,
    path: Path,
    rows: DataFrame,
    *,
    properties: Mapping[str, str] | None = None,
    partition_by: Iterable[str] = (),
) -> Table:
    """Create a table with these rows in one file (for each partition)."""
    writer = write(rows.coalesce(1)).options(**(properties or {}))
    writer.partitionBy(*partition_by).save(str(path))
    return Table(spark, path)


def numbers(spark: SparkSession, start: int, end: int) -> DataFrame:
    """Rows (id, v, part): id counts up, v is ten times that, part is id % 2."""
    return spark.range(start, end, 1, 1).selectExpr(
        "id", "cast(id * 10 as int) v", "cast(id % 2 as int) part"
    )


def ordered(frame: DataFrame) -> list[tuple[Any, ...]]:
    found = [tuple(row) for row in frame.collect()]
    return sorted(
        found, key=lambda row: [(value is None, str(type(value)), value) for value in row]
    )
