"""Statements that Spark has parsed, as values; the names in them are not resolved yet."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from py4j.protocol import Py4JError
from pyspark.sql import Column, SparkSession
from pyspark.sql import functions as F

from truckee.errors.commands.dml import ConflictingAssignmentsError, DuplicateInsertColumnError
from truckee.options.text import version_number
from truckee.spark.jvm.bridge import to_column
from truckee.spark.jvm.projection import quoted

_WHERE = "Where"
_UPDATES, _DELETES, _INSERTS = "Update", "Delete", "Insert"


@dataclass(frozen=True, kw_only=True)
class InsertSpec:
    """What an INSERT says beside its rows.

    `columns` are names for the columns of the rows; `partition` has a text for each static
    partition column, and None for a dynamic one. `condition` says which rows to replace; without
    one, an overwrite replaces all, or with `is_dynamic` those of the partitions that are written.
    """

    columns: tuple[str, ...] = ()
    partition: Mapping[str, str | None] = field(default_factory=dict)
    by_name: bool = False
    overwrites: bool = False
    condition: Column | None = None
    is_dynamic: bool | None = None
    only_new_partitions: bool = False
    replaces_by_match: bool = False
    evolves_schema: bool = False
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class ClauseSpec:
    """A clause of MERGE: what it does, when, and the values it gives; None stands for `*`."""

    does: str
    condition: Column | None
    values: Mapping[str, Column] | None


@dataclass(frozen=True)
class LikeSpec:
    """What CREATE TABLE ... LIKE says beside the two tables."""

    location: str | None
    properties: Mapping[str, str]
    if_not_exists: bool


def like_spec(plan: Any) -> LikeSpec:
    """Return what CREATE TABLE ... LIKE says beside the two tables."""
    location = plan.location()
    return LikeSpec(
        str(location.get()) if location.isDefined() else None,
        {str(pair._1()): str(pair._2()) for pair in _each(plan.properties().toSeq())},
        bool(plan.ifNotExists()),
    )


@dataclass(frozen=True)
class ChangesSpec:
    """The range of CHANGES FROM: versions, or times in microseconds; and how to show changes."""

    start: int | None
    end: int | None
    is_time: bool
    with_start: bool
    with_end: bool
    mode: str
    computes_updates: bool


def changes_spec(plan: Any) -> ChangesSpec:
    """Return what CHANGES FROM ... TO ... says."""
    context = plan.changelogContext()
    bounds = context.range()
    kind = str(bounds.getClass().getSimpleName())
    start = end = None
    if kind == "VersionRange":
        start = version_number("startingVersion", str(bounds.startingVersion()))
        until = bounds.endingVersion()
        end = version_number("endingVersion", str(until.get())) if until.isPresent() else None
    elif kind == "TimestampRange":
        start, end = int(bounds.startingTimestamp()), _optional(bounds.endingTimestamp())
    return ChangesSpec(
        start,
        end,
        kind == "TimestampRange",
        bool(bounds.startingBoundInclusive()),
        bool(bounds.endingBoundInclusive()),
        str(context.deduplicationMode().toString()),
        bool(context.computeUpdates()),
    )


def _optional(found: Any) -> int | None:
    return int(found.get()) if found.isPresent() else None


def partition_pattern(plan: Any) -> dict[str, str]:
    """Return the partition that SHOW PARTITIONS asks for, a text for each of its columns."""
    pattern = plan.pattern()
    if not pattern.isDefined():
        return {}
    return {str(pair._1()): str(pair._2()) for pair in _each(pattern.get().spec().toSeq())}


def delete_condition(spark: SparkSession, plan: Any) -> Column:
    """Return the condition of a DELETE, which is `true` where none is written."""
    return to_column(spark, plan.condition())


def update_condition(spark: SparkSession, plan: Any) -> Column | None:
    """Return the condition of an UPDATE, None for all rows."""
    found = plan.condition()
    return to_column(spark, found.get()) if found.isDefined() else None


def update_values(spark: SparkSession, plan: Any, defaults: Mapping[str, str]) -> dict[str, Column]:
    """Return the new values of an UPDATE by column; `defaults` are for the word DEFAULT."""
    return _values(spark, plan.assignments(), defaults, what="UPDATE")


def merge_condition(spark: SparkSession, plan: Any) -> Column:
    """Return the condition by which the rows of a MERGE match."""
    return to_column(spark, plan.mergeCondition())


def merge_evolves(plan: Any) -> bool:
    """Return whether a MERGE is WITH SCHEMA EVOLUTION."""
    return bool(plan.withSchemaEvolution())


def merge_clauses(
    spark: SparkSession, plan: Any, defaults: Mapping[str, str]
) -> tuple[list[ClauseSpec], list[ClauseSpec], list[ClauseSpec]]:
    """Return the clauses for rows that match, those of the source, and those of the target."""
    kinds = plan.matchedActions(), plan.notMatchedActions(), plan.notMatchedBySourceActions()
    matched, source, target = ([_clause(spark, a, defaults) for a in _each(k)] for k in kinds)
    return matched, source, target


def insert_spec(spark: SparkSession, kind: str, plan: Any) -> InsertSpec:
    """Return what an INSERT, or a write of a DataFrame to a table, says beside its rows."""
    evolves = bool(_asked(plan, "withSchemaEvolution", False))
    if kind == "InsertIntoStatement":
        replaced = _replaced(_asked(plan, "replaceCriteriaOpt", None))
        by_condition = replaced is not None and _WHERE in str(replaced.getClass().getSimpleName())
        return InsertSpec(
            columns=tuple(str(name) for name in _each(plan.userSpecifiedCols())),
            partition=_partition(plan.partitionSpec()),
            by_name=bool(plan.byName()),
            overwrites=bool(plan.overwrite()),
            only_new_partitions=bool(plan.ifPartitionNotExists()),
            condition=_condition(spark, _replaced_where(replaced)) if by_condition else None,
            replaces_by_match=replaced is not None and not by_condition,
            evolves_schema=evolves,
        )
    overwrites = kind != "AppendData"
    return InsertSpec(
        by_name=bool(plan.isByName()),
        overwrites=overwrites,
        condition=_condition(spark, plan.deleteExpr()) if kind == "OverwriteByExpression" else None,
        is_dynamic=kind == "OverwritePartitionsDynamic" if overwrites else None,
        evolves_schema=evolves,
        options=write_options_of(plan),
    )


def write_options_of(plan: Any) -> dict[str, str]:
    """Return the options of a write, as they were given."""
    return {str(pair._1()): str(pair._2()) for pair in _each(plan.writeOptions().toSeq())}


def _clause(spark: SparkSession, action: Any, defaults: Mapping[str, str]) -> ClauseSpec:
    name = str(action.getClass().getSimpleName())
    given = action.condition()
    condition = to_column(spark, given.get()) if given.isDefined() else None
    does = next(verb for verb in (_UPDATES, _DELETES, _INSERTS) if name.startswith(verb))
    if does == _DELETES or "Star" in name:
        return ClauseSpec(does.lower(), condition, None)
    what = f"the {does.upper()} of MERGE"
    values = _values(spark, action.assignments(), defaults, what=what, inserts=does == _INSERTS)
    return ClauseSpec(does.lower(), condition, values)


def _values(
    spark: SparkSession,
    assignments: Any,
    defaults: Mapping[str, str],
    *,
    what: str,
    inserts: bool = False,
) -> dict[str, Column]:
    """Return values by column; raise if a column of the same name has two of them."""
    error = DuplicateInsertColumnError if inserts else ConflictingAssignmentsError
    found: dict[str, Column] = {}
    for each in _each(assignments):
        parts = [str(part) for part in _each(each.key().nameParts())]
        value = each.value()
        if _is_default(value):
            text = defaults.get(parts[-1].casefold())
            column = F.lit(None) if text is None else F.expr(text)
        else:
            column = to_column(spark, value)
        name = ".".join(quoted(part) for part in parts)
        if name in found:
            raise error(what=what, column=name, other=name)
        found[name] = column
    return found


def _is_default(value: Any) -> bool:
    if value.getClass().getSimpleName() != "UnresolvedAttribute":
        return False
    return str(value.name()).casefold() == "default"


def _condition(spark: SparkSession, expression: Any) -> Column | None:
    is_true = expression.getClass().getSimpleName() == "Literal" and str(expression) == "true"
    return None if is_true else to_column(spark, expression)


def _partition(spec: Any) -> dict[str, str | None]:
    return {
        str(pair._1()): str(pair._2().get()) if pair._2().isDefined() else None
        for pair in _each(spec.toSeq())
    }


def _each(items: Any) -> Iterator[Any]:
    return (items.apply(index) for index in range(items.size()))


def _replaced(option: Any) -> Any:
    """Return the condition on the rows that an INSERT replaces, None if it has none."""
    return option.get() if option is not None and option.isDefined() else None


def _replaced_where(criteria: Any) -> Any:
    return criteria.productElement(0)


def _asked(plan: Any, name: str, otherwise: Any) -> Any:
    """Return a field of a plan, or a default: plans of an older Spark may lack it."""
    try:
        return getattr(plan, name)()
    except Py4JError:
        return otherwise
