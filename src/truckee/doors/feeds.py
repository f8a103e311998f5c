"""The table functions `table_changes` and `table_changes_by_path`."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone
from typing import Any

from pyspark.sql import functions as F

from truckee.doors.tables import table_name
from truckee.errors.sql import FunctionArgumentError, StatementNotAllowedError
from truckee.readwriter import changes_between
from truckee.spark.dml.statements import ChangesSpec, changes_spec
from truckee.spark.session.catalog_tables import plan_of
from truckee.spark.session.doors import Question

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_VERSIONS = ("integer", "long")
_BY_PATH = "table_changes_by_path"
_MODES = ("NONE", "DROP_CARRYOVERS")


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
    frame = changes_between(
        question.spark,
        table["value"],
        *(_bound(function, bound) for bound in bounds),
        is_path=function == _BY_PATH,
    )
    return plan_of(frame)


def changes_from(question: Question) -> Any:
    """Answer with the plan of CHANGES FROM ... TO ...: an update is a delete and an insert.

    With `computeUpdates`, it is the pre- and postimage of the feed.
    """
    spec = changes_spec(question.objects[0])
    if spec.mode not in _MODES:
        raise StatementNotAllowedError(
            operation=f"CHANGES with deduplicationMode = {spec.mode}", hint="use dropCarryovers"
        )
    name = table_name(question.about)
    frame = changes_between(
        question.spark,
        question.about["path"] if name is None else name,
        *_range(spec),
        is_path=name is None,
    )
    if not spec.computes_updates:
        kind = F.col("_change_type")
        shown = F.when(kind == "update_preimage", "delete").when(
            kind == "update_postimage", "insert"
        )
        frame = frame.withColumn("_change_type", shown.otherwise(kind))
    return plan_of(frame)


def _range(spec: ChangesSpec) -> list[int | datetime]:
    found: list[int | datetime] = []
    start = 0 if spec.start is None else spec.start
    for value, moves in ((start, not spec.with_start), (spec.end, -(not spec.with_end))):
        if value is None:
            continue
        if spec.is_time:
            found.append(_EPOCH + timedelta(microseconds=value + 1000 * moves))
        else:
            found.append(value + moves)
    return found


def _bound(function: str, argument: dict[str, Any]) -> int | str | datetime | None:
    if not argument["constant"]:
        needs = "a constant: a version, or a time"
        raise FunctionArgumentError(function=function, argument=argument["sql"], needs=needs)
    value, kind = argument["value"], argument["type"]
    if value is None:
        return None
    if kind in _VERSIONS:
        return int(value)
    if kind == "string":
        return str(value)
    if kind == "timestamp":
        return _EPOCH + timedelta(microseconds=int(value))
    needs = "a version (INT or BIGINT) or a time (STRING or TIMESTAMP)"
    raise FunctionArgumentError(function=function, argument=argument["sql"], needs=needs)
