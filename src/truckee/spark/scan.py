"""ScanFiles as a DataFrame, for snapshots and the feed alike.

A scan is the union of at most three relations, whatever the number of files and versions:

| branch    | files                                   | what its rows pay                         |
|-----------|-----------------------------------------|-------------------------------------------|
| plain     | read as they are                        | nothing: it is Spark's own Parquet scan   |
| vectors   | of which only some rows are read        | the test of `row_filter` for each row     |
| change    | change files, which know their own type | nothing                                   |

Columns are read by the names (or ids) that they have in data files, and then given their logical
names and types.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta, timezone
from functools import reduce
from typing import Any

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from truckee.errors.base import DeltaError
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import StructType as TableSchema
from truckee.protocol.schema import physical_schema
from truckee.scan.scan_file import ScanFile
from truckee.spark.file_index import Constant, Listing, Relation, relation_frame
from truckee.spark.file_registry import FileRegistry
from truckee.spark.predicates import predicate_of
from truckee.spark.read_errors import explain_failures_of
from truckee.spark.row_filter import (
    FILE_ID,
    FILE_ROWS,
    FILE_START,
    ROW_INDEX,
    Dense,
    Sparse,
)
from truckee.spark.types import file_schema, to_spark
from truckee.storage.base import Storage

FILE = "__truckee_file"
ROW = "__truckee_row"
_KEEPS = "__truckee_keeps"
_INTERNAL_METADATA = ("delta.", "parquet.field.id")


@dataclass(frozen=True, kw_only=True, eq=False)
class Scan:
    """What to read: a schema, and the files, which are asked for each time a query runs.

    `files` is given what Spark filters by, and a name for the query that asks: parts of one query
    have the same name, and must be answered from the same state. It may leave out files that
    cannot have a row for which the predicate is true. As long as it has nothing new to say, it
    returns the same sequence for the same predicate.
    `vector_rows` is a bound on the number of rows in files of which only some rows are read: 0 if
    there is no such file, None if nobody knows.
    """

    storage: Storage
    version: int
    schema: TableSchema
    partition_columns: tuple[str, ...]
    mapping_mode: str
    files: Callable[[Predicate, str | None], Sequence[ScanFile]]
    num_files: int
    size_in_bytes: int
    vector_rows: int | None
    is_feed: bool = False
    label: str = ""
    missing_file_error: Callable[[str], DeltaError] | None = None
    registry: FileRegistry = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "registry", FileRegistry(self.storage))


def scan_frame(spark: SparkSession, scan: Scan, *, row_ids: bool = False) -> DataFrame:
    """Return the rows of a scan.

    With `row_ids`, two columns more say where each row is: `FILE`, a number that
    `scan.registry.file` turns into a ScanFile, and `ROW`, its position in that file.
    """
    explain_failures_of(scan)
    branches = _Branches(spark, scan, row_ids)
    frames = [branches.plain()]
    if scan.vector_rows != 0:
        frames.append(branches.vectors())
    if scan.is_feed:
        frames.append(branches.change_files())
    return reduce(DataFrame.unionAll, frames)


class _Branches:
    def __init__(self, spark: SparkSession, scan: Scan, row_ids: bool) -> None:
        self._spark = spark
        self._scan = scan
        self._row_ids = row_ids
        self._zone = str(spark.conf.get("spark.sql.session.timeZone"))

    def plain(self) -> DataFrame:
        frame = self._frame(lambda f: f.rows.is_all and not _knows_its_type(f), "files")
        return frame.select(*self._columns())

    def change_files(self) -> DataFrame:
        frame = self._frame(_knows_its_type, "change files", change_type_in_file=True)
        return frame.select(*self._columns())

    def vectors(self) -> DataFrame:
        scan = self._scan
        dense = scan.vector_rows is not None and not scan.is_feed
        dense = dense and scan.vector_rows <= scan.registry.dense_rows  # type: ignore[operator]
        rows = Dense(self._spark, "vectors") if dense else Sparse(self._spark, "vectors")
        frame = self._frame(lambda f: not f.rows.is_all, "files with vectors", rows=rows)
        contained = rows.contains_row()
        kept = contained == F.col(_KEEPS) if scan.is_feed else ~contained
        return frame.where(kept).select(*self._columns())

    def _frame(
        self,
        wanted: Callable[[ScanFile], bool],
        what: str,
        *,
        change_type_in_file: bool = False,
        rows: Dense | Sparse | None = None,
    ) -> DataFrame:
        scan = self._scan
        located = self._row_ids or rows is not None
        relation = Relation(
            name=f"{scan.label or f'version {scan.version}'}, {scan.num_files} files: {what}",
            root=scan.storage.root,
            data_schema=self._data_schema(located, change_type_in_file),
            constants=self._constants(located, change_type_in_file, rows),
            size_in_bytes=scan.size_in_bytes,
            files=self._listing(wanted, rows),
            session_conf=(
                {"spark.sql.parquet.fieldId.read.enabled": "true"}
                if scan.mapping_mode == "id"
                else {}
            ),
        )
        return relation_frame(self._spark, relation)

    def _listing(
        self, wanted: Callable[[ScanFile], bool], rows: Dense | Sparse | None
    ) -> Listing:
        scan = self._scan
        last: list[Any] = [None, None]

        def files(filters: Sequence[str], query: str | None) -> Sequence[ScanFile]:
            predicate = predicate_of(filters, scan.schema, self._zone)
            planned = scan.files(predicate, query)
            if planned is not last[0]:
                last[1] = [file for file in planned if wanted(file)]
                last[0] = planned
                if rows is not None:
                    scan.registry.load_rows(last[1], rows)
            found: Sequence[ScanFile] = last[1]
            return found

        return files

    def _data_schema(self, located: bool, change_type_in_file: bool) -> StructType:
        partitions = self._physical_partitions()
        physical = file_schema(self._scan.schema, self._scan.mapping_mode)
        fields = [f for f in physical.fields if f.name not in partitions]
        if change_type_in_file:
            fields.append(StructField("_change_type", StringType()))
        if located:
            fields.append(StructField(ROW_INDEX, LongType()))
        return StructType(fields)

    def _physical_partitions(self) -> dict[str, DataType]:
        names = {name.casefold() for name in self._scan.partition_columns}
        physical = to_spark(physical_schema(self._scan.schema, self._scan.mapping_mode))
        return {
            there.name: there.dataType
            for there, here in zip(physical.fields, self._scan.schema.fields, strict=True)
            if here.name.casefold() in names
        }

    def _constants(
        self, located: bool, change_type_in_file: bool, rows: Dense | Sparse | None
    ) -> tuple[Constant, ...]:
        registry = self._scan.registry
        constants = [
            Constant(name, data_type, _partition_value(name))
            for name, data_type in self._physical_partitions().items()
        ]
        if self._scan.is_feed:
            constants += _feed_constants(with_type=not change_type_in_file)
        if rows is not None and self._scan.is_feed:
            constants.append(Constant(_KEEPS, BooleanType(), _keeps))
        if located:
            constants.append(Constant(FILE_ID, IntegerType(), lambda f: str(registry.file_id(f))))
        if isinstance(rows, Dense):
            constants.append(Constant(FILE_START, LongType(), lambda f: str(registry.start(f))))
            constants.append(Constant(FILE_ROWS, LongType(), lambda f: str(registry.num_rows(f))))
        return tuple(constants)

    def _columns(self) -> list[Column]:
        logical = to_spark(self._scan.schema)
        physical = file_schema(self._scan.schema, self._scan.mapping_mode)
        columns = [
            _renamed(there, here)
            for there, here in zip(physical.fields, logical.fields, strict=True)
        ]
        if self._scan.is_feed:
            columns += [F.col(name) for name in FEED_COLUMNS]
        if self._row_ids:
            columns += [F.col(FILE_ID).alias(FILE), F.col(ROW_INDEX).alias(ROW)]
        return columns


FEED_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")


def _knows_its_type(file: ScanFile) -> bool:
    return file.change is not None and file.change.type is None


def _keeps(file: ScanFile) -> str:
    return "true" if file.rows.within is not None else "false"


def _partition_value(name: str) -> Callable[[ScanFile], str | None]:
    # An empty text stands for null, whatever the type.
    return lambda file: file.partition_values.get(name) or None


def _feed_constants(*, with_type: bool) -> list[Constant]:
    def change_type(file: ScanFile) -> str | None:
        assert file.change is not None
        return file.change.type

    def version(file: ScanFile) -> str:
        assert file.change is not None
        return str(file.change.version)

    def timestamp(file: ScanFile) -> str | None:
        assert file.change is not None
        return timestamp_text(file.change.timestamp_ms)

    constants = [Constant("_change_type", StringType(), change_type)] if with_type else []
    return [
        *constants,
        Constant("_commit_version", LongType(), version),
        Constant("_commit_timestamp", TimestampType(), timestamp),
    ]


def timestamp_text(timestamp_ms: int | None) -> str | None:
    """Return a moment as a text that Spark casts to a timestamp, whatever the session's zone."""
    if timestamp_ms is None:
        return None
    moment = datetime(1970, 1, 1, tzinfo=timezone.utc) + timedelta(milliseconds=timestamp_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def quoted(name: str) -> str:
    """Return a column's name as Spark's parser takes it, whatever characters it has."""
    return "`" + name.replace("`", "``") + "`"


def _renamed(there: StructField, here: StructField) -> Column:
    """Return a column of the data files under its logical name, nested names included."""
    column = F.col(quoted(there.name))
    if there.dataType.simpleString() != here.dataType.simpleString():
        column = column.cast(here.dataType)
    metadata = {
        key: value
        for key, value in (here.metadata or {}).items()
        if not key.startswith(_INTERNAL_METADATA)
    }
    return column.alias(here.name, metadata=metadata)
