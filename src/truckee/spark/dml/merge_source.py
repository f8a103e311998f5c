"""The source of a MERGE: read once and kept, with its row count and the range of its keys.

A MERGE reads its source two or three times, and most sources might differ the second time. So the
source is kept, and each of its rows gets a number that tells later which rows have matched. A
plain list of values, or a table at a fixed version, is always the same. If no row of such a source
can become a row of the target, the source is not kept, and is read again each time.
"""

from __future__ import annotations

import time
from collections.abc import Collection
from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StructType

from truckee.spark.jvm.bridge import to_column
from truckee.spark.schema_conversion import to_java
from truckee.spark.session.job_descriptions import job_description

NUMBER = "__truckee_source_row"
"""The column with the number of each row of a source that is kept."""

_STEADY_LEAVES = ("LocalRelation", "Range", "OneRowRelation")
_FEED_LABEL = "changes from"
# A row takes this many bytes beside its values; in a hash table, two or three times as many.
_ROW_BYTES = 8
_SENT_TO_EACH_TASK = 32 * 1024 * 1024
# Python's values of these types are exactly those that Spark compares.
_KEY_TYPES = ("byte", "short", "integer", "long", "date", "string")


@dataclass(frozen=True)
class Source:
    """The rows to merge; `keys` is a condition on target rows that every match satisfies.

    None for `keys` means that nothing is known. With `has_numbers`, each row has one of its own in
    the column `NUMBER`, the same each time that it is asked for.
    """

    rows: DataFrame
    num_rows: int
    keys: Column | None
    has_numbers: bool
    materialize_ms: int

    def to_join(self, names: Collection[str]) -> DataFrame:
        """Return the rows to be joined with the target, by columns of these names.

        Spark overestimates the size of a source whose plan it cannot inspect, and would sort the
        target. The number of rows is known here, so a small source is broadcast.
        """
        spark = self.rows.sparkSession
        used = {name.casefold() for name in names}
        columns = [field for field in self.rows.schema.fields if field.name.casefold() in used]
        row_bytes = to_java(spark, StructType(columns)).defaultSize() + _ROW_BYTES
        is_off = str(spark.conf.get("spark.sql.autoBroadcastJoinThreshold")).startswith("-")
        if is_off or self.num_rows * row_bytes > _SENT_TO_EACH_TASK:
            return self.rows
        return F.broadcast(self.rows)


def merge_source(
    source: DataFrame, target: DataFrame, on: Column, *, materialize: str, brings_rows: bool
) -> Source:
    """Return the source of a merge that matches by the condition `on`, safe to read repeatedly.

    `materialize` is `auto`, `all` or `none`; `brings_rows` tells whether rows of the source may
    become rows of the target.
    """
    start = time.monotonic()
    kept = materialize == "all"
    if materialize == "auto":
        kept = brings_rows or not _is_steady(source)
    rows = source
    if kept:
        # Not eager: the count below fills the checkpoint. It also keeps the row numbers, which
        # might differ if they were computed again.
        numbered = source.select("*", F.monotonically_increasing_id().alias(NUMBER))
        rows = numbered.localCheckpoint(eager=False)
    pairs = _equal_keys(source, target, on)
    bounds = [f(pair.compared) for pair in pairs for f in (F.min, F.max)]
    with job_description(source.sparkSession, "reading the source"):
        found = rows.agg(F.count("*"), *bounds).collect()[0]
    keys = [
        pair.between(found[1 + 2 * index], found[2 + 2 * index]) for index, pair in enumerate(pairs)
    ]
    return Source(
        rows,
        int(found[0]),
        reduce(Column.__and__, keys) if keys else None,
        kept,
        int(1000 * (time.monotonic() - start)) if kept else 0,
    )


def kept_rows(source: DataFrame) -> DataFrame:
    """Return rows that are the same each time they are asked for; kept if need be."""
    return source if _is_steady(source) else source.localCheckpoint(eager=False)


class _Pair(NamedTuple):
    """A column of the target, and a value of the source that must be equal to it."""

    key: Column
    value: Column
    is_date: bool

    @property
    def compared(self) -> Column:
        """The source's value as a Python type that holds it: Python's dates end in 9999."""
        return F.unix_date(self.value) if self.is_date else self.value

    def between(self, least: Any, greatest: Any) -> Column:
        """Return whether the key may match, given the bounds of what it is compared with."""
        if least is None:
            return F.lit(False)  # all keys are null, and null matches nothing
        bounds = F.lit(least), F.lit(greatest)
        if self.is_date:
            bounds = F.date_from_unix_date(bounds[0]), F.date_from_unix_date(bounds[1])
        return (self.key >= bounds[0]) & (self.key <= bounds[1])


def _is_steady(source: DataFrame) -> bool:
    """Return whether a DataFrame has the same rows each time it is asked."""
    plan = source._jdf.queryExecution().analyzed()
    if not plan.deterministic():
        return False
    leaves = plan.collectLeaves()
    return all(_is_steady_leaf(leaves.apply(index)) for index in range(leaves.size()))


def _is_steady_leaf(leaf: Any) -> bool:
    if leaf.nodeName() in _STEADY_LEAVES:
        return True
    if not leaf.getClass().getName().endswith(".LogicalRelation"):
        return False
    relation = leaf.relation()
    if not relation.getClass().getName().endswith(".HadoopFsRelation"):
        return False
    index = relation.location()
    is_ours = index.getClass().getName() == "truckee.TruckeeFiles"
    return is_ours and not str(index.toString()).startswith(_FEED_LABEL)


def _equal_keys(source: DataFrame, target: DataFrame, on: Column) -> list[_Pair]:
    """Return the pairs of a target column and a source value that must be equal."""
    plan = target.join(source, on)._jdf.queryExecution().analyzed()
    mine = target._jdf.queryExecution().analyzed().outputSet()
    theirs = source._jdf.queryExecution().analyzed().outputSet()
    pairs = []
    for conjunct in _conjuncts(plan.condition().get()):
        if conjunct.nodeName() != "EqualTo":
            continue
        sides = conjunct.left(), conjunct.right()
        for key, value in (sides, sides[::-1]):
            kind = str(key.dataType().typeName())
            if (
                key.getClass().getSimpleName() == "AttributeReference"
                and kind in _KEY_TYPES
                and key.references().subsetOf(mine)
                and value.references().subsetOf(theirs)
            ):
                spark = target.sparkSession
                pairs.append(_Pair(to_column(spark, key), to_column(spark, value), kind == "date"))
                break
    return pairs


def _conjuncts(expression: Any) -> list[Any]:
    if expression.nodeName() == "And":
        return [*_conjuncts(expression.left()), *_conjuncts(expression.right())]
    return [expression]
