"""The relations that a scan is the union of.

Columns are read by the names (or ids) that they have in data files, and then given their logical
names and types.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime, timedelta, timezone
from typing import NamedTuple, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    BooleanType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from truckee.changes.columns import feed_schema
from truckee.changes.feed_pruning import MayMatch, may_match_by_constants
from truckee.errors.base import DeltaError
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import StructType as TableSchema
from truckee.protocol.schema import physical_schema
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.file_registry import FileRegistry
from truckee.scan.scan_file import ScanFile, check_paths
from truckee.spark.jvm.projection import Item, Named, selected
from truckee.spark.read.catalyst_predicates import predicate_of
from truckee.spark.read.feed_layers import LayeredRows
from truckee.spark.read.file_index import Constant, Listing, Relation, relation_frame
from truckee.spark.read.read_errors import explain_failures_of
from truckee.spark.read.vector_filter import (
    DENSE_ROWS,
    FILE_ID,
    FILE_ROWS,
    FILE_START,
    ROW_INDEX,
    Dense,
    Sparse,
)
from truckee.spark.session.settings import session_zone
from truckee.spark.types import file_schema, shown_schema, to_spark
from truckee.storage.base import Storage

FILE = "__truckee_file"
ROW = "__truckee_row"
FEED_COLUMNS = ("_change_type", "_commit_version", "_commit_timestamp")
_KEEPS = "__truckee_keeps"
_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)


class Scan(Protocol):
    """What the branches need to know of a scan; see `scan.Scan`."""

    @property
    def version(self) -> int: ...
    @property
    def table(self) -> TableConfiguration: ...
    @property
    def schema(self) -> TableSchema: ...
    @property
    def partition_columns(self) -> tuple[str, ...]: ...
    @property
    def mapping_mode(self) -> str: ...
    @property
    def files(self) -> Callable[[Predicate, str | None], Sequence[ScanFile]]: ...
    @property
    def num_files(self) -> int: ...
    @property
    def size_in_bytes(self) -> int: ...
    @property
    def vector_rows(self) -> int | None: ...
    @property
    def vector_bytes(self) -> int: ...
    @property
    def first_version(self) -> int | None: ...
    @property
    def is_feed(self) -> bool: ...
    @property
    def label(self) -> str: ...
    @property
    def layer_digits(self) -> int: ...
    @property
    def registry(self) -> FileRegistry: ...
    @property
    def listed(self) -> deque[Sequence[ScanFile]]: ...
    @property
    def missing_file_error(self) -> Callable[[], DeltaError | None] | None: ...
    @property
    def storage(self) -> Storage: ...


class _Branch(NamedTuple):
    """One relation: which of the planned files it reads, and what it needs besides.

    `select` is also told which files can matter to the query, as far as their constants tell.
    Spark leaves out the others by itself, but not before it was given what belongs to them.
    """

    what: str
    select: Callable[[Sequence[ScanFile], MayMatch], Sequence[ScanFile]]
    size_in_bytes: int
    constants: tuple[Constant, ...]
    located: bool = False
    change_type_in_file: bool = False


class Branches:
    """Makes the relations of one scan."""

    def __init__(self, spark: SparkSession, scan: Scan, row_ids: bool) -> None:
        self._spark = spark
        self._scan = scan
        self._row_ids = row_ids

    def plain(self) -> DataFrame:
        """Return the rows of files that are read as they are."""
        branch = _Branch(
            what="files",
            select=lambda files, _: [f for f in files if f.rows.is_all and not is_change_file(f)],
            size_in_bytes=self._scan.size_in_bytes - self._scan.vector_bytes,
            constants=_feed_constants(with_type=True) if self._scan.is_feed else (),
            located=self._row_ids,
        )
        return selected(self._frame(branch), self._columns())

    def change_files(self) -> DataFrame:
        """Return the rows of change files."""
        branch = _Branch(
            what="change files",
            select=lambda files, _: [f for f in files if is_change_file(f)],
            size_in_bytes=0,
            constants=_feed_constants(with_type=False),
            change_type_in_file=True,
        )
        return selected(self._frame(branch), self._columns())

    def vectors(self, layers: LayeredRows | None) -> DataFrame:
        """Return the rows that vectors leave, or select, one vector (or pair of them) a file.

        Files that are read in layers are not read here.
        """
        scan, registry = self._scan, self._scan.registry
        few_enough = scan.vector_rows is not None and scan.vector_rows <= DENSE_ROWS
        is_dense = few_enough and not scan.is_feed
        rows = Dense(self._spark, "vectors") if is_dense else Sparse(self._spark, "vectors")

        def select(files: Sequence[ScanFile], may_match: MayMatch) -> Sequence[ScanFile]:
            layered = layers.paths(files) if layers is not None else frozenset()
            chosen = [f for f in files if not f.rows.is_all and f.path not in layered]
            chosen = [f for f in chosen if may_match(f)]
            return registry.load_rows(chosen, rows)

        constants = (*_feed_constants(with_type=True), _KEEPS_ROWS) if scan.is_feed else ()
        if is_dense:
            constants += (
                Constant(FILE_START, LongType(), lambda f: str(registry.start(f)), False),
                Constant(FILE_ROWS, LongType(), lambda f: str(registry.num_rows(f)), False),
            )
        branch = _Branch("files with vectors", select, scan.vector_bytes, constants, located=True)
        contained = rows.contains_row()
        kept = contained == F.col(_KEEPS) if scan.is_feed else ~contained
        return selected(self._frame(branch).where(kept), self._columns())

    def layers(self) -> LayeredRows | None:
        """Return the rows of files whose vectors changed often, None if there are none."""
        scan = self._scan
        if scan.first_version is None or scan.layer_digits == 0:
            return None
        return LayeredRows(
            self._spark,
            scan.registry,
            first_version=scan.first_version,
            digits=scan.layer_digits,
        )

    def layered(self, rows: LayeredRows) -> DataFrame:
        """Return the rows of files whose vectors changed often, each file read once."""
        scan = self._scan
        branch = _Branch(
            "files in layers", lambda files, _: rows.select(files), scan.vector_bytes, (), True
        )
        frame = self._frame(branch).where(rows.contains_row())
        frame = frame.withColumns(rows.feed_columns())
        return selected(frame, self._columns())

    def _frame(self, branch: _Branch) -> DataFrame:
        scan, registry = self._scan, self._scan.registry
        partitions = self._physical_partitions()
        constants = [
            Constant(field.name, field.dataType, _partition_value(field.name), field.nullable)
            for field in partitions.values()
        ]
        constants += branch.constants
        if branch.located:
            constants.append(
                Constant(FILE_ID, IntegerType(), lambda f: str(registry.file_id(f)), False)
            )
        by_id = {"spark.sql.parquet.fieldId.read.enabled": "true"}
        relation = Relation(
            name=f"{scan.label or f'version {scan.version}'}, {scan.num_files} files: "
            f"{branch.what}",
            root=registry.storage.root,
            data_schema=self._data_schema(branch, partitions),
            constants=tuple(constants),
            size_in_bytes=branch.size_in_bytes,
            files=self._listing(branch),
            session_conf=by_id if scan.mapping_mode == "id" else {},
        )
        return relation_frame(self._spark, relation)

    def _listing(self, branch: _Branch) -> Listing:
        scan = self._scan
        schema = feed_schema(scan.schema) if scan.is_feed else scan.schema
        last: tuple[Sequence[ScanFile], Predicate | None, Sequence[ScanFile]] = ((), None, ())

        def files(filters: Sequence[str], query: str | None) -> Sequence[ScanFile]:
            nonlocal last
            explain_failures_of(scan)
            zone = session_zone(self._spark)
            predicate = predicate_of(filters, schema, zone)
            planned = scan.files(predicate, query)
            known, answered, selected = last
            if planned is not known or predicate != answered:
                may_match = may_match_by_constants(predicate, scan.table, zone)
                selected = branch.select(planned, may_match)
                check_paths(scan.storage, selected)
                last = (planned, predicate, selected)
                scan.listed.append(selected)
            return selected

        return files

    def _data_schema(self, branch: _Branch, partitions: Mapping[str, StructField]) -> StructType:
        physical = file_schema(self._scan.schema, self._scan.mapping_mode)
        fields = [f for f in physical.fields if f.name not in partitions]
        if branch.change_type_in_file:
            fields.append(StructField("_change_type", StringType()))
        if branch.located:
            fields.append(StructField(ROW_INDEX, LongType()))
        return StructType(fields)

    def _physical_partitions(self) -> dict[str, StructField]:
        names = {name.casefold() for name in self._scan.partition_columns}
        physical = to_spark(physical_schema(self._scan.schema, self._scan.mapping_mode))
        return {
            there.name: there
            for there, here in zip(physical.fields, self._scan.schema.fields, strict=True)
            if here.name.casefold() in names
        }

    def _columns(self) -> list[Item]:
        logical = shown_schema(self._scan.schema)
        physical = file_schema(self._scan.schema, self._scan.mapping_mode)
        columns: list[Item] = [
            _renamed(there, here)
            for there, here in zip(physical.fields, logical.fields, strict=True)
        ]
        if self._scan.is_feed:
            columns += [Named(name) for name in FEED_COLUMNS]
        if self._row_ids:
            columns += [Named(FILE_ID, FILE), Named(ROW_INDEX, ROW)]
        return columns


def is_change_file(file: ScanFile) -> bool:
    """Return whether the rows of a file say themselves what kind of change they are."""
    return file.change is not None and file.change.type is None


_KEEPS_ROWS = Constant(
    _KEEPS, BooleanType(), lambda file: "true" if file.rows.within is not None else "false", False
)


def _partition_value(name: str) -> Callable[[ScanFile], str | None]:
    # An empty text stands for null, whatever the type.
    return lambda file: file.partition_values.get(name) or None


def _feed_constants(*, with_type: bool) -> tuple[Constant, ...]:
    def change_type(file: ScanFile) -> str | None:
        assert file.change is not None
        return file.change.type

    def version(file: ScanFile) -> str:
        assert file.change is not None
        return str(file.change.version)

    def timestamp(file: ScanFile) -> str | None:
        assert file.change is not None
        return timestamp_text(file.change.timestamp_ms)

    constants = (
        Constant("_change_type", StringType(), change_type),
        Constant("_commit_version", LongType(), version),
        Constant("_commit_timestamp", TimestampType(), timestamp),
    )
    return constants if with_type else constants[1:]


def timestamp_text(timestamp_ms: int | None) -> str | None:
    """Return a moment as a text that Spark casts to a timestamp, whatever the session's zone."""
    if timestamp_ms is None:
        return None
    moment = _EPOCH + timedelta(milliseconds=timestamp_ms)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _renamed(there: StructField, here: StructField) -> Item:
    """Return a column of the data files under its logical name, nested names included."""
    if there.name == here.name and there.dataType == here.dataType and not here.metadata:
        return Named(here.name)
    is_cast = there.dataType.simpleString() != here.dataType.simpleString()
    cast = here.dataType if is_cast else None
    return Named(there.name, here.name, cast, here.metadata or {})
