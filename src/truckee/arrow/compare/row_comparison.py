"""Compares deleted and inserted rows in memory, by the same rules as on Spark.

A pool is a table of rows with `_change_type`. The result has rows of the pool, some with another
type of change. For example, comparing the columns (id, v):

    pool                     uncancelled          paired by id
    delete (1, a)            delete (2, b)        update_preimage (2, b)
    delete (2, b)            insert (2, c)        update_postimage (2, c)
    insert (1, a)
    insert (2, c)

One aggregation finds the groups of rows to compare, each with the first row of either side and
their number. So a row that has equal ones stands for all of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.texts import json_texts, plain_values
from truckee.arrow.variants import VARIANT, Simple, variant_value
from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_VERSION,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.row_identity import ROW_VERSION, not_unique_error
from truckee.log.checkpoint.columns import typed_child

AFTER = typed_child([INSERT, UPDATE_POSTIMAGE], pa.string())
"""The types of rows that exist after a change."""

_ZEROS = {pa.float32(): pa.int32(), pa.float64(): pa.int64()}


def uncancelled_pool(
    pool: pa.Table, columns: Sequence[str], within: Sequence[str], shown_as: tuple[str, str]
) -> pa.Table:
    """Return the rows that remain after equal deleted and inserted rows cancel each other.

    Rows are compared only if they are equal in the columns `within`. A row has the type of its side
    in `shown_as`.
    """
    if not pool.num_rows:
        return pool
    groups = _groups(pool, (*columns, *within))
    spare = pc.subtract(groups["inserted_count"], groups["deleted_count"])
    chosen: list[tuple[int, str]] = []
    for inserted, deleted, count in zip(
        groups["inserted_min"].to_pylist(),
        groups["deleted_min"].to_pylist(),
        spare.to_pylist(),
        strict=True,
    ):
        if count:
            row = (inserted, shown_as[1]) if count > 0 else (deleted, shown_as[0])
            chosen += [row] * abs(count)
    return chosen_rows(pool, sorted(chosen))


def paired_pool(
    pool: pa.Table,
    columns: Sequence[str],
    identity: Sequence[str],
    *,
    within: Sequence[str],
    sides: tuple[str, str],
    drop_unchanged: bool,
    shown_as: tuple[str, str],
) -> pa.Table:
    """Return deleted and inserted rows of the same identity as the two images of an update.

    Pairs of the same `ROW_VERSION` are dropped and, with `drop_unchanged`, those that are equal in
    all columns. Other rows have the type of their side in `shown_as`. Raises `KeysNotUniqueError`.
    """
    if not pool.num_rows:
        return pool
    groups = _groups(pool, (*identity, *within))
    for side, where in zip(("deleted", "inserted"), sides, strict=True):
        _check_unique(pool, groups, side, identity, within, where)
    is_pair = pc.and_(pc.is_valid(groups["deleted_min"]), pc.is_valid(groups["inserted_min"]))
    pairs = groups.filter(is_pair)
    old, new = pairs["deleted_min"].combine_chunks(), pairs["inserted_min"].combine_chunks()
    same = _have_same_version(pool, old, new)
    if drop_unchanged:
        same = pc.or_(same, pc.invert(_differs(pool, columns, old, new)))
    chosen: list[tuple[int, int, int, str]] = []
    for one, other, is_same in zip(old.to_pylist(), new.to_pylist(), same.to_pylist(), strict=True):
        if not is_same:
            chosen += [(one, 0, one, UPDATE_PREIMAGE), (one, 1, other, UPDATE_POSTIMAGE)]
    single = groups.filter(pc.invert(is_pair))
    for one, other in zip(
        single["deleted_min"].to_pylist(), single["inserted_min"].to_pylist(), strict=True
    ):
        row = (other, shown_as[1]) if one is None else (one, shown_as[0])
        chosen.append((row[0], 0, *row))
    return chosen_rows(pool, [(index, kind) for _, _, index, kind in sorted(chosen)])


def _groups(pool: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return one row per group of equal rows: the first of either side, and their number."""
    is_after = pc.is_in(pool[CHANGE_TYPE], value_set=AFTER)
    index = typed_child(range(pool.num_rows), pa.int64())
    none = pa.scalar(None, pa.int64())
    keys = [f"key {place}" for place in range(len(columns))]
    table = pa.table(
        {
            **{key: comparable_array(pool[name]) for key, name in zip(keys, columns, strict=True)},
            "inserted": pc.if_else(is_after, index, none),
            "deleted": pc.if_else(is_after, none, index),
        }
    )
    counted = [(side, how) for side in ("inserted", "deleted") for how in ("min", "count")]
    return table.group_by(keys, use_threads=False).aggregate(counted)


def _check_unique(
    pool: pa.Table,
    groups: pa.Table,
    side: str,
    identity: Sequence[str],
    within: Sequence[str],
    where: str,
) -> None:
    many = groups.filter(pc.greater(groups[f"{side}_count"], 1))
    if not many.num_rows:
        return
    first = many.slice(0, 1).to_pylist()[0]
    shown = [*identity, *(name for name in within if name == COMMIT_VERSION)]
    example = next(json_texts(pool.select(shown).slice(first[f"{side}_min"], 1)))
    raise not_unique_error(
        identity,
        where=where,
        example=example,
        count=first[f"{side}_count"],
    )


def _have_same_version(pool: pa.Table, old: pa.Array, new: pa.Array) -> pa.BooleanArray:
    """Return, for each pair of rows, whether both last changed in the same version."""
    if ROW_VERSION not in pool.column_names:
        return typed_child([False] * len(old), pa.bool_())
    versions = pool[ROW_VERSION].combine_chunks()
    return pc.fill_null(pc.equal(versions.take(old), versions.take(new)), False)


def _differs(
    pool: pa.Table, columns: Sequence[str], old: pa.Array, new: pa.Array
) -> pa.BooleanArray:
    """Return, for each pair of rows, whether they differ in some column."""
    found = typed_child([False] * len(old), pa.bool_())
    for name in columns:
        values = comparable_array(pool[name])
        found = pc.or_(found, differ(values.take(old), values.take(new)))
    return found


def differ(one: pa.Array, other: pa.Array) -> pa.BooleanArray:
    """Return where two columns of comparable values differ; null equals null."""
    unequal = pc.fill_null(pc.not_equal(one, other), False)
    return pc.or_(unequal, pc.xor(pc.is_null(one), pc.is_null(other)))


def chosen_rows(pool: pa.Table, chosen: Sequence[tuple[int, str]]) -> pa.Table:
    """Return rows of a pool, by position, each with another type of change."""
    rows = pool.take(typed_child([index for index, _ in chosen], pa.int64()))
    place = rows.column_names.index(CHANGE_TYPE)
    kinds = typed_child([kind for _, kind in chosen], pa.string())
    return rows.set_column(place, rows.schema.field(place), kinds)


def comparable_array(values: pa.ChunkedArray | pa.Array) -> pa.Array:
    """Return values that Arrow can group by, equal if the original values are equal.

    NaN equals NaN, -0.0 equals 0.0, and the entries of a map have no order. Timestamps and dates
    are counts: Spark's range of years is larger than Python's.
    """
    values = values.combine_chunks() if isinstance(values, pa.ChunkedArray) else values
    kind = values.type
    if kind in _ZEROS:
        values = pc.if_else(pc.equal(values, 0.0), pa.scalar(0.0, kind), values)
        values = pc.if_else(pc.is_nan(values), pa.scalar(float("nan"), kind), values)
        return values.view(_ZEROS[kind])
    if pa.types.is_null(kind):
        return values.cast(pa.int8())
    if pa.types.is_timestamp(kind):
        return values.cast(pa.int64())
    if pa.types.is_date32(kind):
        return values.cast(pa.int32())
    if pa.types.is_nested(kind):
        texts = [
            None if value is None else repr(_frozen(value, kind)) for value in plain_values(values)
        ]
        return typed_child(texts, pa.string())
    return values


def _frozen(value: Any, kind: pa.DataType) -> Any:
    """Return a nested value in a form that is equal for equal values."""
    if value is None:
        return None
    if pa.types.is_map(kind):
        entries = [
            (_frozen(key, kind.key_type), _frozen(item, kind.item_type)) for key, item in value
        ]
        return sorted(entries, key=repr)
    if kind == VARIANT:
        return _frozen_variant(value)
    if pa.types.is_struct(kind):
        return [_frozen(value[field.name], field.type) for field in kind]
    if pa.types.is_list(kind):
        return [_frozen(item, kind.value_type) for item in value]
    return value + 0.0 if isinstance(value, float) else value


def _frozen_variant(value: Mapping[str, bytes]) -> Any:
    """Return a variant in a form that is equal for equal values of the same types.

    The same value has many encodings: fields of an object are stored in any order, and a small
    number in one byte or in eight.
    """
    try:
        return variant_value(value["value"], value["metadata"], _frozen_leaf)
    except ValueError:
        return [value["value"], value["metadata"]]


def _frozen_leaf(leaf: Simple) -> Any:
    return (leaf.kind, leaf.value + 0.0 if isinstance(leaf.value, float) else leaf.value)
