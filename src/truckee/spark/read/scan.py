"""Scan: what to read, for snapshots and the feed alike, and how Spark is told of its files.

A file of a scan has a number, a constant of the file, by which a row's file is known. Paths are
not used for this: one version of Spark writes `file:/x`, another `file:///x`, and escapes differ.

Which rows of a file to read is a text that is sent with the file to the task that reads it.
`TruckeeWanted.java` parses the text, and loads, checks and applies the vectors that it names. So no
vector passes through the driver, and the size of a task does not grow with the table. A file whose
vector changed in many commits of a feed is read once for all of them: its text has an *event* for
each change, and a row belongs to every event that has it.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from threading import Lock
from typing import NamedTuple

from truckee.deletion_vectors.store import VectorOf, vector_source
from truckee.errors.base import DeltaError
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.protocol.paths import commit_path, is_absolute
from truckee.protocol.predicates import ALWAYS_TRUE, Predicate
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import RowIdColumns, TableConfiguration
from truckee.rows.plan import Read, Recorded
from truckee.scan.pruning import pruned_scan_files
from truckee.scan.scan_file import Change, ScanFile
from truckee.storage.base import Storage
from truckee.storage.urls import hadoop_url

_QUERIES_REMEMBERED = 32
_ESCAPES = {"%": "%25", "\t": "%09", "\n": "%0A"}

_Key = tuple[str, str | None, str | None, Change | None]


class FileRegistry:
    """Numbers of files, assigned when a file is first seen, and kept while the scan lives."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._ids: dict[_Key, int] = {}
        self._files: list[ScanFile] = []

    def file_id(self, file: ScanFile) -> int:
        """Return the number of a file."""
        within, without = file.rows.within, file.rows.without
        key = (
            file.path,
            within.unique_id if within else None,
            without.unique_id if without else None,
            file.change,
        )
        with self._lock:
            number = self._ids.setdefault(key, len(self._files))
            if number == len(self._files):
                self._files.append(file)
            return number

    def file(self, file_id: int) -> ScanFile:
        """Return the file with this number."""
        return self._files[file_id]


@dataclass(frozen=True, kw_only=True, eq=False)
class Scan:
    """What to read: a schema, and a function for the files that is called when a query runs.

    `files` gets the predicate that Spark filters by, a name for the query, and the zone of the
    session, which old timestamp texts need. Parts of one query have the same name, and must be
    answered from the same state. It may leave out files that cannot have a row for which the
    predicate is true. As long as nothing has changed, it returns the same sequence for the same
    predicate.

    `num_files`, `num_vectors` and `size_in_bytes` are what is known before a query runs, for plans
    and for `explain()`. `is_feed` says whether rows have the three columns of the change feed.
    With `row_ids`, `_metadata` has the ids of rows.

    `rows` says which rows of the table these are. Scans of one table with the same text have the
    same rows in every query; without a text, Spark takes no two scans for the same.
    """

    storage: Storage
    version: int
    table: TableConfiguration
    files: Callable[[Predicate, str | None, str], Sequence[ScanFile]]
    num_files: int
    num_vectors: int
    size_in_bytes: int
    is_feed: bool = False
    row_ids: RowIdColumns | None = None
    label: str = ""
    rows: str = ""
    missing_file_error: Callable[[], DeltaError | None] | None = None
    registry: FileRegistry = field(init=False, default_factory=FileRegistry)
    # The files of the last answer, for errors that name a file.
    listed: deque[Sequence[ScanFile]] = field(init=False, default_factory=lambda: deque(maxlen=8))

    @property
    def schema(self) -> StructType:
        """The columns that are read, without those of the feed."""
        return self.table.schema

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The logical names of the partition columns, in order."""
        return self.table.partition_columns

    @property
    def mapping_mode(self) -> str:
        """How columns are found in data files: `none`, `name` or `id`."""
        return self.table.column_mapping_mode

    @property
    def name(self) -> str:
        """What `explain()` calls the scan."""
        vectors = f", {self.num_vectors} with deletion vectors" if self.num_vectors else ""
        return f"{self.label or f'version {self.version}'}, {self.num_files} files{vectors}"


def read_scan(read: Read) -> Scan:
    """Return what to read, without the files that a filter rules out."""

    @lru_cache(maxsize=8)
    def files(predicate: Predicate, zone: str) -> Sequence[ScanFile]:
        if predicate == ALWAYS_TRUE:
            return read.files
        return pruned_scan_files(read.files, read.table, predicate, session_zone=zone)

    sizes = {file.path: file.size for file in read.files}
    return Scan(
        storage=read.storage,
        version=read.version,
        table=read.table,
        files=lambda predicate, _, zone: files(predicate, zone),
        num_files=len(sizes),
        num_vectors=len({file.path for file in read.files if not file.rows.is_all}),
        size_in_bytes=sum(sizes.values()),
        is_feed=read.is_feed,
        label=read.label,
        missing_file_error=read.missing,
    )


def feed_scan(recorded: Recorded) -> Scan:
    """Return what to read for a feed.

    Whether the range can be read is checked when a query runs. It is planned here anyway, since
    Spark chooses joins by its size; errors are ignored here, and raised when the query runs.
    """
    reads, feed = _Reads(recorded), recorded.feed
    try:
        read = reads.of_query(None)
    except DeltaError:
        end = feed.range.start if feed.range.end is None else feed.range.end
        table, label = feed.read.configuration, f"changes from version {feed.range.start}"
        read = Read(storage=feed.storage, version=end, table=table, files=(), label=label)
    return replace(
        read_scan(read),
        files=lambda _, query, __: reads.of_query(query).files,
        missing_file_error=reads.missing_file_error,
    )


class _Reads:
    """What a feed reads, for each query: all parts of a query see the same end."""

    def __init__(self, recorded: Recorded) -> None:
        self._recorded = recorded
        self._lock = Lock()
        self._last: Read | None = None
        self._by_query: OrderedDict[str, Read] = OrderedDict()

    def of_query(self, query: str | None) -> Read:
        with self._lock:
            if query is not None and query in self._by_query:
                return self._by_query[query]
            if self._last is None or self._has_grown(self._last):
                self._last = self._recorded.settled()
            if query is not None:
                self._by_query[query] = self._last
                if len(self._by_query) > _QUERIES_REMEMBERED:
                    self._by_query.popitem(last=False)
            return self._last

    def _has_grown(self, read: Read) -> bool:
        feed = self._recorded.feed
        if feed.range.end is not None and read.version >= feed.range.end:
            return False
        newer = feed.storage.list_from(commit_path(read.version + 1))
        return any(file.path.endswith(".json") for file in newer)

    def missing_file_error(self) -> DeltaError | None:
        read = self._last
        return None if read is None or read.missing is None else read.missing()


class FileRead(NamedTuple):
    """A file that Spark reads once, and the text about its rows; empty for all rows."""

    file: ScanFile
    rows: str


def file_reads(files: Iterable[ScanFile], root: str) -> list[FileRead]:
    """Return the files as they are read, with all changes of a file's vector combined."""
    return [FileRead(events[0], _text(events, root)) for events in _together(files)]


def file_url(root: str, path: str) -> str:
    """Return where a file of the table at `root` is, as Hadoop spells it."""
    return hadoop_url(path if is_absolute(path) else f"{root}/{path}")


def _together(files: Iterable[ScanFile]) -> Iterator[Sequence[ScanFile]]:
    # In a derived feed, changes of one file may have different constants.
    changed: dict[tuple[str, frozenset[object]], list[ScanFile]] = defaultdict(list)
    for file in files:
        if file.rows.within is None:
            yield (file,)
        else:
            changed[file.path, frozenset(file.partition_values.items())].append(file)
    yield from changed.values()


def _text(events: Sequence[ScanFile], root: str) -> str:
    first = events[0]
    if first.change is None and first.rows.is_all:
        return ""
    numbers: dict[DeletionVectorDescriptor, int] = {}
    vectors: list[str] = []

    def number(file: ScanFile, vector: DeletionVectorDescriptor | None) -> int:
        if vector is None:
            return -1
        if vector not in numbers:
            numbers[vector] = len(vectors)
            of = VectorOf(descriptor=vector, data_file=file.path, version=file.version)
            vectors.append(vector_text(of, root))
        return numbers[vector]

    told = []
    for file in events:
        pair = f"{number(file, file.rows.within)}\t{number(file, file.rows.without)}"
        told.append(f"{pair}\t{_change(file)}")
    rows = -1 if first.num_records is None else first.num_records
    return "\n".join([f"{rows}\t{len(vectors)}\t{len(told)}", *vectors, *told])


def vector_text(of: VectorOf, root: str) -> str:
    """Return the line that tells a task where a vector is."""
    source, vector = vector_source(of), of.descriptor
    where = f"={source.hex()}" if isinstance(source, bytes) else _escaped(file_url(root, source))
    return f"{where}\t{vector.offset or 0}\t{vector.size_in_bytes}\t{vector.cardinality}"


def _change(file: ScanFile) -> str:
    change = file.change
    if change is None:
        return "\t0\t"
    time = "" if change.timestamp_ms is None else str(1000 * change.timestamp_ms)
    return f"{change.type or ''}\t{change.version}\t{time}"


def _escaped(path: str) -> str:
    return "".join(_ESCAPES.get(letter, letter) for letter in path)
