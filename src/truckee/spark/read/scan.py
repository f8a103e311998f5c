"""Scan: what to read, for snapshots and the feed alike."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from truckee.errors.base import DeltaError
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.file_registry import FileRegistry
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage


@dataclass(frozen=True, kw_only=True, eq=False)
class Scan:
    """What to read: a schema, and a function for the files that is called when a query runs.

    `files` gets the predicate that Spark filters by, and a name for the query. Parts of one query
    have the same name, and must be answered from the same state. It may leave out files that
    cannot have a row for which the predicate is true. As long as nothing has changed, it returns
    the same sequence for the same predicate.

    `num_files`, `num_vectors` and `size_in_bytes` are what is known before a query runs, for plans
    and for `explain()`. `is_feed` says whether rows have the three columns of the change feed.
    """

    storage: Storage
    version: int
    table: TableConfiguration
    files: Callable[[Predicate, str | None], Sequence[ScanFile]]
    num_files: int
    num_vectors: int
    size_in_bytes: int
    is_feed: bool = False
    label: str = ""
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
