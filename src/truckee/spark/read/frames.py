"""Snapshots and feeds as DataFrames."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from threading import Lock

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from truckee.changes.missing_files import missing_file_error
from truckee.changes.plan import ChangeFeed, ChangePlan
from truckee.errors.base import DeltaError
from truckee.errors.columns import TableWithoutColumnsError
from truckee.log.snapshot import Snapshot
from truckee.protocol.paths import commit_path
from truckee.protocol.predicates import Predicate
from truckee.scan.scan_file import ScanFile
from truckee.scan.snapshot_scan import scan_files
from truckee.spark.jvm.projection import column
from truckee.spark.read.relations import scan_frame
from truckee.spark.read.scan import Scan
from truckee.spark.session.settings import session_zone

_QUERIES_REMEMBERED = 32


def snapshot_frame(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    """Return the rows of a version of a table."""
    return scan_frame(spark, snapshot_scan(snapshot, zone=lambda: session_zone(spark)))


def partition_frame(
    spark: SparkSession, snapshot: Snapshot, values: Mapping[str, str | None]
) -> DataFrame:
    """Return the rows of a version of a table whose partition columns have these values."""
    rows = snapshot_frame(spark, snapshot)
    for name, value in values.items():
        kept = sf.lit(value).cast(rows.schema[name].dataType)
        rows = rows.where(column(name).eqNullSafe(kept))
    return rows


def feed_frame(spark: SparkSession, feed: ChangeFeed) -> DataFrame:
    """Return the rows of a change data feed; an open range ends at the latest version each time."""
    return scan_frame(spark, feed_scan(feed))


def snapshot_scan(snapshot: Snapshot, zone: Callable[[], str] = lambda: "UTC") -> Scan:
    """Return what to read for a version of a table.

    `zone` gives the session's time zone when a query runs; old timestamp texts need it.
    """
    totals = snapshot.totals
    return Scan(
        storage=snapshot.storage,
        version=snapshot.version,
        table=snapshot.configuration,
        files=_remembered(lambda predicate, zone: _scan_files(snapshot, predicate, zone), zone),
        num_files=totals.files,
        num_vectors=totals.vectors,
        size_in_bytes=totals.size_in_bytes,
    )


def _scan_files(snapshot: Snapshot, predicate: Predicate, zone: str) -> Sequence[ScanFile]:
    if not snapshot.schema.fields:
        raise TableWithoutColumnsError(table=snapshot.storage.root)
    return scan_files(snapshot, predicate, session_zone=zone)


def feed_scan(feed: ChangeFeed) -> Scan:
    """Return what to read for a feed.

    Whether the range can be read is checked when a query runs. A plan is made here anyway, since
    Spark chooses joins by its size; errors are ignored here, and raised when the query runs.
    """
    plans = _Plans(feed)
    try:
        plan = plans.plan(None)
    except DeltaError:
        plan = None
    end = plan.end if plan is not None else feed.range.end
    files = () if plan is None else plan.files
    return Scan(
        storage=feed.storage,
        version=feed.range.start if end is None else end,
        table=feed.read.configuration,
        files=lambda _, query: plans.plan(query).files,
        num_files=len({file.path for file in files}),
        num_vectors=len({file.path for file in files if not file.rows.is_all}),
        size_in_bytes=0 if plan is None else plan.size_in_bytes,
        is_feed=True,
        label=f"changes from version {feed.range.start}",
        missing_file_error=plans.missing_file_error,
    )


class _Plans:
    """The plans of a feed, one for each query: all parts of a query see the same end."""

    def __init__(self, feed: ChangeFeed) -> None:
        self._feed = feed
        self._lock = Lock()
        self._last: ChangePlan | None = None
        self._by_query: OrderedDict[str, ChangePlan] = OrderedDict()

    def plan(self, query: str | None) -> ChangePlan:
        with self._lock:
            if query is not None and query in self._by_query:
                return self._by_query[query]
            if self._last is None or self._has_grown(self._last):
                self._last = self._feed.plan()
            if query is not None:
                self._by_query[query] = self._last
                if len(self._by_query) > _QUERIES_REMEMBERED:
                    self._by_query.popitem(last=False)
            return self._last

    def _has_grown(self, plan: ChangePlan) -> bool:
        end = self._feed.range.end
        if end is not None and plan.end >= end:
            return False
        newer = self._feed.storage.list_from(commit_path(plan.end + 1))
        return any(file.path.endswith(".json") for file in newer)

    def missing_file_error(self) -> DeltaError | None:
        plan = self._last
        if plan is None:
            return None
        return missing_file_error(self._feed.storage, plan.files, end=plan.end)


def _remembered(
    files: Callable[[Predicate, str], Sequence[ScanFile]], zone: Callable[[], str]
) -> Callable[[Predicate, str | None], Sequence[ScanFile]]:
    """Return a function with a cache, since Spark asks the same question several times a query."""
    cached = lru_cache(maxsize=8)(files)
    return lambda predicate, _: cached(predicate, zone())
