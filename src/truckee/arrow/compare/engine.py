"""The engine without a JVM: runs a RowPlan with pyarrow.

Rows that are changes as they are stay batches; those that are compared are kept in memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema, arrow_type
from truckee.arrow.compare.net_pool import net_copies, net_images
from truckee.arrow.compare.row_comparison import paired_pool, uncancelled_pool
from truckee.arrow.compare.row_history import history_tables
from truckee.arrow.parquet_rows import parquet_rows, row_ids
from truckee.arrow.type_conversion import array_in_type
from truckee.changes.columns import CHANGE_TYPE, COMMIT_VERSION, INSERT, UPDATE_POSTIMAGE
from truckee.changes.row_identity import DEFAULT_ROW_VERSION, ROW_ID, ROW_VERSION
from truckee.log.checkpoint.columns import typed_child
from truckee.rows.plan import (
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
)


def tables(plan: RowPlan, *, in_order: bool = False) -> Iterator[pa.Table]:
    """Yield the rows of a plan, with the columns of its schema.

    With `in_order`, the rows of each read are in the order of its files.
    """
    match plan:
        case Read():
            yield from _read(plan, in_order=in_order)
        case Recorded():
            yield from _read(plan.settled(), in_order=in_order)
        case History():
            yield from history_tables(plan.timelines, plan.condition, plan.keys)
        case Union():
            for part in plan.parts:
                for rows in tables(part, in_order=in_order):
                    yield rows.select(plan.schema.names)
        case Recast():
            for rows in tables(plan.rows, in_order=in_order):
                yield _recast(rows, plan)
        case Retyped():
            for rows in tables(plan.rows, in_order=in_order):
                yield _with_types(rows, plan.types)
        case Noted():
            for rows in tables(plan.rows, in_order=in_order):
                yield _noted(rows, plan)
        case Cancelled() | Paired() | Net():
            yield _compared(plan)


def _read(read: Read, *, in_order: bool) -> Iterator[pa.Table]:
    rows = parquet_rows(read)
    if in_order:
        yield _with_ids(rows.to_arrow(), read)
        return
    for batch in rows.to_batches():
        yield _with_ids(pa.Table.from_batches([batch]), read)


def _with_ids(rows: pa.Table, read: Read) -> pa.Table:
    if read.ids is None:
        return rows
    names = read.schema.names
    rows = rows.append_column(ROW_ID, row_ids(rows, read))
    if read.ids.row_version is not None:
        version = pc.coalesce(rows[read.ids.row_version], rows[DEFAULT_ROW_VERSION])
        rows = rows.append_column(ROW_VERSION, version)
    return rows.select(names)


def _recast(rows: pa.Table, plan: Recast) -> pa.Table:
    arrays = []
    for field, source, wanted in plan.columns:
        kind = arrow_type(field.type)
        if source is None:
            arrays.append(pa.nulls(rows.num_rows, kind))
        else:
            values = rows[source.name].combine_chunks()
            arrays.append(array_in_type(values, source.type, plan.mode, wanted).cast(kind))
    kept = plan.schema.names[len(plan.columns) :]
    arrays += [rows[name].combine_chunks() for name in kept]
    return pa.Table.from_arrays(arrays, schema=arrow_schema(plan.schema))


def _with_types(rows: pa.Table, types: Mapping[str, str]) -> pa.Table:
    kinds = [types.get(kind, kind) for kind in rows[CHANGE_TYPE].to_pylist()]
    place = rows.column_names.index(CHANGE_TYPE)
    return rows.set_column(place, rows.schema.field(place), typed_child(kinds, pa.string()))


def _noted(rows: pa.Table, plan: Noted) -> pa.Table:
    arrays, versions = list(rows.columns), rows[COMMIT_VERSION].to_pylist()
    if plan.schema_versions is not None:
        arrays.append(_schema_versions(rows, plan.schema_versions))
    if plan.sources is not None:
        found = [plan.sources.get(version) for version in versions]
        arrays.append(typed_child(found, pa.string()))
    return pa.Table.from_arrays(arrays, schema=arrow_schema(plan.schema))


def _schema_versions(rows: pa.Table, known: Sequence[int]) -> pa.Array:
    """Return the version that set the schema of each row; a preimage has an earlier one."""
    kinds, versions = rows[CHANGE_TYPE].to_pylist(), rows[COMMIT_VERSION].to_pylist()
    found = []
    for kind, version in zip(kinds, versions, strict=True):
        last = version if kind in (INSERT, UPDATE_POSTIMAGE) else version - 1
        found.append(max((v for v in known if v <= last), default=min(known)))
    return typed_child(found, pa.int64())


def _compared(plan: Cancelled | Paired | Net) -> pa.Table:
    pool, rest = _parted(_table(plan.rows), plan.only)
    names = plan.schema.names
    found = _compared_pool(pool, plan)
    return pa.concat_tables([rows.select(names) for rows in (rest, found) if rows is not None])


def _compared_pool(pool: pa.Table, plan: Cancelled | Paired | Net) -> pa.Table:
    columns = compared_columns(plan)
    match plan:
        case Cancelled():
            return uncancelled_pool(pool, columns, plan.within, plan.shown_as)
        case Paired():
            names, keyed = _keyed(pool, plan.identity)
            return paired_pool(
                keyed,
                columns,
                names,
                within=plan.within,
                sides=plan.sides,
                drop_unchanged=plan.drop_unchanged,
                shown_as=plan.shown_as,
            )
        case Net():
            moved = _table(plan.moved)
            is_moved = [False] * pool.num_rows + [True] * moved.num_rows
            pools = [rows for rows in (pool, moved) if rows.num_rows] or [pool]
            everything = pa.concat_tables(pools).combine_chunks()
            if not plan.identity:
                return net_copies(everything, columns)
            names, keyed = _keyed(everything, plan.identity)
            return net_images(
                keyed,
                columns,
                names,
                is_moved,
                as_updates=plan.as_updates,
                drop_unchanged=plan.drop_unchanged,
            )


def _table(plan: RowPlan) -> pa.Table:
    """Return all rows of a plan."""
    found = list(tables(plan, in_order=True))
    if not found:
        return arrow_schema(plan.schema).empty_table()
    return pa.concat_tables(found).combine_chunks()


def _parted(rows: pa.Table, only: Changes | None) -> tuple[pa.Table, pa.Table | None]:
    """Return the rows of these changes, and the others; None if all rows are compared."""
    if only is None:
        return rows, None
    is_chosen = pc.is_in(rows[CHANGE_TYPE], value_set=typed_child(only.types, pa.string()))
    if only.versions is not None:
        versions = typed_child(sorted(only.versions), pa.int64())
        is_chosen = pc.and_(is_chosen, pc.is_in(rows[COMMIT_VERSION], value_set=versions))
    return rows.filter(is_chosen), rows.filter(pc.invert(is_chosen))


def _keyed(rows: pa.Table, identity: Sequence[Key]) -> tuple[list[str], pa.Table]:
    """Return the names of keys, and the rows with a column for each key in a struct."""
    for key in identity:
        if len(key.path) > 1:
            value = reduce(pc.struct_field, key.path[1:], rows[key.path[0]])
            rows = rows.append_column(key.name, value)
    return [key.name for key in identity], rows
