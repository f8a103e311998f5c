"""Snapshots and feeds as DataFrames."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Sequence
from functools import lru_cache
from threading import Lock
from typing import TypedDict

import pyarrow.compute as pc
from pyspark.sql import DataFrame, SparkSession

from truckee.changes.missing_files import missing_file_error
from truckee.changes.plan import ChangeFeed, ChangePlan
from truckee.errors.base import DeltaError
from truckee.log.snapshot import Snapshot
from truckee.protocol.paths import commit_path
from truckee.protocol.predicates import Predicate
from truckee.scan.scan_file import ScanFile, num_records
from truckee.scan.snapshot_scan import scan_files
from truckee.spark.read.feed_layers import layer_digits
from truckee.spark.read.relations import is_change_file
from truckee.spark.read.scan import Scan, scan_frame
from truckee.spark.session.settings import session_zone

_QUERIES_REMEMBERED = 32


def snapshot_frame(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    """Return the rows of a version of a table."""
    return scan_frame(spark, snapshot_scan(snapshot, zone=lambda: session_zone(spark)))


def feed_frame(spark: SparkSession, feed: ChangeFeed) -> DataFrame:
    """Return the rows of a change data feed; an open end is bound each time a query runs."""
    return scan_frame(spark, feed_scan(feed))


def snapshot_scan(snapshot: Snapshot, zone: Callable[[], str] = lambda: "UTC") -> Scan:
    """Return what to read for a version of a table.

    `zone` is the session's at the time a query runs, for old texts of timestamps.
    """
    return Scan(
        storage=snapshot.storage,
        version=snapshot.version,
        table=snapshot.configuration,
        files=_remembered(
            lambda predicate, zone: scan_files(snapshot, predicate, session_zone=zone), zone
        ),
        num_files=snapshot.num_files,
        size_in_bytes=snapshot.size_in_bytes,
        **_vector_extent(snapshot),
    )


def feed_scan(feed: ChangeFeed) -> Scan:
    """Return what to read for a feed.

    Whether the range can be read is checked when a query runs. A plan is made here all the same,
    for its size tells Spark how to join; what is wrong with it is said when it is asked for again.
    """
    plans = _Plans(feed)
    try:
        plan = plans.plan(None)
    except DeltaError:
        plan = None
    end = plan.end if plan is not None else feed.range.end
    files = () if plan is None else plan.files
    is_settled = plan is not None and feed.range.end is not None and plan.end >= feed.range.end
    return Scan(
        storage=feed.storage,
        version=feed.range.start if end is None else end,
        table=feed.read.configuration,
        files=lambda _, query: plans.plan(query).files,
        num_files=0 if plan is None else len(plan.files),
        size_in_bytes=0 if plan is None else plan.size_in_bytes,
        vector_rows=0 if is_settled and all(file.rows.is_all for file in files) else None,
        first_version=feed.range.start,
        layer_digits=layer_digits(files, first_version=feed.range.start, may_grow=not is_settled),
        has_change_files=not is_settled or any(is_change_file(file) for file in files),
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
    """Return the same answer to the same question: Spark asks a few times a query."""
    cached = lru_cache(maxsize=8)(files)
    return lambda predicate, _: cached(predicate, zone())


class _Vectors(TypedDict):
    vector_rows: int | None
    vector_bytes: int


def _vector_extent(snapshot: Snapshot) -> _Vectors:
    """Return how many rows and bytes the files with vectors have; rows only if all tell."""
    files = snapshot.files_table()
    files = files.filter(pc.is_valid(files.column("deletion_vector")))
    counts = [num_records(stats) for stats in files.column("stats").to_pylist()]
    known = [count for count in counts if count is not None]
    return {
        "vector_rows": sum(known) if len(known) == len(counts) else None,
        "vector_bytes": pc.sum(files.column("size")).as_py() or 0,
    }
