"""Snapshots and feeds as DataFrames.

A DataFrame of a table shows the latest version whenever a query runs, as delta-spark's do, unless
it was asked for an older one. All parts of a query see the same version, and so do all queries of
a command: a table that is read while it is written is read as the command found it.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from uuid import uuid4
from weakref import WeakKeyDictionary, ref

from pyspark import SparkContext
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

from truckee.errors.columns import SchemaChangedSinceAnalysisError, TableWithoutColumnsError
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema_compatibility import MappedSchema, can_read, column_mapping_change
from truckee.scan.scan_file import ScanFile
from truckee.scan.snapshot_scan import scan_files
from truckee.spark.jvm.projection import column
from truckee.spark.read.relations import COMMAND, running_commands, scan_frame
from truckee.spark.read.scan import Scan
from truckee.storage.base import Storage

# A version is only a number, and a query may run while many others begin and end.
_VERSIONS_REMEMBERED = 1000


def snapshot_frame(spark: SparkSession, snapshot: Snapshot) -> DataFrame:
    """Return the rows of a version of a table."""
    return scan_frame(spark, snapshot_scan(snapshot))


def table_frame(spark: SparkSession, snapshot: Snapshot, *, follows: bool) -> DataFrame:
    """Return the rows of a table for a user, with the columns of the snapshot.

    Each query shows the latest version if the frame `follows` the table, else the snapshot's.
    """
    rows = _Rows(spark, snapshot, follows=follows)
    label = f"version {snapshot.version} or later" if follows else ""
    which = f"{snapshot.metadata.id} {'latest' if follows else snapshot.version}"
    scan = replace(snapshot_scan(snapshot), files=rows.files, label=label, rows=which)
    return scan_frame(spark, scan)


def partition_frame(
    spark: SparkSession, snapshot: Snapshot, values: Mapping[str, str | None], *, follows: bool
) -> DataFrame:
    """Return the rows of `table_frame` whose partition columns have these values."""
    rows = table_frame(spark, snapshot, follows=follows)
    for name, value in values.items():
        kept = sf.lit(value).cast(rows.schema[name].dataType)
        rows = rows.where(column(name).eqNullSafe(kept))
    return rows


def snapshot_scan(snapshot: Snapshot) -> Scan:
    """Return what to read for a version of a table."""
    totals, answer = snapshot.totals, _answers_of(snapshot)
    return Scan(
        storage=snapshot.storage,
        version=snapshot.version,
        table=snapshot.configuration,
        files=lambda predicate, _, zone: answer(predicate, zone),
        num_files=totals.files,
        num_vectors=totals.vectors,
        size_in_bytes=totals.size_in_bytes,
        row_ids=snapshot.configuration.row_id_columns,
    )


def _scan_files(snapshot: Snapshot, predicate: Predicate, zone: str) -> Sequence[ScanFile]:
    if not snapshot.schema.fields:
        raise TableWithoutColumnsError(table=snapshot.storage.root)
    return scan_files(snapshot, predicate, session_zone=zone)


@contextmanager
def one_version(spark: SparkSession) -> Iterator[CommandReads]:
    """Let all queries of the body see the same version of a table; yields what they read."""
    context, name = spark.sparkContext, f"command {uuid4()}"
    before = context.getLocalProperty(COMMAND)
    running_commands.add(name)
    reads = _reads_of(context, name)
    context.setLocalProperty(COMMAND, name)
    try:
        yield reads
    finally:
        running_commands.discard(name)
        with _lock:
            _queries[context].pop(name, None)
        if context._jsc is not None:
            context.setLocalProperty(COMMAND, before)  # type: ignore[arg-type]


@dataclass(eq=False)
class CommandReads:
    """The versions of tables that a query or command sees, and what it read of them."""

    _versions: dict[str, _Version] = field(default_factory=dict)
    _reads: dict[str, dict[Predicate, Sequence[ScanFile]]] = field(default_factory=dict)

    def start_from(self, snapshot: Snapshot) -> None:
        """See the table in this version from now on; forget what was read of it."""
        self._versions[snapshot.storage.root] = _Version(snapshot)
        self._reads.pop(snapshot.storage.root, None)

    def has_read(self, root: str) -> bool:
        """Return whether a query has read the table by a DataFrame or by SQL."""
        return root in self._reads

    def note(self, transaction: Transaction) -> None:
        """Tell a transaction what was read of its table."""
        for predicate, files in self._reads.get(transaction.storage.root, {}).items():
            transaction.read_partitions(predicate)
            transaction.read_paths(file.path for file in files)

    def latest(self, known: Snapshot) -> Snapshot:
        """Return the version of a table that all parts see: the latest when the first one asked."""
        root = known.storage.root
        seen = self._versions.get(root)
        if seen is None:
            latest = update_snapshot(known)
            seen = self._versions.setdefault(root, _Version(latest))
        return seen.snapshot(known.storage)

    def record(self, root: str, predicate: Predicate, files: Sequence[ScanFile]) -> None:
        """Remember that files of a table were read."""
        self._reads.setdefault(root, {})[predicate] = files


class _Version:
    """A version of a table, which is loaded again where nobody else has kept it.

    Many queries are remembered, and should not keep the files of many versions in memory.
    """

    def __init__(self, snapshot: Snapshot) -> None:
        self._number = snapshot.version
        self._known = ref(snapshot)

    def snapshot(self, storage: Storage) -> Snapshot:
        return self._known() or load_snapshot(storage, self._number)


_queries: WeakKeyDictionary[SparkContext, OrderedDict[str, CommandReads]] = WeakKeyDictionary()
_lock = Lock()


def _reads_of(context: SparkContext, query: str | None) -> CommandReads:
    """Return what is known of a query."""
    if query is None:
        return CommandReads()
    with _lock:
        queries = _queries.setdefault(context, OrderedDict())
        if query not in queries:
            queries[query] = CommandReads()
            others = [name for name in queries if name not in running_commands]
            for name in others[:-_VERSIONS_REMEMBERED]:
                del queries[name]
        return queries[query]


class _Rows:
    """The files of a table for a DataFrame that users have."""

    def __init__(self, spark: SparkSession, snapshot: Snapshot, *, follows: bool) -> None:
        self._spark = spark
        self._analyzed = snapshot
        self._follows = follows
        self._lock = Lock()
        self._last = snapshot
        self._answer = _answers_of(snapshot)

    def files(self, predicate: Predicate, query: str | None, zone: str) -> Sequence[ScanFile]:
        reads = _reads_of(self._spark.sparkContext, query)
        with self._lock:
            last, answer = self._last, self._answer
        snapshot = reads.latest(last) if self._follows else last
        if snapshot is not last:
            _check_same_columns(self._analyzed, snapshot)
            answer = _answers_of(snapshot)
            with self._lock:
                self._last, self._answer = snapshot, answer
        files = answer(predicate, zone)
        if query in running_commands:
            reads.record(snapshot.storage.root, predicate, files)
        return files


def _answers_of(snapshot: Snapshot) -> Callable[[Predicate, str], Sequence[ScanFile]]:
    """Return a function with a cache, since Spark asks the same several times a query."""
    return lru_cache(maxsize=8)(lambda predicate, zone: _scan_files(snapshot, predicate, zone))


def _check_same_columns(analyzed: Snapshot, latest: Snapshot) -> None:
    """Raise SchemaChangedSinceAnalysisError if the columns of a DataFrame cannot be read any more.

    Columns may have been added since; these are not shown.
    """
    if latest.metadata.schema_string == analyzed.metadata.schema_string:
        is_same = latest.partition_columns == analyzed.partition_columns
    else:
        before, now = (
            MappedSchema(table.schema, table.partition_columns, table.column_mapping_mode)
            for table in (analyzed.configuration, latest.configuration)
        )
        is_same = (
            before.physical_partitions() == now.physical_partitions()
            and column_mapping_change(before, now) is None
            and can_read(before.schema, now.schema, data_is_newer=True)
        )
    ids, latest_ids = (table.configuration.row_id_columns for table in (analyzed, latest))
    if ids is not None and latest_ids is not None:
        is_same = is_same and ids == latest_ids
    if not is_same:
        raise SchemaChangedSinceAnalysisError(
            table=latest.storage.root, analyzed=analyzed.version, latest=latest.version
        )
