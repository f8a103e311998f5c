"""The table that a command changes: its rows, their positions in files, and conditions on them.

One DataFrame serves all passes over the table. Each query asks anew which files to read, and the
answer can be narrowed in between: first all files that may have matching rows, then only those
that do. A condition is resolved once for all passes, so `current_timestamp()` and its like are
the moment when the command began.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, LongType
from pyspark.sql.types import StructField as SparkField
from pyspark.sql.types import StructType as SparkStruct

from truckee.log.snapshot import Snapshot
from truckee.protocol.actions import AddFile
from truckee.protocol.predicates import ALWAYS_FALSE, Predicate, any_of
from truckee.protocol.schema import DataType, StructType
from truckee.scan.pruning import prune
from truckee.scan.scan_file import ScanFile
from truckee.scan.snapshot_scan import scan_files_of
from truckee.spark.dml.expressions import (
    Expression,
    Value,
    pushed_filters,
    resolved_condition,
    resolved_value,
)
from truckee.spark.jvm.projection import Given, Item, Named, quoted
from truckee.spark.read.catalyst_predicates import predicate_of
from truckee.spark.read.frames import snapshot_scan
from truckee.spark.read.relations import FILE, ROW, scan_frame
from truckee.spark.read.row_id_columns import (
    commit_version,
    row_id,
    without_row_id_stats,
)
from truckee.spark.read.scan import Scan
from truckee.spark.schema_conversion import bare_schema, to_spark
from truckee.spark.session.settings import session_zone


@dataclass(frozen=True)
class Reading:
    """What queries have read: the files, and the predicate that chose them."""

    predicate: Predicate
    files: pa.Table

    @classmethod
    def of(cls, snapshot: Snapshot, predicate: Predicate, files: Iterable[AddFile]) -> Reading:
        """Return the record that these files of a snapshot were read for a predicate."""
        table = snapshot.files_table()
        wanted = pa.array([file.path for file in files], pa.string())
        return cls(predicate, table.filter(pc.is_in(table.column("path"), wanted)))


class _Files:
    """The files of a snapshot as queries ask for them, and what they have asked for.

    The JVM holds it for as long as it holds the rows. It must not refer to the rows itself, or
    the cycle across the two garbage collectors would never be freed.
    """

    def __init__(self, snapshot: Snapshot, zone: str) -> None:
        self.narrowed: pa.Table | None = None
        self.read: list[tuple[Predicate, pa.Table]] = []
        self.located: dict[str, tuple[pa.Table, int]] = {}
        self._snapshot = snapshot
        self._zone = zone
        self._answers: dict[Predicate, list[ScanFile]] = {}

    def __call__(self, predicate: Predicate, _query: str | None, _zone: str) -> list[ScanFile]:
        if predicate not in self._answers:
            found = self._pruned(predicate)
            if self.narrowed is None:
                self.read.append((predicate, found))
            files = scan_files_of(found, self._snapshot.version)
            for row, file in enumerate(files):
                self.located.setdefault(file.path, (found, row))
            self._answers[predicate] = files
        return self._answers[predicate]

    def narrow(self, files: pa.Table | None) -> None:
        """Answer with these files alone from now on; with all of them if None."""
        self.narrowed = files
        self._answers = {}

    def _pruned(self, predicate: Predicate) -> pa.Table:
        snapshot = self._snapshot
        files = snapshot.files_table() if self.narrowed is None else self.narrowed
        kept = prune(files, snapshot.configuration, predicate, session_zone=self._zone)
        return files.filter(kept)


class Target:
    """The rows of a snapshot, to be looked at in several passes.

    `schema` is that of the snapshot with columns added; they are null in all rows.
    """

    def __init__(
        self,
        spark: SparkSession,
        snapshot: Snapshot,
        alias: str | None = None,
        *,
        schema: StructType | None = None,
    ) -> None:
        self.spark = spark
        self.snapshot = snapshot
        self.schema = schema or snapshot.schema
        self._ids = snapshot.configuration.row_id_columns
        self._zone = session_zone(spark)
        self._files = _Files(snapshot, self._zone)
        stored = snapshot.configuration.with_schema(self._stored(snapshot.schema))
        # The columns of row tracking are read here as columns of the table.
        scan = replace(snapshot_scan(snapshot), files=self._files, table=stored, row_ids=None)
        self._scan: Scan = scan
        frame = scan_frame(spark, self._scan, row_ids=True)
        if schema is not None and schema != snapshot.schema:
            frame = frame.to(_with_places(self.stored_schema))
        self.rows: DataFrame = frame if alias is None else frame.alias(alias)

    @property
    def stored_schema(self) -> StructType:
        """The columns that data files have: those of the table, and the ids of rows if tracked."""
        return self._stored(self.schema)

    def _stored(self, schema: StructType) -> StructType:
        return schema if self._ids is None else self._ids.added_to(schema)

    def old(self, name: str) -> Column:
        """Return a column of the table's rows, whatever they are joined with.

        Row ids are only known for the files of an `only` block.
        """
        column = self.rows[quoted(name)]
        if self._ids is not None and name == self._ids.row_id:
            return row_id(self.narrowed_files(), column)
        if self._ids is not None and name == self._ids.commit_version:
            return commit_version(self.narrowed_files(), column)
        return column

    def old_beside(self, name: str, alias: str) -> Item:
        """Return a column of joined rows under another name."""
        return Given(self.old(name), alias)

    def old_alone(self, name: str, alias: str) -> Item:
        """Return a column of rows that were not joined, where its name is enough."""
        is_id = self._ids is not None and name in (self._ids.row_id, self._ids.commit_version)
        return self.old_beside(name, alias) if is_id else Named(name, alias)

    def with_new_version(self, values: Mapping[str, Column]) -> Mapping[str, Column]:
        """Return the new values of a row, which record that the row changes in this commit."""
        if self._ids is None:
            return values
        return {**values, self._ids.commit_version: F.lit(None).cast("bigint")}

    def new_files(self, adds: Iterable[AddFile]) -> tuple[AddFile, ...]:
        """Return files that were written with `stored_schema` as the log is to name them."""
        ids = self._ids
        return tuple(add if ids is None else without_row_id_stats(add, ids) for add in adds)

    def narrowed_files(self) -> dict[int, AddFile]:
        """Return the files of an `only` block by their ids, which rows have as `FILE`."""
        assert self._files.narrowed is not None
        files = scan_files_of(self._files.narrowed, self.snapshot.version)
        numbers = [self._scan.registry.file_id(file) for file in files]
        return dict(zip(numbers, self.snapshot.add_files(self._files.narrowed), strict=True))

    def condition(
        self, given: str | Column, *, what: str, allows_exists: bool = False
    ) -> Expression:
        """Return a condition on the table's rows; raises those of `truckee.errors.commands.dml`."""
        hidden = (FILE, ROW)
        return resolved_condition(
            self.rows, given, what=what, hidden=hidden, allows_exists=allows_exists
        )

    def value(self, given: str | Column, *, what: str, stored_as: DataType) -> Value:
        """Return a value computed from a row of the table; raises like `condition`."""
        return resolved_value(self.rows, given, what=what, hidden=(FILE, ROW), stored_as=stored_as)

    def is_about_partitions(self, condition: Expression) -> bool:
        """Return whether a condition depends on partition columns alone."""
        partitions = {name.casefold() for name in self.snapshot.partition_columns}
        return {name.casefold() for name in condition.columns} <= partitions

    def predicate(self, condition: Expression) -> Predicate:
        """Return as much of a condition as can be compared with partition values in the log."""
        filters = pushed_filters(self.rows.where(condition.column))
        return predicate_of(filters, self.snapshot.schema, self._zone)

    @contextmanager
    def only(self, files: Iterable[AddFile]) -> Iterator[DataFrame]:
        """Yield the rows; queries inside the block see only those of these files."""
        table = self.snapshot.files_table()
        wanted = pa.array([file.path for file in files], pa.string())
        self._files.narrow(table.filter(pc.is_in(table.column("path"), wanted)))
        try:
            yield self.rows
        finally:
            self._files.narrow(None)

    def add_files(self, ids: Sequence[int]) -> list[AddFile]:
        """Return the files with these ids, in order."""
        paths = [self._scan.registry.file(number).path for number in ids]
        found: list[AddFile] = []
        for path in paths:
            files, row = self._files.located[path]
            found += self.snapshot.add_files(files.slice(row, 1))
        return found

    def reading(self) -> Reading:
        """Return what the queries so far have read."""
        if not self._files.read:
            return Reading(ALWAYS_FALSE, self.snapshot.files_table().slice(0, 0))
        if len(self._files.read) == 1:
            return Reading(*self._files.read[0])
        table = self.snapshot.files_table()
        paths = pa.concat_tables([files.select(["path"]) for _, files in self._files.read])
        files = table.filter(pc.is_in(table.column("path"), paths.column("path").combine_chunks()))
        return Reading(any_of(*(predicate for predicate, _ in self._files.read)), files)


def _with_places(schema: StructType) -> SparkStruct:
    fields = to_spark(bare_schema(schema)).fields
    return SparkStruct([*fields, SparkField(FILE, IntegerType()), SparkField(ROW, LongType())])
