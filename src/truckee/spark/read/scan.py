"""Scan: what to read, for snapshots and the feed alike; and its rows as a DataFrame.

A scan is the union of at most four relations, whatever the number of files and versions:

| branch       | files                                           | what a row pays               |
|--------------|-------------------------------------------------|-------------------------------|
| plain        | read as they are                                | nothing: Spark's own scan     |
| vectors      | of which only some rows are read                | the test of `row_filter`      |
| layered      | whose vectors changed often in the range        | that test; a few more if kept |
| change files | change files, which know their own change type  | nothing                       |
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import reduce

from pyspark.sql import DataFrame, SparkSession

from truckee.errors.base import DeltaError
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import StructType
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.file_registry import FileRegistry
from truckee.scan.scan_file import ScanFile
from truckee.spark.read.relations import Branches
from truckee.storage.base import Storage


@dataclass(frozen=True, kw_only=True, eq=False)
class Scan:
    """What to read: a schema, and the files, which are asked for each time a query runs.

    `files` is given what Spark filters by, and a name for the query that asks: parts of one query
    have the same name, and must be answered from the same state. It may leave out files that
    cannot have a row for which the predicate is true. As long as it has nothing new to say, it
    returns the same sequence for the same predicate.

    `vector_rows` is a bound on the number of rows in files of which only some rows are read: 0 if
    there is no such file, None if nobody knows; `vector_bytes` is the size of those files.
    `first_version` is where a feed starts, None for a snapshot; `layer_digits` is what files that
    are read in layers need (see `layered`), 0 if there are none; `has_change_files` is False if
    there is surely no change file.
    """

    storage: Storage
    version: int
    table: TableConfiguration
    files: Callable[[Predicate, str | None], Sequence[ScanFile]]
    num_files: int
    size_in_bytes: int
    vector_rows: int | None
    vector_bytes: int = 0
    first_version: int | None = None
    layer_digits: int = 0
    has_change_files: bool = True
    label: str = ""
    missing_file_error: Callable[[], DeltaError | None] | None = None
    registry: FileRegistry = field(init=False)
    # What Spark was last told to read, for errors that name a file.
    listed: deque[Sequence[ScanFile]] = field(init=False, default_factory=lambda: deque(maxlen=8))

    def __post_init__(self) -> None:
        object.__setattr__(self, "registry", FileRegistry(self.storage))

    @property
    def schema(self) -> StructType:
        """The table's columns."""
        return self.table.schema

    @property
    def partition_columns(self) -> tuple[str, ...]:
        """The names of the columns that are the same for all rows of a file."""
        return self.table.partition_columns

    @property
    def mapping_mode(self) -> str:
        """How files name columns: none, name or id."""
        return self.table.column_mapping_mode

    @property
    def is_feed(self) -> bool:
        """Whether the rows have the three columns of the change feed."""
        return self.first_version is not None


def scan_frame(spark: SparkSession, scan: Scan, *, row_ids: bool = False) -> DataFrame:
    """Return the rows of a scan.

    With `row_ids`, two columns more say where each row is: `FILE`, a number that
    `scan.registry.file` turns into a ScanFile, and `ROW`, its position in that file.
    """
    branches = Branches(spark, scan, row_ids)
    frames = [branches.plain()]
    layers = branches.layers()
    if scan.vector_rows != 0:
        frames.append(branches.vectors(layers))
    if scan.is_feed and scan.has_change_files:
        frames.append(branches.change_files())
    if layers is not None:
        frames.append(branches.layered(layers))
    return reduce(DataFrame.unionAll, frames)
