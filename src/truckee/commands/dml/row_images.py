"""Old rows and new values -> rows of the table and, with the feed on, change rows.

One pass over the old rows makes all of them. The table shows the `_change_type` of the rows that
come from one row. Rows with null go to data files. The others go to change files, which are only
written if the feed is on:

| what happens to the row | resulting rows                                                      |
|-------------------------|---------------------------------------------------------------------|
| it is updated           | `update_preimage` (old), `update_postimage` (new), null (new)       |
| it is inserted          | `insert`, null                                                      |
| it is deleted           | `delete`                                                            |
| it is copied            | null                                                                |
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import NamedTuple

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StructField, StructType

from truckee.changes.columns import CHANGE_TYPE
from truckee.protocol.column_metadata import GENERATION_EXPRESSION_KEY
from truckee.protocol.schema import StructType as TableSchema
from truckee.spark.jvm.projection import Given, Item, Named, Sql, column, quoted, selected
from truckee.spark.schema_conversion import bare_schema, to_spark
from truckee.spark.write.table_sql import generated_value

_OLD = "__truckee_old_"
_NEW = "__truckee_new_"
_WAY = "__truckee_way"
_IMAGES = (
    f"CASE WHEN {_WAY} IS NOT NULL THEN array('update_preimage', 'update_postimage', NULL) "
    "ELSE array(CAST(NULL AS STRING)) END"
)
_IS_OLD = f"{CHANGE_TYPE} <=> 'update_preimage'"

Old = Callable[[str, str], Item]
"""Gives the old value of a column of the table, by its name, under another name."""


class NewValues(NamedTuple):
    """One way in which a row may change: where it applies, and new values by column."""

    applies: Column
    values: Mapping[str, Column]


def updated_rows(
    rows: DataFrame, schema: TableSchema, ways: Sequence[NewValues], *, old: Old, has_feed: bool
) -> DataFrame:
    """Return rows of a table with new values, by the first of the ways that applies to each.

    If none applies, the row is copied. Generated columns that get no value are computed from the
    new values of the others.
    """
    both, changing = _old_and_new(rows, schema, ways, old)
    if not has_feed:
        return selected(both, map(Named, schema.names))
    kinds = both.selectExpr("*", f"explode({_IMAGES}) AS {CHANGE_TYPE}")
    images: list[Item] = [
        Sql(f"CASE WHEN {_IS_OLD} THEN {_old(name)} ELSE {quoted(name)} END", name)
        if name in changing
        else Named(name)
        for name in schema.names
    ]
    return selected(kinds, [*images, Named(CHANGE_TYPE)])


def inserted_rows(
    rows: DataFrame, schema: TableSchema, ways: Sequence[NewValues], *, has_feed: bool
) -> DataFrame:
    """Return new rows of a table, by the first of the ways that applies to each of `rows`.

    If none applies, the row is left out. Columns that get no value are null or generated.
    """
    both, _ = _old_and_new(rows, schema, ways, lambda _, alias: Sql("NULL", alias))
    both = selected(both.where(f"{_WAY} IS NOT NULL"), map(Named, schema.names))
    if not has_feed:
        return both
    return both.selectExpr("*", f"explode(array('insert', NULL)) AS {CHANGE_TYPE}")


def unchanged_rows(
    rows: DataFrame, schema: TableSchema, *, old: Old, change_type: str | None, has_feed: bool
) -> DataFrame:
    """Return rows of a table as they are, as copies or with a change type of their own."""
    fields = to_spark(bare_schema(schema)).fields
    same = selected(rows, (old(name, name) for name in schema.names)).to(StructType(fields))
    if not has_feed:
        return same
    return same.withColumn(CHANGE_TYPE, F.lit(change_type).cast("string"))


def _old_and_new(
    rows: DataFrame, schema: TableSchema, ways: Sequence[NewValues], old: Old
) -> tuple[DataFrame, Collection[str]]:
    """Return the new rows with the old values of the columns that change, and these columns.

    `_WAY` is the number of the way in which the row changes, null if it does not.
    """
    given = {name for way in ways for name in way.values}
    computed = [
        field
        for field in schema.fields
        if GENERATION_EXPRESSION_KEY in field.metadata and field.name not in given
    ]
    changing = given | {field.name for field in computed}
    # The values of a way are not computed for rows to which it does not apply: that might fail.
    before = [old(name, _staged_name(name, changing)) for name in schema.names]
    after = [
        Given(value, f"{_NEW}{number}_{name}", when=way.applies)
        for number, way in enumerate(ways)
        for name, value in way.values.items()
    ]
    way = Given(_first_that_applies(ways), _WAY)
    staged_schema = _staged_schema(schema, ways, changing)
    staged = selected(rows, [*before, *after, way]).to(staged_schema)
    new = [Sql(_new_value(name, ways), name) for name in schema.names if name in changing]
    both = selected(staged, [*map(Named, staged_schema.names), *new])
    if not computed:
        return both, changing
    is_new = column(_WAY).isNotNull()
    generated = {
        field.name: F.when(is_new, generated_value(field)).otherwise(column(f"{_OLD}{field.name}"))
        for field in computed
    }
    return both.withColumns(generated), changing


def _staged_name(name: str, changing: Collection[str]) -> str:
    return f"{_OLD}{name}" if name in changing else name


def _staged_schema(
    schema: TableSchema, ways: Sequence[NewValues], changing: Collection[str]
) -> StructType:
    types = {field.name: field.dataType for field in to_spark(bare_schema(schema)).fields}
    old = [StructField(_staged_name(name, changing), types[name]) for name in schema.names]
    new = [
        StructField(f"{_NEW}{number}_{name}", types[name])
        for number, way in enumerate(ways)
        for name in way.values
    ]
    return StructType([*old, *new, StructField(_WAY, IntegerType())])


def _first_that_applies(ways: Sequence[NewValues]) -> Column:
    number = F.lit(None).cast("int")
    for index in reversed(range(len(ways))):
        number = F.when(ways[index].applies, F.lit(index)).otherwise(number)
    return number


def _new_value(name: str, ways: Sequence[NewValues]) -> str:
    """Return, in SQL, the value of the way in which the row changes, or the old one."""
    cases = [
        f"WHEN {_WAY} = {number} THEN {quoted(f'{_NEW}{number}_{name}')}"
        for number, way in enumerate(ways)
        if name in way.values
    ]
    return f"CASE {' '.join(cases)} ELSE {_old(name)} END" if cases else _old(name)


def _old(name: str) -> str:
    return quoted(f"{_OLD}{name}")
