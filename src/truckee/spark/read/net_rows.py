"""Net changes: the overall change of each row in a range of versions, with one shuffle, no window.

With an identity (keys or row ids), the first and the last image of a row decide:

| the row was there before | and is there after | shown                                           |
|--------------------------|--------------------|-------------------------------------------------|
| no                       | no                 | nothing                                         |
| no                       | yes                | insert, of the last image                       |
| yes                      | no                 | delete, of the first image                      |
| yes                      | yes                | both images, as an update or delete and insert  |

There are two aggregations after one shuffle by the identity: first of the images of a row in one
version, then of its versions. For example, of one identity:

    version   images        a version only moved it?     first image   last image
    4         +a            no                           none          a
    5         -a +a         yes: it is left out
    6         -a +b         no                           a             b

    over all versions: the first image of version 4, none; the last of version 6, b: insert b

The two images of a row are structs, so the smallest and the largest version pick whole rows. An
image that is missing in the first version means that the row was not there before the range.

Without an identity, equal rows cancel. Of the rows that are left, the last inserts and the first
deletes are shown.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import DataType

from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    DELETE,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.row_identity import ROW_VERSION
from truckee.spark.jvm.projection import column
from truckee.spark.read.row_pairing import comparable_column, is_after, is_plain, refusal

IS_COMPARED = "__truckee_is_compared"
_KEY = "__truckee_net_key_"
_PRE, _POST = "__truckee_pre", "__truckee_post"
_PRES, _POSTS = "__truckee_pres", "__truckee_posts"
_SUM, _EVENTS, _MOMENT = "__truckee_sum", "__truckee_events", "__truckee_moment"
_SIDES = ("deleted by one version", "inserted by one version")
_WHEN = (COMMIT_VERSION, COMMIT_TIMESTAMP)


def net_by_identity(
    changes: DataFrame,
    columns: Sequence[str],
    *,
    identity: Sequence[str],
    as_updates: bool,
    drop_unchanged: bool,
) -> DataFrame:
    """Return the net changes of rows that `identity` identifies.

    Rows with `IS_COMPARED` are not changes if a version has the same row before and after: equal in
    all columns, or with the same `ROW_VERSION` if there is such a column. The result has `columns`,
    `_change_type`, `_commit_version` and `_commit_timestamp`. Running it raises
    `KeysNotUniqueError` if a version has several rows of one side with the same identity.
    """
    types = {field.name: field.dataType for field in changes.schema.fields}
    keys = {f"{_KEY}{n}": comparable_column(column(k), types[k]) for n, k in enumerate(identity)}
    carried = [*columns, *_WHEN, *(name for name in (IS_COMPARED, ROW_VERSION) if name in types)]
    image = F.struct(*(column(name) for name in carried))
    after = is_after()
    by_version = (
        changes.withColumns(keys)
        .repartition(*map(column, keys))
        .groupBy(*map(column, keys), column(COMMIT_VERSION))
        .agg(
            F.count_if(~after).alias(_PRES),
            F.count_if(after).alias(_POSTS),
            F.first(F.when(~after, image), ignorenulls=True).alias(_PRE),
            F.first(F.when(after, image), ignorenulls=True).alias(_POST),
        )
    )
    equal = _equal(columns, types)
    refused = refusal(identity, list(keys), _SIDES, (_PRES, _POSTS), within=(COMMIT_VERSION,))
    is_refused = (column(_PRES) > 1) | (column(_POSTS) > 1)
    is_carried = (
        _is_carried_over(equal, ROW_VERSION in types) if IS_COMPARED in types else F.lit(False)
    )
    checked = by_version.where(F.when(is_refused, refused.cast("boolean")).otherwise(~is_carried))
    by_key = checked.groupBy(*map(column, keys)).agg(
        F.min_by(column(_PRE), column(COMMIT_VERSION)).alias(_PRE),
        F.max_by(column(_POST), column(COMMIT_VERSION)).alias(_POST),
    )
    kinds = (UPDATE_PREIMAGE, UPDATE_POSTIMAGE) if as_updates else (DELETE, INSERT)
    shown = _shown(kinds, equal if drop_unchanged else F.lit(False))
    row = column("row")
    return by_key.select(F.explode(shown).alias("row")).select(
        *(row.getField("image").getField(name).alias(name) for name in columns),
        row.getField(CHANGE_TYPE).alias(CHANGE_TYPE),
        *(row.getField("image").getField(name).alias(name) for name in _WHEN),
    )


def _equal(columns: Sequence[str], types: dict[str, DataType]) -> Column:
    """Return whether both images of a row are equal in all columns."""
    pre, post = column(_PRE), column(_POST)
    same = (
        comparable_column(pre.getField(name), types[name]).eqNullSafe(
            comparable_column(post.getField(name), types[name])
        )
        for name in columns
    )
    return pre.isNotNull() & post.isNotNull() & reduce(Column.__and__, same, F.lit(True))


def _is_carried_over(equal: Column, has_row_version: bool) -> Column:
    """Return whether a version only moved a row; row versions decide, if there are any."""
    pre, post = column(_PRE), column(_POST)
    compared = pre.getField(IS_COMPARED) & post.getField(IS_COMPARED)
    if has_row_version:
        equal = pre.getField(ROW_VERSION) == post.getField(ROW_VERSION)
    return F.coalesce(compared & equal, F.lit(False))


def _shown(kinds: tuple[str, str], is_dropped: Column) -> Column:
    pre, post = column(_PRE), column(_POST)
    deleted = F.array(_with_type(pre, DELETE))
    nothing = F.slice(deleted, 1, 0)
    return (
        F.when(pre.isNull() & post.isNull(), nothing)
        .when(post.isNull(), deleted)
        .when(pre.isNull(), F.array(_with_type(post, INSERT)))
        .when(is_dropped, nothing)
        .otherwise(F.array(_with_type(pre, kinds[0]), _with_type(post, kinds[1])))
    )


def _with_type(image: Column, kind: str) -> Column:
    return F.struct(image.alias("image"), F.lit(kind).alias(CHANGE_TYPE))


def net_by_rows(changes: DataFrame, columns: Sequence[str]) -> DataFrame:
    """Return the net changes of whole rows.

    Equal rows cancel within each version first, and then over all versions. The result has
    `columns`, `_change_type` (insert or delete), `_commit_version` and `_commit_timestamp`.
    """
    types = {field.name: field.dataType for field in changes.schema.fields}
    plain = [name for name in columns if is_plain(types[name])]
    others = [name for name in columns if name not in plain]
    keys = {f"{_KEY}{n}": comparable_column(column(k), types[k]) for n, k in enumerate(others)}
    grouping = [column(name) for name in (*plain, *keys)]
    firsts = [F.first(column(name)).alias(name) for name in others]
    sign = F.when(is_after(), 1).otherwise(-1)
    spread = changes.withColumns(keys) if keys else changes
    by_version = (
        (spread.repartition(*grouping) if grouping else spread)
        .groupBy(*grouping, *map(column, _WHEN))
        .agg(F.sum(sign).alias(_SUM), *firsts)
        .where(column(_SUM) != 0)
    )
    event = F.struct(*map(column, _WHEN), column(_SUM))
    by_row = by_version.groupBy(*grouping).agg(
        F.sum(column(_SUM)).alias(_SUM), F.collect_list(event).alias(_EVENTS), *firsts
    )
    left = by_row.where(column(_SUM) != 0)
    when = column(_MOMENT)
    return left.select(
        *map(column, columns),
        F.when(column(_SUM) > 0, INSERT).otherwise(DELETE).alias(CHANGE_TYPE),
        F.explode(_moments()).alias(_MOMENT),
    ).select(
        *map(column, columns),
        column(CHANGE_TYPE),
        *(when.getField(name).alias(name) for name in _WHEN),
    )


def _moments() -> Column:
    """Return when the remaining rows were changed: the last inserts, the first deletes."""
    is_insert = column(_SUM) > 0
    of_side = F.filter(column(_EVENTS), lambda event: (event.getField(_SUM) > 0) == is_insert)
    repeated = F.flatten(
        F.transform(
            of_side,
            lambda event: F.array_repeat(
                F.struct(*(event.getField(name).alias(name) for name in _WHEN)),
                F.abs(event.getField(_SUM)).cast("int"),
            ),
        )
    )
    in_order = F.when(is_insert, F.sort_array(repeated, asc=False)).otherwise(
        F.sort_array(repeated, asc=True)
    )
    return F.slice(in_order, F.lit(1), F.abs(column(_SUM)).cast("int"))
