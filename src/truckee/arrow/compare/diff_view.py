"""A diff for display: as texts, with counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa

from truckee.arrow.compare.change_order import changes_in_order
from truckee.arrow.texts import column_texts
from truckee.changes.columns import CHANGE_TYPE, UPDATE_POSTIMAGE, UPDATE_PREIMAGE
from truckee.changes.diff.snapshot_diff import SnapshotDiff
from truckee.log.checkpoint.columns import typed_child
from truckee.report.diff_page import MOST_ROWS_SHOWN, DiffView, diff_fragment


def diff_order(plan: SnapshotDiff) -> Sequence[str]:
    """Return the columns by which the rows of a diff are sorted."""
    return plan.keys or plan.schema.names[:1]


def _counted(rows: pa.Table, partitions: Sequence[str]) -> pa.Table:
    """Return the number of rows by partition and type, as the column `count`."""
    texts = {name: typed_child(column_texts(rows[name]), pa.string()) for name in partitions}
    named = pa.table({**texts, CHANGE_TYPE: rows[CHANGE_TYPE]})
    counted = named.group_by([*partitions, CHANGE_TYPE]).aggregate([([], "count_all")])
    return counted.rename_columns([*partitions, CHANGE_TYPE, "count"])


def _by_type(counts: pa.Table) -> dict[str, int]:
    summed = counts.group_by(CHANGE_TYPE).aggregate([("count", "sum")])
    return dict(zip(summed[CHANGE_TYPE].to_pylist(), summed["count_sum"].to_pylist(), strict=True))


def _by_partition(
    counts: pa.Table, partitions: Sequence[str]
) -> list[tuple[str, Mapping[str, int]]]:
    """Return the counts of each partition by type, in order of their values."""
    if not partitions:
        return []
    texts = [column_texts(counts[name]) for name in partitions]
    kinds, numbers = counts[CHANGE_TYPE].to_pylist(), counts["count"].to_pylist()
    found: dict[str, dict[str, int]] = {}
    for kind, number, *values in zip(kinds, numbers, *texts, strict=True):
        pairs = zip(partitions, values, strict=True)
        name = ", ".join(f"{key} = {'null' if text is None else text}" for key, text in pairs)
        found.setdefault(name, {})[kind] = number
    for counted in found.values():
        # A row that moved to another partition was updated in both.
        moved = max(counted.get(kind, 0) for kind in (UPDATE_PREIMAGE, UPDATE_POSTIMAGE))
        counted[UPDATE_POSTIMAGE] = moved
    return sorted(found.items())


def diff_as_html(plan: SnapshotDiff, rows: pa.Table) -> str:
    """Return all rows of a diff as a piece of a page."""
    return diff_fragment(plan, diff_view(plan, rows))


def diff_view(plan: SnapshotDiff, rows: pa.Table, *, most: int = MOST_ROWS_SHOWN) -> DiffView:
    """Return what a page shows of a diff, from all of its rows."""
    if CHANGE_TYPE not in rows.column_names:
        # The column was not requested, so the type of change is unknown.
        rows = rows.append_column(CHANGE_TYPE, pa.nulls(rows.num_rows, pa.string()))
    partitions = [name for name in plan.after.partition_columns if name in rows.column_names]
    return counted_view(plan, rows, _counted(rows, partitions), most=most)


def counted_view(
    plan: SnapshotDiff, rows: pa.Table, counts: pa.Table, *, most: int = MOST_ROWS_SHOWN
) -> DiffView:
    """Return what a page shows of a diff: the first of these rows, and counts of all.

    `counts` has the columns of partitions, `_change_type` and `count`.
    """
    names = [name for name in rows.column_names if name != CHANGE_TYPE]
    order = [name for name in diff_order(plan) if name in names]
    shown = changes_in_order(rows, order).slice(0, most)
    columns = [shown[CHANGE_TYPE].to_pylist(), *(column_texts(shown[name]) for name in names)]
    return DiffView(
        columns=tuple(names),
        rows=list(zip(*columns, strict=True)),
        counts=_by_type(counts),
        partitions=_by_partition(
            counts, [name for name in plan.after.partition_columns if name in counts.column_names]
        ),
    )
