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

from truckee.scan.scan_file import ScanFile
from truckee.spark.jvm import Callback, gateway, index_maker, java_array
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
    jvm = gateway(spark).jvm
    constant_schema = StructType([StructField(c.name, c.type) for c in relation.constants])
    index = _java_index(spark, relation, to_java(spark, constant_schema))
    session = _session(spark, relation.session_conf)
    sources = jvm.org.apache.spark.sql.execution.datasources
    fs_relation = sources.HadoopFsRelation(
        index,
        to_java(spark, constant_schema),
        to_java(spark, relation.data_schema),
        getattr(jvm, "scala.Option").empty(),
        sources.parquet.ParquetFileFormat(),
        jvm.PythonUtils.toScalaMap(_READ_OPTIONS),
        session,
    )
    return DataFrame(session.baseRelationToDataFrame(fs_relation), spark)


def file_url(root: str, path: str) -> str:
    """Return where a file is, as Hadoop spells it: with a scheme, and nothing percent-encoded."""
    full = path if path.startswith("/") or ":/" in path.partition("?")[0][:16] else f"{root}/{path}"
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
    """Spark's question which files there are, answered; the last answer is remembered."""

    def __init__(self, spark: SparkSession, relation: Relation) -> None:
        self._spark = spark
        self._relation = relation
        self._files: Sequence[ScanFile] | None = None
        self._directories: Any = None

    def __call__(self, partition_filters: Any, data_filters: Any) -> Any:
        files = self._relation.files(
            _filters_as_json(self._spark, partition_filters)
            + _filters_as_json(self._spark, data_filters),
            self._spark.sparkContext.getLocalProperty("spark.sql.execution.id"),
        )
        if files is not self._files:
            self._directories = self._unpacked(files)
            self._files = files
        return self._directories

    def _unpacked(self, files: Sequence[ScanFile]) -> Any:
        relation = self._relation
        packed = pack(files, root=relation.root, constants=relation.constants)
        casts = java_array(
            self._spark,
            "org.apache.spark.sql.catalyst.expressions.Expression",
            _casts(self._spark, relation.constants),
        )
        return index_maker(self._spark).unpack(packed, len(files), casts)


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
            append("-" if text is None else f"+{text}")
    append("")
    return "\0".join(fields)


def _casts(spark: SparkSession, constants: Sequence[Constant]) -> list[Any]:
    """Return Catalyst expressions that turn a row of texts into the typed constants.

    A text that is not of its type is an error: it would be a null in the table otherwise.
    """
    jvm = gateway(spark).jvm
    expressions = jvm.org.apache.spark.sql.catalyst.expressions
    text_type = spark._jsparkSession.parseDataType('"string"')
    zone = jvm.scala.Option.apply(spark.conf.get("spark.sql.session.timeZone"))
    strict = getattr(jvm, "org.apache.spark.sql.catalyst.expressions.EvalMode").ANSI()
    casts = []
    for position, constant in enumerate(constants):
        text = expressions.BoundReference(position, text_type, True)
        if isinstance(constant.type, StringType):
            casts.append(text)
            continue
        java_type = spark._jsparkSession.parseDataType(constant.type.json())
        casts.append(expressions.Cast(text, java_type, zone, strict))
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
