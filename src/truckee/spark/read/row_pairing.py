"""Compares deleted and inserted rows: equal rows cancel, and the rest are paired as updates.

The rows come as a DataFrame with `_change_type`; each function is one aggregation.

| function           | rows are the same if      | two of them, one deleted, one inserted        |
|--------------------|---------------------------|-----------------------------------------------|
| `uncancelled_rows` | all columns are equal     | cancel, each copy once                        |
| `paired_rows`      | their identity is equal   | cancel if equal, else are an update's images  |

`paired_rows` makes one group of the rows of an identity. For (id, v), paired by id:

    rows                      group 1       group 2       shown
    delete (1, a)             deleted: 1    deleted: 1    update_preimage (2, b)
    delete (2, b)             inserted: 1   inserted: 1   update_postimage (2, c)
    insert (1, a)             before: a     before: b
    insert (2, c)             after: a      after: c

The group has the number of rows of each side and the first of them. A side with two rows raises
`KeysNotUniqueError`; else the two images say what is shown: nothing if they are equal (group 1),
both as an update (group 2), and the only one as a delete or an insert. A group shows up to two
rows, so they are an array that is exploded.

`uncancelled_rows` counts instead: +1 for each inserted copy of a row and -1 for each deleted one,
and shows as many copies as are left. Spark plans it as an aggregation; where all rows are in one
task, `TruckeeUncancelled.java` takes its place, which compares only rows that may be equal.

Rows are equal as Spark groups them: null equals null, NaN equals NaN, -0.0 equals 0.0. Maps are
compared as sets of entries, variants by their values and types, texts byte by byte whatever their
collation.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import reduce

import msgspec
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import (
    ArrayType,
    DataType,
    MapType,
    StringType,
    StructType,
    VariantType,
)

from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_VERSION,
    DELETE,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.row_identity import not_unique_error
from truckee.errors.diff import KeysNotUniqueError
from truckee.spark.jvm.jvm_errors import install_translation, translate_with
from truckee.spark.jvm.projection import column, comparable_variants, uncancelled

_KEY = "__truckee_key_"
_BEFORE, _AFTER = "__truckee_before", "__truckee_after"
_DELETED, _INSERTED = "__truckee_deleted", "__truckee_inserted"
_IMAGE, _VERSION = "image", "version"
_MARK = "truckee-keys:"
_MESSAGE = re.compile(rf"{_MARK}([0-9A-F]*),(\d+),([0-9A-F]*);")


def is_after() -> Column:
    """Return whether a row exists after the change: true for inserted rows and postimages."""
    return column(CHANGE_TYPE).isin(INSERT, UPDATE_POSTIMAGE)


def uncancelled_rows(
    changes: DataFrame, columns: Sequence[str], *, within: Sequence[str] = ()
) -> DataFrame:
    """Return the rows that are left after equal deleted and inserted rows have cancelled.

    Copies cancel one for one. Rows are compared only if they are equal in the columns `within`,
    such as the version. The result has `columns`, `_change_type` (insert or delete) and `within`.
    If `changes` are in one task by `coalesce(1)`, that task compares them, without a shuffle.
    """
    types = {field.name: field.dataType for field in changes.schema.fields}
    plain = [name for name in columns if is_plain(types[name])]
    others = [name for name in columns if name not in plain]
    keys = {
        f"{_KEY}{place}": comparable_column(column(name), types[name])
        for place, name in enumerate(others)
    }
    keyed = changes.withColumns(keys) if keys else changes
    return uncancelled(keyed, (*within, *plain, *keys), others, (*columns, CHANGE_TYPE, *within))


def paired_rows(
    changes: DataFrame,
    columns: Sequence[str],
    *,
    identity: Sequence[str],
    within: Sequence[str] = (),
    row_version: str | None = None,
    drop_unchanged: bool = True,
    where: tuple[str, str] = ("before", "after"),
) -> DataFrame:
    """Return deleted and inserted rows of the same identity as the two images of an update.

    `identity` are columns such as keys or a row id; two nulls in them are equal. A pair is dropped
    if both rows have the same `row_version`, a column that says in which version a row last
    changed; with `drop_unchanged`, also if they are equal in all of `columns`. Rows are compared
    only if they are equal in the columns `within`. The result has `columns`, `_change_type` and
    `within`. Running it raises `KeysNotUniqueError` if several rows of one side share an identity;
    the error uses `where` to name the two sides.
    """
    types = {field.name: field.dataType for field in changes.schema.fields}
    image = F.struct(
        F.struct(*(column(name) for name in columns)).alias(_IMAGE),
        *([column(row_version).alias(_VERSION)] if row_version is not None else ()),
    )
    keys = [comparable_column(column(name), types[name]) for name in identity]
    after = is_after()
    grouped = changes.groupBy(
        *(column(name) for name in within),
        *(key.alias(f"{_KEY}{place}") for place, key in enumerate(keys)),
    ).agg(
        F.count_if(~after).alias(_DELETED),
        F.count_if(after).alias(_INSERTED),
        F.first(F.when(~after, image), ignorenulls=True).alias(_BEFORE),
        F.first(F.when(after, image), ignorenulls=True).alias(_AFTER),
    )
    names = [f"{_KEY}{place}" for place in range(len(keys))]
    pair = _images(columns, types, row_version is not None, drop_unchanged)
    found = F.when(
        (column(_DELETED) > 1) | (column(_INSERTED) > 1),
        refusal(identity, names, where, within=[w for w in within if w == COMMIT_VERSION]),
    ).otherwise(pair)
    exploded = grouped.select(F.explode(found).alias("row"), *(column(name) for name in within))
    row = column("row").getField(_IMAGE)
    return exploded.select(
        *(row.getField(name).alias(name) for name in columns),
        column("row").getField(CHANGE_TYPE).alias(CHANGE_TYPE),
        *(column(name) for name in within),
    )


def _images(
    columns: Sequence[str], types: dict[str, DataType], has_version: bool, drop_unchanged: bool
) -> Column:
    """Return the array of rows to show for a pair of rows, one of which may be missing."""
    before, after = column(_BEFORE), column(_AFTER)
    same = F.lit(False)
    if has_version:
        same = F.coalesce(before.getField(_VERSION) == after.getField(_VERSION), F.lit(False))
    if drop_unchanged:
        one, other = before.getField(_IMAGE), after.getField(_IMAGE)
        equal = (
            comparable_column(one.getField(name), types[name]).eqNullSafe(
                comparable_column(other.getField(name), types[name])
            )
            for name in columns
        )
        same = same | reduce(Column.__and__, equal, F.lit(True))
    deleted = F.array(_shown(before, DELETE))
    return (
        F.when(after.isNull(), deleted)
        .when(before.isNull(), F.array(_shown(after, INSERT)))
        .when(same, F.slice(deleted, 1, 0))
        .otherwise(F.array(_shown(before, UPDATE_PREIMAGE), _shown(after, UPDATE_POSTIMAGE)))
    )


def _shown(row: Column, kind: str) -> Column:
    return F.struct(row.getField(_IMAGE).alias(_IMAGE), F.lit(kind).alias(CHANGE_TYPE))


def refusal(
    identity: Sequence[str],
    names: Sequence[str],
    where: tuple[str, str],
    counts: tuple[str, str] = (_DELETED, _INSERTED),
    within: Sequence[str] = (),
) -> Column:
    """Return an expression that raises `KeysNotUniqueError` when it is run.

    `names` are the columns that hold the identity, `counts` those that hold the number of rows on
    each side with it. The example in the error also shows the columns `within`.
    """
    translate_with(_keys_not_unique)
    install_translation()
    told = [msgspec.json.encode([list(identity), side]).hex().upper() for side in where]
    values = [column(k).alias(n) for k, n in zip(names, identity, strict=True)]
    example = F.to_json(
        F.struct(*values, *(column(name) for name in within)), {"ignoreNullFields": "false"}
    )
    deleted, inserted = (column(count) for count in counts)
    is_before = deleted > 1
    return F.raise_error(
        F.concat(
            F.lit(_MARK),
            F.when(is_before, told[0]).otherwise(told[1]),
            F.lit(","),
            F.when(is_before, deleted).otherwise(inserted).cast("string"),
            F.lit(","),
            F.hex(F.coalesce(example, F.lit("{}"))),
            F.lit(";"),
        )
    )


def _keys_not_unique(messages: Sequence[str]) -> KeysNotUniqueError | None:
    """Return the error behind the messages of a failed Spark job, None if it is a different one."""
    found = next(filter(None, map(_MESSAGE.search, messages)), None)
    if found is None:
        return None
    keys, where = msgspec.json.decode(bytes.fromhex(found[1]))
    return not_unique_error(
        keys,
        where=where,
        example=bytes.fromhex(found[3]).decode(errors="replace"),
        count=int(found[2]),
    )


def comparable_column(value: Column, data_type: DataType) -> Column:
    """Return a value that Spark can group by, which is equal exactly for equal values."""
    if is_plain(data_type):
        return value
    match data_type:
        case StructType():
            fields = (
                comparable_column(value.getField(field.name), field.dataType).alias(field.name)
                for field in data_type.fields
            )
            return F.when(value.isNotNull(), F.struct(*fields))
        case ArrayType():
            element = data_type.elementType
            return F.transform(value, lambda each: comparable_column(each, element))
        case MapType():
            return F.array_sort(
                F.transform(F.map_entries(value), lambda entry: _entry(entry, data_type))
            )
        case VariantType():
            return comparable_variants(SparkSession.active(), value)
        case _:
            return value.cast(StringType())


def _entry(entry: Column, data_type: MapType) -> Column:
    return F.struct(
        comparable_column(entry.getField("key"), data_type.keyType).alias("key"),
        comparable_column(entry.getField("value"), data_type.valueType).alias("value"),
    )


def is_plain(data_type: DataType) -> bool:
    """Return whether Spark's grouping compares a type as we do."""
    match data_type:
        case StructType():
            return all(is_plain(field.dataType) for field in data_type.fields)
        case ArrayType():
            return is_plain(data_type.elementType)
        case MapType() | VariantType():
            return False
        case StringType():
            return data_type == StringType()
        case _:
            return True
