"""The format `delta`: what Spark's readers, writers and streams ask of it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import msgspec

from truckee.commands.write.options import WRITE_OPTIONS, save_mode, write_options
from truckee.commands.write.plan import Write
from truckee.commands.write.write import write_table
from truckee.errors.caller_lines import warn_caller
from truckee.errors.commands.create import NoPathGivenError
from truckee.options.text import Options, UnknownOptionWarning, warn_of_unknown
from truckee.protocol.property_kinds import parse_column_names
from truckee.protocol.schema import StructType, parse_schema, type_text
from truckee.readwriter import load_path
from truckee.spark.read.stream_source import java_source
from truckee.spark.schema_conversion import to_java
from truckee.spark.session.catalog_tables import no_relation, relation_of
from truckee.spark.session.doors import Question
from truckee.spark.session.settings import session_settings, session_storage
from truckee.streaming.fast_lane import Lane, open_lane
from truckee.streaming.sink import BatchSink

_PARTITIONS, _CLUSTERING = "__partition_columns", "__clustering_columns"
_NOT_FOR_TABLES = ("path", "checkpointlocation", _PARTITIONS, _CLUSTERING)
_MODES = {"errorifexists": "error"}


def read_by_path(question: Question) -> Any:
    """Answer with the rows of a table by its path, or with its feed."""
    options = _options(question)
    frame = load_path(question.spark, _path(options), _own(options))
    return relation_of(question.spark, question.objects[0], frame)


def write_by_path(question: Question) -> Any:
    """Write the rows of a DataFrame to a table by its path."""
    spark, options = question.spark, _options(question)
    text = Options(_own(options))
    warn_of_unknown(text, WRITE_OPTIONS, what="a write")
    parsed = write_options(text, session_settings(spark))
    mode = question.about["mode"].lower()
    write_table(
        question.frame(0),
        Write(
            storage=session_storage(spark, _path(options), parsed.store),
            mode=save_mode(_MODES.get(mode, mode)),
            partition_by=_names(options, _PARTITIONS),
            cluster_by=_cluster_by(options),
            options=parsed,
            cuts_off=False,
        ),
    )
    return no_relation(spark, question.objects[1])


def stream_schema(question: Question) -> Any:
    """Answer with the columns of a table as a stream."""
    options = _options(question)
    lane = open_lane(question.spark, _path(options), _own(options))
    if question.about["given"] is not None:
        _tell_given(parse_schema(question.about["given"]), lane)
    return to_java(question.spark, lane.schema)


def _tell_given(given: StructType, lane: Lane) -> None:
    """Warn of given columns that are not the table's, and so have no effect.

    They are no error: for a stream by name Spark gives those of the catalog, which may be old.
    """
    told, found = type_text(given), type_text(lane.read.read.schema)
    if given.fields and told != found:
        text = f"the schema {told} has no effect on the stream, whose columns are {found}"
        warn_caller(text, UnknownOptionWarning)


def stream(question: Question) -> Any:
    """Answer with the source of one run of a query."""
    spark, options = question.spark, _options(question)
    lane = open_lane(spark, _path(options), _own(options))
    return java_source(
        spark, lane.name, lane.schema, lane.source(spark, question.about["checkpoint"])
    )


def check_sink(question: Question) -> None:
    """Raise if a stream cannot be written to a table."""
    _sink(question)


def batch(question: Question) -> None:
    """Write one batch of a stream, once."""
    about = question.about
    _sink(question).write(question.frame(0), about["number"], about["tables_read"])


def _sink(question: Question) -> BatchSink:
    options = _options(question)
    return BatchSink(
        _path(options),
        outputMode=question.about["output_mode"],
        partitionBy=question.about["partitions"] or None,
        options=_own(options),
        cluster_by=_cluster_by(options),
    )


def _options(question: Question) -> dict[str, str]:
    options: dict[str, str] = question.about["options"]
    return options


def _own(options: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in options.items() if key.lower() not in _NOT_FOR_TABLES}


def _path(options: Mapping[str, str]) -> str:
    path = Options(options).get("path")
    if path is None:
        raise NoPathGivenError
    return path


def _cluster_by(options: Mapping[str, str]) -> tuple[tuple[str, ...], ...]:
    return tuple(parse_column_names(name)[0] for name in _names(options, _CLUSTERING) or ())


def _names(options: Mapping[str, str], key: str) -> tuple[str, ...] | None:
    text = options.get(key)
    return None if text is None else tuple(msgspec.json.decode(text, type=list[str]))
