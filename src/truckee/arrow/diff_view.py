"""A diff as people look at it: in order, as texts, counted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.texts import column_texts
from truckee.changes.columns import CHANGE_TYPE, UPDATE_POSTIMAGE, UPDATE_PREIMAGE
from truckee.changes.snapshot_diff import SnapshotDiff
from truckee.report.diff_page import MOST_ROWS, DiffView

_TYPES_IN_ORDER = pa.array(["delete", "update_preimage", "update_postimage", "insert"])


def changes_in_order(rows: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return changes by columns, then by type; columns that have no order are passed over.

    A postimage that follows its preimage still does so, whatever its own values.
    """
    kinds = rows[CHANGE_TYPE].combine_chunks()
    ranks = pc.index_in(kinds, value_set=_TYPES_IN_ORDER)
    index = pa.array(range(rows.num_rows), pa.int64())
    # The two images of an update are sorted by the first of them.
    heads = pc.subtract(index, pc.cast(_follows(kinds), pa.int64()))
    parts = []
    for name in dict.fromkeys(columns):
        values = rows[name].combine_chunks()
        if pa.types.is_nested(values.type) or pa.types.is_null(values.type):
            continue
        if pa.types.is_boolean(values.type):
            values = values.cast(pa.int8())
        # Nulls come first, as in Spark.
        parts += [pc.is_valid(values).cast(pa.int8()).take(heads), values.take(heads)]
    parts += [ranks.take(heads), heads, ranks]
    names = [str(place) for place in range(len(parts))]
    order = pc.sort_indices(
        pa.table(parts, names=names), sort_keys=[(name, "ascending") for name in names]
    )
    return rows.take(order)


def _follows(kinds: pa.Array) -> pa.BooleanArray:
    """Return which rows are postimages right behind a preimage."""
    is_post = pc.fill_null(pc.equal(kinds, UPDATE_POSTIMAGE), False)
    is_pre = pc.fill_null(pc.equal(kinds, UPDATE_PREIMAGE), False)
    before = pa.concat_arrays([pa.array([False] * min(1, len(kinds))), is_pre[:-1]])
    return pc.and_(is_post, before)


def diff_order(plan: SnapshotDiff) -> Sequence[str]:
    """Return the columns by which the rows of a diff are shown in order."""
    return plan.keys or plan.schema.names[:1]


def change_counts(rows: pa.Table) -> dict[str, int]:
    """Return how many rows there are by change type."""
    counted = rows.group_by(CHANGE_TYPE).aggregate([([], "count_all")])
    return dict(
        zip(counted[CHANGE_TYPE].to_pylist(), counted["count_all"].to_pylist(), strict=True)
    )


def partition_counts(rows: pa.Table, columns: Sequence[str]) -> list[tuple[str, Mapping[str, int]]]:
    """Return the same for each partition, in order of their values."""
    if not columns:
        return []
    texts = {name: pa.array(column_texts(rows[name]), pa.string()) for name in columns}
    named = pa.table({**texts, CHANGE_TYPE: rows[CHANGE_TYPE]})
    counted = named.group_by([*columns, CHANGE_TYPE]).aggregate([([], "count_all")])
    found: dict[str, dict[str, int]] = {}
    for row in counted.to_pylist():
        name = ", ".join(f"{key} = {_null(row[key])}" for key in columns)
        found.setdefault(name, {})[row[CHANGE_TYPE]] = row["count_all"]
    return sorted(found.items())


def _null(text: str | None) -> str:
    return "null" if text is None else text


def diff_view(plan: SnapshotDiff, rows: pa.Table, *, most: int = MOST_ROWS) -> DiffView:
    """Return what a page shows of all rows of a diff."""
    names = [name for name in rows.column_names if name != CHANGE_TYPE]
    shown = changes_in_order(rows, diff_order(plan)).slice(0, most)
    columns = [shown[CHANGE_TYPE].to_pylist(), *(column_texts(shown[name]) for name in names)]
    partitions = [name for name in plan.after.partition_columns if name in names]
    return DiffView(
        columns=tuple(names),
        rows=list(zip(*columns, strict=True)),
        counts=change_counts(rows),
        partitions=partition_counts(rows, partitions),
    )
