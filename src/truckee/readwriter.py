"""truckee.read and readStream: Spark's readers, method by method, over Delta tables.

To move a pipeline, replace `spark.read.format("delta")` by `truckee.read(spark)`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from typing import Any

from msgspec.structs import replace
from pyspark.sql import DataFrame, SparkSession

from truckee.commands.catalog import delta_location
from truckee.errors.commands.create import (
    FeedOfOtherTableError,
    NoPathGivenError,
    NotATruckeeTableError,
)
from truckee.errors.log import NoTableAtPathError, NotADeltaTableError
from truckee.log.files.absent_table import unreadable_path
from truckee.log.time_travel import path_and_time, root_and_partition, snapshot_at
from truckee.options.arguments import check_format, checked_argument
from truckee.options.feed import BATCH_READ_OPTIONS, bound, feed_options, is_feed_read
from truckee.options.text import Options, options_text, warn_of_unknown
from truckee.spark.read.engine import changes_frame
from truckee.spark.read.frames import partition_frame
from truckee.spark.session.arguments import PathLike, checked_path, checked_session
from truckee.spark.session.settings import session_settings, session_storage, session_zone
from truckee.streaming.fast_lane import stream_frame


class TableReader:
    """Reads tables and their change feeds; made by `truckee.read(spark)`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._options: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"truckee.read(spark){options_text(self._options)}"

    def format(self, source: str) -> TableReader:
        """Take the format's name, for code that names one: delta or truckee."""
        check_format(source)
        return self

    def option(self, key: str, value: Any) -> TableReader:
        """Set one option: `versionAsOf`, `timestampAsOf`, or those of the change feed."""
        self._options[checked_argument(key, str, what="key")] = value
        return self

    def options(self, **options: Any) -> TableReader:
        """Set several options."""
        self._options.update(options)
        return self

    def load(self, path: PathLike | None = None) -> DataFrame:
        """Return the rows of the table at a path, or its changes with `readChangeFeed`."""
        return load_path(self._spark, _path_of(path, self._options), self._options)

    def table(self, tableName: str) -> DataFrame:
        """Return the rows of a table of Spark's catalog, or its changes with `readChangeFeed`."""
        location = delta_location(self._spark, tableName)
        return load_path(self._spark, location, self._options, is_catalog_table=True)


class TableStreamReader:
    """Reads tables and their change feeds as streams; made by `truckee.readStream(spark)`."""

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._options: dict[str, Any] = {}

    def __repr__(self) -> str:
        return f"truckee.readStream(spark){options_text(self._options)}"

    def format(self, source: str) -> TableStreamReader:
        """Take the format's name, for code that names one: delta or truckee."""
        check_format(source)
        return self

    def option(self, key: str, value: Any) -> TableStreamReader:
        """Set one option, such as `readChangeFeed`, `startingVersion` or `maxFilesPerTrigger`."""
        self._options[checked_argument(key, str, what="key")] = value
        return self

    def options(self, **options: Any) -> TableStreamReader:
        """Set several options."""
        self._options.update(options)
        return self

    def load(self, path: PathLike | None = None) -> DataFrame:
        """Return the table at a path as a stream, or its changes with `readChangeFeed`."""
        return stream_frame(self._spark, _path_of(path, self._options), self._options)

    def table(self, tableName: str) -> DataFrame:
        """Return a table of Spark's catalog as a stream, or its changes with `readChangeFeed`."""
        return self.load(delta_location(self._spark, tableName))


def _path_of(path: PathLike | None, options: Mapping[str, Any]) -> str:
    """Return the path to load, which is an argument or, as in Spark, the option `path`."""
    given = path if path is not None else Options(options).get("path")
    if given is None:
        raise NoPathGivenError
    return checked_path(given)


def readStream(spark: SparkSession) -> TableStreamReader:
    """Return a reader of Delta tables as streams, used like `spark.readStream`."""
    return TableStreamReader(checked_session(spark))


def read(spark: SparkSession) -> TableReader:
    """Return a reader of Delta tables, used like `spark.read`."""
    return TableReader(checked_session(spark))


def load_path(
    spark: SparkSession,
    path: str,
    options: dict[str, Any],
    *,
    is_catalog_table: bool = False,
) -> DataFrame:
    """Return the rows or changes of a path, read with these options."""
    try:
        return _loaded(spark, path, options, is_catalog_table=is_catalog_table)
    except NotADeltaTableError as error:
        raise unreadable_path(error) from None


def _loaded(
    spark: SparkSession, path: str, options: dict[str, Any], *, is_catalog_table: bool
) -> DataFrame:
    text = Options(options)
    warn_of_unknown(text, BATCH_READ_OPTIONS, what="a read")
    zone = session_zone(spark)
    if is_feed_read(text):
        feed = feed_options(
            text,
            conf=session_settings(spark),
            time_zone=zone,
            is_catalog_table=is_catalog_table,
        )
        return changes_frame(spark, session_storage(spark, path, text), feed)
    path, at = path_and_time(
        text, path, time_zone=zone, open_storage=lambda url: session_storage(spark, url, text)
    )
    root, partition = root_and_partition(
        path, open_storage=lambda url: session_storage(spark, url, text)
    )
    snapshot = snapshot_at(session_storage(spark, root, text), at)
    if not partition.keys() <= set(snapshot.partition_columns):
        raise NotADeltaTableError(table=path, found=f"it is no partition of the table at {root}")
    return partition_frame(spark, snapshot, partition, follows=at is None)


def table_changes(
    spark: SparkSession,
    pathOrName: PathLike,
    start: int | str | date | datetime,
    end: int | str | date | datetime | None = None,
) -> DataFrame:
    """Return the changes of a table, by its path or name, as the SQL function of this name does.

    An integer is a version, anything else a timestamp. Both ends are included. Without an end, the
    changes go up to the version that is the latest when a query runs.
    """
    checked_session(spark)
    path = checked_path(pathOrName)
    is_path = "/" in path or not isinstance(pathOrName, str)
    bounds = [start] if end is None else [start, end]
    return changes_between(spark, path, *bounds, is_path=is_path)


def changes_between(
    spark: SparkSession,
    table: str,
    *bounds: int | str | date | datetime | None,
    is_path: bool,
    options: Mapping[str, object] | None = None,
) -> DataFrame:
    """Return the changes of a table, by its path or name, from a first to an optional last bound.

    `options` are those of a feed besides its range. Raises NullBoundaryError for a bound that is
    None.
    """
    zone = session_zone(spark)
    text = Options(options or {})
    warn_of_unknown(text, BATCH_READ_OPTIONS, what="a read")
    parsed = feed_options(text, conf=session_settings(spark), time_zone=zone, needs_start=False)
    bounds_by_name = {
        name: bound(value, name=name, time_zone=zone)
        for name, value in zip(("start", "end"), bounds, strict=False)
    }
    given = replace(parsed, **bounds_by_name)
    if is_path:
        return changes_frame(spark, session_storage(spark, table, text), given)
    try:
        path = delta_location(spark, table)
        return changes_frame(spark, session_storage(spark, path, text), given)
    except NotADeltaTableError as error:
        if "/" in table:
            raise unreadable_path(error) from None
        raise error.told_as(NoTableAtPathError) from None
    except NotATruckeeTableError as error:
        raise FeedOfOtherTableError(table=error.table, provider=error.provider) from None
