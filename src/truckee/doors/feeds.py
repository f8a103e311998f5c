"""Feeds in SQL: the functions `table_changes` and `table_changes_by_path`, and CHANGES FROM."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from truckee.commands.catalog import delta_location
from truckee.doors.tables import table_name
from truckee.errors.sql import (
    ArgumentNotConstantError,
    FunctionArgumentError,
    PathArgumentError,
)
from truckee.options.feed_shape import COMPUTE_UPDATES, DEDUPLICATION_MODE
from truckee.options.text import Options
from truckee.protocol.paths import is_absolute
from truckee.readwriter import changes_between
from truckee.spark.dml.statements import ChangesSpec, changes_spec
from truckee.spark.session.catalog_tables import plan_of
from truckee.spark.session.doors import Question
from truckee.streaming.fast_lane import stream_frame

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_FIRST = datetime.min.replace(tzinfo=timezone.utc)
_LAST = datetime.max.replace(tzinfo=timezone.utc)
_VERSIONS = ("integer", "long")
_BY_PATH = "table_changes_by_path"
_NET_CHANGES = "NET_CHANGES"
# Spark has read these options before it asks.
_OF_SPARK = frozenset(
    {
        "startingversion",
        "endingversion",
        "startingtimestamp",
        "endingtimestamp",
        "startingboundinclusive",
        "endingboundinclusive",
        "deduplicationmode",
        "computeupdates",
    }
)


def changes(question: Question) -> Any:
    """Answer with the plan that reads a feed."""
    function, arguments = question.about["function"], question.about["arguments"]
    if len(arguments) not in (2, 3):
        raise FunctionArgumentError(
            function=function, argument=f"{len(arguments)} arguments", needs="2 or 3"
        )
    table, *bounds = arguments
    if table["type"] != "string" or not table["constant"] or table["value"] is None:
        raise FunctionArgumentError(function=function, argument=table["sql"], needs="a text")
    if function != _BY_PATH and is_absolute(table["value"]):
        place = f"'{table['value']}'"
        raise PathArgumentError(function=function, argument=place, needs="the name of a table")
    frame = changes_between(
        question.spark,
        table["value"],
        *(_bound(function, bound) for bound in bounds),
        is_path=function == _BY_PATH,
    )
    return plan_of(frame)


def changes_from(question: Question) -> Any:
    """Answer with the plan of CHANGES FROM ... TO ..., or of `spark.read.changes`; or of a stream.

    Updates are a delete and an insert; with `computeUpdates` they are the two images of the feed.
    """
    spec, spark = changes_spec(question.objects[0]), question.spark
    given = Options(question.about["options"])
    shape = {**_shape(spec), **{k: v for k, v in given.items() if k.lower() not in _OF_SPARK}}
    name = table_name(question.about)
    path = question.about["path"] if name is None else delta_location(spark, name)
    if question.about["is_stream"]:
        frame = stream_frame(spark, path, {"readChangeFeed": True, **_start(spec), **shape})
    else:
        frame = changes_between(spark, path, *_range(spec), is_path=True, options=shape)
    return plan_of(frame if spec.computes_updates else _without_updates(frame))


def _shape(spec: ChangesSpec) -> dict[str, object]:
    """Return the options of a feed for what Spark's own two options ask for.

    The recorded feed has no rows that were only moved, so there is nothing to drop of it.
    """
    if spec.mode != _NET_CHANGES:
        return {}
    return {DEDUPLICATION_MODE: "netChanges", COMPUTE_UPDATES: spec.computes_updates}


def _without_updates(frame: DataFrame) -> DataFrame:
    kind = F.col("_change_type")
    shown = F.when(kind == "update_preimage", "delete").when(kind == "update_postimage", "insert")
    return frame.withColumn("_change_type", shown.otherwise(kind))


def _start(spec: ChangesSpec) -> dict[str, object]:
    if spec.start is None:
        return {}
    (start,) = _range(replace(spec, end=None))
    if isinstance(start, datetime):
        return {"startingTimestamp": start.isoformat(sep=" ")}
    return {"startingVersion": start}


def _range(spec: ChangesSpec) -> list[int | datetime]:
    found: list[int | datetime] = []
    start = 0 if spec.start is None else spec.start
    for value, moves in ((start, not spec.with_start), (spec.end, -(not spec.with_end))):
        if value is None:
            continue
        if spec.is_time:
            found.append(_moment(value + 1000 * moves))
        else:
            found.append(value + moves)
    return found


def _bound(function: str, argument: dict[str, Any]) -> int | str | datetime | None:
    if not argument["constant"]:
        needs = "a constant: a version, or a time"
        raise ArgumentNotConstantError(function=function, argument=argument["sql"], needs=needs)
    value, kind = argument["value"], argument["type"]
    if value is None:
        return None
    if kind in _VERSIONS:
        return int(value)
    if kind == "string":
        return str(value)
    if kind == "timestamp":
        return _moment(int(value))
    needs = "a version (INT or BIGINT) or a time (STRING or TIMESTAMP)"
    raise FunctionArgumentError(function=function, argument=argument["sql"], needs=needs)


def _moment(micros: int) -> datetime:
    """Return a time; one beyond Python's years is the last or first, where no commit is either."""
    try:
        return _EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return _LAST if micros > 0 else _FIRST
