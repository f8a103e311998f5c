"""Spark's file index in Python: ScanFiles as a relation that Spark reads by itself.

Spark's own vectorized Parquet reader moves the rows. Python says which files there are, which of
their rows are read, and which values are the same for every row of a file: the *constants*, which
Spark treats as partition columns and which cost nothing per row.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StructField, StructType

from truckee.errors.spark import DataFileUnreadableError
from truckee.scan.scan_file import ScanFile
from truckee.spark.jvm.bridge import Callback, java_half
from truckee.spark.read.file_rows import FileRead, file_url
from truckee.spark.session.settings import packed_settings, session_zone

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


# Called when a query runs, with the filters that Spark pushed down, as JSON, and a name that all
# parts of one query share (None if Spark only explains a plan).
Listing = Callable[[Sequence[str], str | None], Sequence[FileRead]]


class Relation(NamedTuple):
    """What a relation over ScanFiles is made of."""

    name: str
    root: str
    data_schema: StructType
    constants: tuple[Constant, ...]
    size_in_bytes: int
    is_feed: bool
    files: Listing
    session_conf: Mapping[str, str]


def relation_frame(spark: SparkSession, relation: Relation) -> DataFrame:
    """Return a DataFrame over the files of the relation: data columns, then constants."""
    constant_schema = StructType(
        [StructField(c.name, c.type, c.nullable) for c in relation.constants]
    )
    rows = java_half(spark).rows(
        spark._jsparkSession,
        packed_settings(relation.session_conf),
        relation.name,
        file_url(relation.root, relation.root),
        constant_schema.json(),
        relation.data_schema.json(),
        relation.size_in_bytes,
        relation.is_feed,
        _READ_OPTIONS,
        Callback(_Answer(spark, relation)),
    )
    return DataFrame(rows, spark)


class _Answer:
    """Answers Spark's question which files there are, and remembers the last answer.

    Several threads may ask at once, each with its own filters.
    """

    def __init__(self, spark: SparkSession, relation: Relation) -> None:
        self._spark = spark
        self._relation = relation
        self._last: tuple[Sequence[FileRead], str, Any] = ((), "", None)

    def __call__(self, partition_filters: Any, data_filters: Any) -> Any:
        files = self._relation.files(
            _filters_as_json(self._spark, partition_filters)
            + _filters_as_json(self._spark, data_filters),
            self._spark.sparkContext.getLocalProperty("spark.sql.execution.id"),
        )
        zone = session_zone(self._spark)
        known, known_zone, directories = self._last
        if files is not known or zone != known_zone:
            directories = self._unpacked(files, zone)
            self._last = (files, zone, directories)
        return directories

    def _unpacked(self, reads: Sequence[FileRead], zone: str) -> Any:
        relation = self._relation
        files = [read.file for read in reads]
        packed = pack(reads, root=relation.root, constants=relation.constants)
        types = json.dumps([constant.type.json() for constant in relation.constants])
        unpacked = java_half(self._spark).unpack(packed, len(files), types, zone, self._conf(files))
        if isinstance(unpacked, str):
            raise _malformed(unpacked, files, relation.constants)
        return unpacked

    def _conf(self, files: Sequence[ScanFile]) -> Any:
        """Return Hadoop's settings if the size of some file is unknown, else None."""
        if all(file.size > 0 for file in files):
            return None
        return self._spark._jsparkSession.sessionState().newHadoopConf()


def _malformed(
    place: str, files: Sequence[ScanFile], constants: Sequence[Constant]
) -> DataFileUnreadableError:
    """Return the error for a constant whose text is not of its type; `place` says which."""
    number, column = map(int, place.split())
    file, constant = files[number], constants[column]
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


def _filters_as_json(spark: SparkSession, filters: Any) -> list[str]:
    found: list[str] = json.loads(java_half(spark).jsons(filters))
    return found
