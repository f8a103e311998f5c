"""Spark's file index in Python: ScanFiles as a relation that Spark reads by itself.

The rows are moved by Spark's own vectorized Parquet reader. What Python adds is which files there
are, and what is the same for every row of a file: the *constants*, which Spark knows as partition
columns and which cost nothing per row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import DataType, StringType, StructField, StructType

from truckee.errors.spark import DataFileUnreadableError
from truckee.protocol.paths import is_absolute
from truckee.scan.scan_file import ScanFile
from truckee.spark.conf import session_zone
from truckee.spark.jvm import Callback, index_maker, java_array, java_class
from truckee.spark.types import to_java

# What Spark would let pass in silence, or read according to the session's whims, is fixed here.
_READ_OPTIONS = {
    "ignoreMissingFiles": "false",
    "ignoreCorruptFiles": "false",
    "mergeSchema": "false",
}


class Constant(NamedTuple):
    """A column that has one value a file: its name, its type, and its text for a given file."""

    name: str
    type: DataType
    text: Callable[[ScanFile], str | None]
    nullable: bool = True


# Asked when a query runs, with the filters that Spark has pushed down as JSON, and a name that all
# parts of one query share (None where Spark only explains a plan).
Listing = Callable[[Sequence[str], str | None], Sequence[ScanFile]]


class Relation(NamedTuple):
    """What a relation over ScanFiles is made of."""

    name: str
    root: str
    data_schema: StructType
    constants: tuple[Constant, ...]
    size_in_bytes: int
    files: Listing
    session_conf: Mapping[str, str]


def relation_frame(spark: SparkSession, relation: Relation) -> DataFrame:
    """Return a DataFrame over the files of the relation: data columns, then constants."""
    constant_schema = StructType(
        [StructField(c.name, c.type, c.nullable) for c in relation.constants]
    )
    index = _java_index(spark, relation, to_java(spark, constant_schema))
    session = _session(spark, relation.session_conf)
    sources = "org.apache.spark.sql.execution.datasources"
    fs_relation = java_class(spark, f"{sources}.HadoopFsRelation")(
        index,
        to_java(spark, constant_schema),
        to_java(spark, relation.data_schema),
        java_class(spark, "scala.Option").empty(),
        java_class(spark, f"{sources}.parquet.ParquetFileFormat")(),
        java_class(spark, "org.apache.spark.api.python.PythonUtils").toScalaMap(_READ_OPTIONS),
        session,
    )
    frame = session.baseRelationToDataFrame(fs_relation)
    if session is not spark._jsparkSession:
        # Only the reader of the files needs the copy. What is made of their rows belongs to the
        # user's session, with its views and settings.
        datasets = java_class(spark, "org.apache.spark.sql.classic.Dataset")
        frame = datasets.ofRows(spark._jsparkSession, frame.logicalPlan())
    return DataFrame(frame, spark)


def file_url(root: str, path: str) -> str:
    """Return where a file is, as Hadoop spells it: with a scheme, and nothing percent-encoded."""
    full = path if is_absolute(path) else f"{root}/{path}"
    return f"file://{full}" if full.startswith("/") else full


def _java_index(spark: SparkSession, relation: Relation, constant_schema: Any) -> Any:
    return index_maker(spark).index(
        relation.name,
        file_url(relation.root, relation.root),
        constant_schema,
        relation.size_in_bytes,
        Callback(_Answer(spark, relation)),
    )


class _Answer:
    """Spark's question which files there are, answered; the last answer is remembered.

    Several threads may ask at once, each with filters of its own.
    """

    def __init__(self, spark: SparkSession, relation: Relation) -> None:
        self._spark = spark
        self._relation = relation
        self._last: tuple[Sequence[ScanFile], str, Any] = ((), "", None)

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

    def _unpacked(self, files: Sequence[ScanFile], zone: str) -> Any:
        relation = self._relation
        packed = pack(files, root=relation.root, constants=relation.constants)
        casts = java_array(
            self._spark,
            "org.apache.spark.sql.catalyst.expressions.Expression",
            _casts(self._spark, relation.constants, zone),
        )
        unpacked = index_maker(self._spark).unpack(packed, len(files), casts, self._conf(files))
        if isinstance(unpacked, str):
            raise _malformed(unpacked, files, relation.constants)
        return unpacked

    def _conf(self, files: Sequence[ScanFile]) -> Any:
        """Return Hadoop's settings if some file has to be asked for its size, else None."""
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


def pack(files: Sequence[ScanFile], *, root: str, constants: Sequence[Constant]) -> str:
    """Return the files as the one text that `TruckeeFiles.unpack` reads."""
    fields: list[str] = []
    append = fields.append
    for file in files:
        append(file_url(root, file.path))
        append(str(file.size))
        append(str(file.modification_time))
        for constant in constants:
            text = constant.text(file)
            if text is None:
                append("-")
            else:
                append(f"+{text}" if "\0" not in text else f"={text.encode().hex()}")
    append("")
    return "\0".join(fields)


def _casts(spark: SparkSession, constants: Sequence[Constant], session_zone: str) -> list[Any]:
    """Return Catalyst expressions that turn a row of texts into the typed constants.

    A text that is not of its type is an error: it would be a null in the table otherwise.
    """
    expressions = "org.apache.spark.sql.catalyst.expressions"
    reference = java_class(spark, f"{expressions}.BoundReference")
    cast = java_class(spark, f"{expressions}.Cast")
    text_type = spark._jsparkSession.parseDataType('"string"')
    zone = java_class(spark, "scala.Option").apply(session_zone)
    strict = java_class(spark, f"{expressions}.EvalMode").ANSI()
    casts = []
    for position, constant in enumerate(constants):
        text = reference(position, text_type, True)
        if isinstance(constant.type, StringType):
            casts.append(text)
            continue
        java_type = spark._jsparkSession.parseDataType(constant.type.json())
        casts.append(cast(text, java_type, zone, strict))
    return casts


def _filters_as_json(spark: SparkSession, filters: Any) -> list[str]:
    maker = index_maker(spark)
    return [maker.json(filters.apply(position)) for position in range(filters.size())]


def _session(spark: SparkSession, conf: Mapping[str, str]) -> Any:
    """Return the JVM's session, or a copy of it with some settings changed."""
    session = spark._jsparkSession
    if not conf:
        return session
    copy = session.cloneSession()
    for key, value in conf.items():
        copy.conf().set(key, value)
    return copy
