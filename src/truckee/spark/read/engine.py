"""The engine on Spark: runs a RowPlan as a DataFrame.

Rows that are compared are grouped by one aggregation each. If few bytes are read for it, one task
does it, without a shuffle.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import StructType as SparkStruct

from truckee.changes.columns import CHANGE_TYPE, COMMIT_VERSION, DELETE, INSERT
from truckee.changes.row_identity import BASE_ROW_ID, DEFAULT_ROW_VERSION, ROW_ID, ROW_VERSION
from truckee.options.feed import FeedOptions
from truckee.protocol.schema import StructType
from truckee.rows.feed import feed_plan
from truckee.rows.plan import (
    ALONE,
    CHANGE_SOURCE_COLUMN,
    SCHEMA_VERSION_COLUMN,
    Cancelled,
    Changes,
    History,
    Key,
    Net,
    Noted,
    Paired,
    Read,
    Recast,
    Recorded,
    Retyped,
    RowPlan,
    Union,
    compared_columns,
    inputs,
    size_in_bytes,
)
from truckee.spark.jvm.projection import Given, Named, column, selected
from truckee.spark.local_frames import FirstRowsFrame
from truckee.spark.read.column_conversion import conformed
from truckee.spark.read.history_frames import history_of_rows
from truckee.spark.read.net_rows import IS_COMPARED, net_by_identity, net_by_rows
from truckee.spark.read.relations import ROW, scan_frame
from truckee.spark.read.row_pairing import is_after, paired_rows, uncancelled_rows
from truckee.spark.read.scan import feed_scan, read_scan
from truckee.spark.schema_conversion import bare, public_schema, spark_type
from truckee.storage.base import Storage

_LITTLE_BYTES = 16 << 20
_GROUP = "__truckee_group"


def changes_frame(spark: SparkSession, storage: Storage, options: FeedOptions) -> DataFrame:
    """Return the rows of the feed that the options ask for; see `feed_plan`."""
    return FirstRowsFrame(plan_frame(spark, feed_plan(storage, options))._jdf, spark)


def as_declared(frame: DataFrame, schema: SparkStruct) -> DataFrame:
    """Return rows with the types that a stream has declared for its columns."""
    found = {field.name: field.dataType for field in frame.schema.fields}
    return frame.select(
        *(
            column(field.name)
            if found[field.name] == field.dataType
            else column(field.name).try_cast(field.dataType).alias(field.name)
            for field in schema.fields
        )
    )


def plan_frame(spark: SparkSession, plan: RowPlan, *, whole_files: bool = False) -> DataFrame:
    """Return the rows of a plan, with the columns of its schema.

    With `whole_files`, a file is not split into tasks, so it is opened once.
    """
    match plan:
        case Read():
            scan, has_ids = read_scan(plan), plan.ids is not None
            rows = scan_frame(spark, scan, row_ids=has_ids, whole_files=whole_files)
            return _with_ids(rows, plan)
        case Recorded():
            return scan_frame(spark, feed_scan(plan))
        case History():
            return history_of_rows(spark, plan.timelines, plan.condition, plan.keys)
        case Union():
            names = [Named(name) for name in plan.schema.names]
            frames = (plan_frame(spark, part, whole_files=whole_files) for part in plan.parts)
            parts = [selected(frame, names) for frame in frames]
            return reduce(DataFrame.unionAll, parts) if parts else _empty(spark, plan.schema)
        case Recast():
            return _recast(plan_frame(spark, plan.rows, whole_files=whole_files), plan)
        case Retyped():
            return _retyped(plan_frame(spark, plan.rows, whole_files=whole_files), plan.types)
        case Noted():
            return _noted(plan_frame(spark, plan.rows, whole_files=whole_files), plan)
        case Cancelled():
            return _cancelled(_pool(spark, plan.rows), plan)
        case Paired():
            chosen, rest = _parted(_pool(spark, plan.rows), plan.only)
            return _joined(_paired(chosen, plan), rest)
        case Net():
            return _net(spark, plan)


def _with_ids(rows: DataFrame, read: Read) -> DataFrame:
    if read.ids is None:
        return rows
    counted = column(BASE_ROW_ID) + column(ROW)
    ids = [Given(F.coalesce(column(read.ids.row_id), counted), ROW_ID)]
    if read.ids.row_version is not None:
        version = F.coalesce(column(read.ids.row_version), column(DEFAULT_ROW_VERSION))
        ids.append(Given(version, ROW_VERSION))
    own = read.schema.names[: -len(ids)]
    return selected(rows, [*map(Named, own), *ids])


def _recast(rows: DataFrame, plan: Recast) -> DataFrame:
    shown = public_schema(StructType(tuple(each.field for each in plan.columns))).fields
    items: list[Given | Named] = []
    for (own, source, wanted), field in zip(plan.columns, shown, strict=True):
        if source is None:
            value = F.lit(None).cast(spark_type(bare(own.type)))
        else:
            value = conformed(column(source.name), source.type, plan.mode, wanted)
        items.append(Given(value, field.name, field.metadata or {}))
    kept = plan.schema.names[len(plan.columns) :]
    return selected(rows, [*items, *map(Named, kept)])


def _retyped(rows: DataFrame, types: Mapping[str, str]) -> DataFrame:
    kind = shown = column(CHANGE_TYPE)
    for old, new in types.items():
        shown = F.when(kind == old, new).otherwise(shown)
    return rows.withColumn(CHANGE_TYPE, shown)


def _noted(rows: DataFrame, plan: Noted) -> DataFrame:
    extra = {}
    if plan.schema_versions is not None:
        extra[SCHEMA_VERSION_COLUMN] = _schema_version(plan.schema_versions)
    if plan.sources is not None:
        extra[CHANGE_SOURCE_COLUMN] = _change_source(plan.sources)
    return rows.withColumns(extra)


def _schema_version(versions: Sequence[int]) -> Column:
    """Return the version whose schema a row has; a preimage has that of an earlier version."""
    version = column(COMMIT_VERSION) - F.when(is_after(), 0).otherwise(1)
    known = F.array(*(F.lit(v) for v in versions)).cast("array<bigint>")
    set_by_then = F.filter(known, lambda each: each <= version)
    return F.coalesce(F.array_max(set_by_then), F.array_min(known))


def _change_source(sources: Mapping[int, str]) -> Column:
    found = F.lit(None).cast("string")
    for source in sorted(set(sources.values())):
        versions = [version for version, of in sources.items() if of == source]
        found = F.when(column(COMMIT_VERSION).isin(versions), source).otherwise(found)
    return found


def _pool(spark: SparkSession, plan: RowPlan) -> DataFrame:
    """Return rows to compare; few of them in one task, which then needs no shuffle."""
    if not _is_read_only(plan) or size_in_bytes(plan) > _LITTLE_BYTES:
        return plan_frame(spark, plan)
    return plan_frame(spark, plan, whole_files=True).coalesce(1)


def _is_read_only(plan: RowPlan) -> bool:
    is_compared = isinstance(plan, Cancelled | Paired | Net)
    return not is_compared and all(map(_is_read_only, inputs(plan)))


def _cancelled(rows: DataFrame, plan: Cancelled) -> DataFrame:
    columns = compared_columns(plan)
    if plan.only is not None and isinstance(plan.rows, Paired):
        # The rows come out of an aggregation, which should run once. Those that stay are in groups
        # of their own, one for each type.
        kind = column(CHANGE_TYPE)
        group = F.when(_is_one_of(plan.only), "").otherwise(kind)
        within = (*plan.within, _GROUP)
        left = uncancelled_rows(rows.withColumn(_GROUP, group), columns, within=within)
        shown = F.when(column(_GROUP) == "", kind).otherwise(column(_GROUP))
        return left.withColumn(CHANGE_TYPE, shown).drop(_GROUP)
    chosen, rest = _parted(rows, plan.only)
    left = _shown_as(uncancelled_rows(chosen, columns, within=plan.within), plan.shown_as)
    return _joined(left, rest)


def _paired(rows: DataFrame, plan: Paired) -> DataFrame:
    names, keyed = _keyed(rows, plan.identity)
    found = paired_rows(
        keyed,
        compared_columns(plan),
        identity=names,
        within=plan.within,
        row_version=ROW_VERSION if ROW_VERSION in plan.rows.schema.names else None,
        drop_unchanged=plan.drop_unchanged,
        where=plan.sides,
    )
    return _shown_as(found, plan.shown_as)


def _net(spark: SparkSession, plan: Net) -> DataFrame:
    parts = [
        plan_frame(spark, rows).withColumn(IS_COMPARED, F.lit(is_compared))
        for rows, is_compared in ((plan.rows, False), (plan.moved, True))
        if not (isinstance(rows, Union) and not rows.parts)
    ]
    if not parts:
        return _empty(spark, plan.schema)
    columns = compared_columns(plan)
    chosen, rest = _parted(reduce(DataFrame.unionByName, parts), plan.only)
    if not plan.identity:
        return _joined(net_by_rows(chosen, columns), rest)
    names, keyed = _keyed(chosen, plan.identity)
    net = net_by_identity(
        keyed,
        columns,
        identity=names,
        as_updates=plan.as_updates,
        drop_unchanged=plan.drop_unchanged,
    )
    return _joined(net, rest)


def _parted(rows: DataFrame, only: Changes | None) -> tuple[DataFrame, DataFrame | None]:
    """Return the rows of these changes, and the others; None if all rows are compared."""
    if only is None:
        return rows, None
    return rows.where(_is_one_of(only)), rows.where(~_is_one_of(only))


def _is_one_of(only: Changes) -> Column:
    found = column(CHANGE_TYPE).isin(*only.types)
    return found if only.versions is None else found & _is_of(only.versions)


def _is_of(versions: frozenset[int]) -> Column:
    return column(COMMIT_VERSION).isin(sorted(versions))


def _joined(found: DataFrame, rest: DataFrame | None) -> DataFrame:
    if rest is None:
        return found
    return found.unionAll(selected(rest, [Named(name) for name in found.columns]))


def _shown_as(rows: DataFrame, types: tuple[str, str]) -> DataFrame:
    """Return deleted and inserted rows with these types instead."""
    return rows if types == ALONE else _retyped(rows, {DELETE: types[0], INSERT: types[1]})


def _keyed(rows: DataFrame, identity: Sequence[Key]) -> tuple[list[str], DataFrame]:
    """Return the names of keys, and the rows with a column for each key in a struct."""
    for key in identity:
        if len(key.path) > 1:
            value = reduce(Column.getField, key.path[1:], column(key.path[0]))
            rows = rows.withColumn(key.name, value)
    return [key.name for key in identity], rows


def _empty(spark: SparkSession, schema: StructType) -> DataFrame:
    shown = public_schema(schema).fields
    fields = zip(schema.fields, shown, strict=True)
    return spark.range(0).select(
        *(
            F.lit(None).cast(spark_type(bare(own.type))).alias(own.name, metadata=to.metadata or {})
            for own, to in fields
        )
    )
