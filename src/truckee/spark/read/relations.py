"""A scan as one relation that Spark reads: Spark's file index, written in Python.

Spark's own vectorized Parquet reader moves the rows. Python says which files there are, which of
their rows are read, and which values are the same for every row of a file: the *constants*, which
Spark treats as partition columns and which cost nothing per row.

Columns are read by the names (or ids) that they have in data files, and then given their logical
names and types. Three kinds of columns are not read:

| column                          | where its values come from                                 |
|---------------------------------|------------------------------------------------------------|
| partition columns, `FILE`       | constants of a file                                        |
| `ROW`, the feed's three columns | the reader, for each row (see `TruckeeFormat.java`)        |
| `_change_type` of change files  | the file                                                   |
| the ids of `_metadata`          | the file, or the reader for rows that have none there      |
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import msgspec
from msgspec import Struct
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import (
    DataType,
    IntegerType,
    LongType,
    StringType,
    StructField,
    StructType,
    TimestampType,
)

from truckee.changes.file_index import matching_files
from truckee.changes.read_schema import feed_schema
from truckee.errors.spark import DataFileUnreadableError
from truckee.protocol.json_text import LARGEST_INT64
from truckee.protocol.predicates import Predicate
from truckee.protocol.schema import physical_schema
from truckee.scan.scan_file import BELIEVED_SIZE, ScanFile, check_paths
from truckee.spark.jvm.bridge import Callback, java_half
from truckee.spark.jvm.projection import Item, Named, selected
from truckee.spark.read.catalyst_predicates import predicate_of
from truckee.spark.read.read_errors import explain_failures_of
from truckee.spark.read.scan import FileRead, Scan, file_reads, file_url
from truckee.spark.schema_conversion import file_schema, public_schema, to_spark
from truckee.spark.session.settings import packed_settings
from truckee.storage.urls import hadoop_url

FILE = "__truckee_file"
ROW = "__truckee_row"
_FEED_FIELDS = (
    StructField("_change_type", StringType()),
    StructField("_commit_version", LongType()),
    StructField("_commit_timestamp", TimestampType()),
)


def scan_frame(
    spark: SparkSession, scan: Scan, *, row_ids: bool = False, whole_files: bool = False
) -> DataFrame:
    """Return the rows of a scan.

    With `whole_files`, a file is not split into tasks, so it is opened once. With `row_ids`, two
    columns more say where each row is: `FILE`, a number that `scan.registry.file` turns into a
    ScanFile, and `ROW`, its position in that file.
    """
    partitions = _physical_partitions(scan)
    constants = [
        Constant(field.name, field.dataType, _partition_value(field.name), field.nullable)
        for field in partitions.values()
    ]
    if row_ids:
        number = scan.registry.file_id
        constants.append(Constant(FILE, IntegerType(), lambda f: str(number(f)), False))
    constant_schema = StructType([StructField(c.name, c.type, c.nullable) for c in constants])
    by_id = {"spark.sql.parquet.fieldId.read.enabled": "true"}
    rows = java_half(spark).rows(
        spark._jsparkSession,
        packed_settings(by_id if scan.mapping_mode == "id" else {}),
        scan.name,
        hadoop_url(scan.storage.root),
        constant_schema.json(),
        _data_schema(scan, partitions, row_ids=row_ids).json(),
        min(max(0, scan.size_in_bytes), LARGEST_INT64),
        scan.rows,
        scan.is_feed,
        json.dumps(scan.row_ids),
        {**_READ_OPTIONS, "wholeFiles": str(whole_files).lower()},
        Callback(_Answer(spark, scan, constants)),
    )
    return selected(DataFrame(rows, spark), _columns(scan, row_ids=row_ids))


def _data_schema(scan: Scan, partitions: Mapping[str, StructField], *, row_ids: bool) -> StructType:
    physical = file_schema(scan.schema, scan.mapping_mode)
    fields = [f for f in physical.fields if f.name not in partitions]
    if scan.is_feed:
        fields += _FEED_FIELDS
    if row_ids:
        fields.append(StructField(ROW, LongType()))
    return StructType(fields)


def _physical_partitions(scan: Scan) -> dict[str, StructField]:
    names = {name.casefold() for name in scan.partition_columns}
    physical = to_spark(physical_schema(scan.schema, scan.mapping_mode))
    return {
        there.name: there
        for there, here in zip(physical.fields, scan.schema.fields, strict=True)
        if here.name.casefold() in names
    }


def _columns(scan: Scan, *, row_ids: bool) -> list[Item]:
    logical = public_schema(scan.schema)
    physical = file_schema(scan.schema, scan.mapping_mode)
    columns: list[Item] = [
        _renamed(there, here) for there, here in zip(physical.fields, logical.fields, strict=True)
    ]
    if scan.is_feed:
        columns += [Named(field.name) for field in _FEED_FIELDS]
    if row_ids:
        columns += [Named(FILE), Named(ROW)]
    return columns


def _partition_value(name: str) -> Callable[[ScanFile], str | None]:
    # An empty text stands for null, whatever the type.
    return lambda file: file.partition_values.get(name) or None


def _renamed(there: StructField, here: StructField) -> Item:
    """Return a column of the data files under its logical name, nested names included."""
    if there.name == here.name and there.dataType == here.dataType and not here.metadata:
        return Named(here.name)
    is_cast = there.dataType.simpleString() != here.dataType.simpleString()
    cast = here.dataType if is_cast else None
    return Named(there.name, here.name, cast, here.metadata or {})


PIECE = 10_000
"""How many files cross to the JVM in one text."""

COMMAND = "truckee.command"
"""A property of Spark's threads: the name of a command."""
running_commands: set[str] = set()
"""The names of commands that run; a thread may keep the property for longer."""

# These settings are fixed: with others, Spark would ignore missing or corrupt files, or would read
# according to the session's settings.
_READ_OPTIONS = {
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "mergeSchema": "false",
}


class Constant(NamedTuple):
    """A column with one value for each file: its name, its type, and its text for a given file."""

    name: str
    type: DataType
    text: Callable[[ScanFile], str | None]
    nullable: bool = True


class _Question(Struct, frozen=True):
    """What the JVM knows when it asks for files: see `TruckeeFiles.question`."""

    filters: list[str]
    zone: str
    query: str | None
    command: str | None

    @property
    def name(self) -> str | None:
        """The name of the command, if it still runs, else that of the query."""
        return self.command if self.command in running_commands else self.query


_question = msgspec.json.Decoder(_Question)


class _Answer:
    """Answers Spark's question which files there are, and remembers the last answer.

    Several threads may ask at once, each with its own filters.
    """

    def __init__(self, spark: SparkSession, scan: Scan, constants: Sequence[Constant]) -> None:
        self._spark = spark
        self._scan = scan
        self._constants = constants
        self._schema = feed_schema(scan.schema) if scan.is_feed else scan.schema
        self._last: tuple[Sequence[ScanFile], Predicate | None, str, Any] = ((), None, "", None)

    def __call__(self, question: str, _: None) -> Any:
        asked, scan = _question.decode(question), self._scan
        explain_failures_of(scan)
        predicate = predicate_of(asked.filters, self._schema, asked.zone)
        planned = scan.files(predicate, asked.name, asked.zone)
        known, *of_answer, directories = self._last
        if planned is not known or of_answer != [predicate, asked.zone]:
            chosen = planned
            if scan.is_feed:
                chosen = matching_files(planned, predicate, scan.table, asked.zone)
            reads = file_reads(chosen, scan.storage.root)
            check_paths(scan.storage, chosen)
            scan.listed.append(chosen)
            directories = self._unpacked(reads, asked.zone)
            self._last = (planned, predicate, asked.zone, directories)
        return directories

    def _unpacked(self, reads: Sequence[FileRead], zone: str) -> Any:
        """Return the files as the JVM has them, in as few calls as fit their text."""
        types = json.dumps([constant.type.json() for constant in self._constants])
        half, conf, directories = java_half(self._spark), self._conf(reads), None
        for first in range(0, max(1, len(reads)), PIECE):
            piece = reads[first : first + PIECE]
            packed = pack(piece, root=self._scan.storage.root, constants=self._constants)
            directories = half.unpack(
                directories, len(reads), first, len(piece), packed, types, zone, conf
            )
            if isinstance(directories, str):
                raise _malformed(directories, reads, self._constants)
        return directories

    def _conf(self, reads: Sequence[FileRead]) -> Any:
        """Return Hadoop's settings if some file is to be asked for its size, else None."""
        if all(0 < read.file.size <= BELIEVED_SIZE for read in reads):
            return None
        return self._spark._jsparkSession.sessionState().newHadoopConf()


def _malformed(
    place: str, reads: Sequence[FileRead], constants: Sequence[Constant]
) -> DataFileUnreadableError:
    """Return the error for a constant whose text is not of its type; `place` says which."""
    number, column = map(int, place.split())
    file, constant = reads[number].file, constants[column]
    return DataFileUnreadableError(
        path=file.path,
        version=file.version,
        reason=f"its partition value {constant.text(file)!r} for {constant.name} "
        f"is not of type {constant.type.simpleString()}",
    )


def _missing(file: ScanFile, constant: Constant) -> DataFileUnreadableError:
    """Return the error for a file without a value; Spark would use some other value instead."""
    return DataFileUnreadableError(
        path=file.path,
        version=file.version,
        reason=f"it has no value for {constant.name}, which is NOT NULL",
    )


def pack(reads: Sequence[FileRead], *, root: str, constants: Sequence[Constant]) -> str:
    """Return the files as the one text that `TruckeeFiles.unpack` reads."""
    fields: list[str] = []
    append = fields.append
    for file, rows in reads:
        append(file_url(root, file.path))
        append(str(file.size))
        append(str(file.modification_time))
        append(rows)
        append(_row_tracking(file))
        for constant in constants:
            text = constant.text(file)
            if text is None:
                if not constant.nullable:
                    raise _missing(file, constant)
                append("-")
            else:
                append(f"+{text}" if "\0" not in text else f"={text.encode().hex()}")
    append("")
    return "\0".join(fields)


def _row_tracking(file: ScanFile) -> str:
    if file.base_row_id is None:
        return ""
    version = file.default_row_commit_version
    return f"{file.base_row_id} {'' if version is None else version}"
