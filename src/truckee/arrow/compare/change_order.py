"""Changes as they are shown: in order, counted, and as texts."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta, timezone
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.compare.rows import arrow_rows
from truckee.arrow.texts import column_texts
from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_TIMESTAMP,
    COMMIT_VERSION,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.log.checkpoint.columns import typed_child
from truckee.rows.plan import RowPlan

_EPOCH = datetime(1970, 1, 1, tzinfo=timezone.utc)
_BY = (COMMIT_VERSION, COMMIT_TIMESTAMP, CHANGE_TYPE)
_TYPES_IN_ORDER = typed_child(
    ["delete", "update_preimage", "update_postimage", "insert"], pa.string()
)


def changes_in_order(rows: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return changes sorted by columns, then by type; columns without an order are ignored.

    A postimage stays right after its preimage, whatever its values.
    """
    kinds = rows[CHANGE_TYPE].combine_chunks()
    ranks = pc.index_in(kinds, value_set=_TYPES_IN_ORDER)
    index = typed_child(range(rows.num_rows), pa.int64())
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
    """Return which rows are postimages right after a preimage."""
    is_post, is_pre = (
        # A constant of Arrow's own: for one of Python, pyarrow would import pandas.
        pc.is_in(kinds, value_set=typed_child([kind], pa.string()))
        for kind in (UPDATE_POSTIMAGE, UPDATE_PREIMAGE)
    )
    before = pa.concat_arrays([typed_child([False] * min(1, len(kinds)), pa.bool_()), is_pre[:-1]])
    return pc.and_(is_post, before)


def changed_rows_in_order(plan: RowPlan, where: str | None) -> pa.Table:
    """Return the rows of a feed by version, then by the first column, which often is the key."""
    found = arrow_rows(plan, where=where).to_arrow()
    return changes_in_order(found, [COMMIT_VERSION, found.column_names[0]])


def counted_changes(
    plan: RowPlan, where: str | None, versions: set[int] | None
) -> list[tuple[int, int | None, str, int]]:
    """Return the version, time, type and number of the changes of some versions; None means all."""
    rows = arrow_rows(plan, columns=_BY, where=where).to_arrow()
    counts = rows.group_by(list(_BY)).aggregate([([], "count_all")]).to_pylist()
    return [
        (row[_BY[0]], _millis(row[_BY[1]]), row[_BY[2]], row["count_all"])
        for row in counts
        if versions is None or row[_BY[0]] in versions
    ]


def _millis(at: datetime | None) -> int | None:
    return None if at is None else (at - _EPOCH) // timedelta(milliseconds=1)


def feed_texts(rows: pa.Table) -> list[tuple[Any, ...]]:
    """Return rows of a feed as texts, with their time in milliseconds."""
    *columns, times = rows.columns
    texts = [column_texts(column) for column in columns]
    # Counts, since Python's range of years is too small for what a log may say.
    micros = times.cast(pa.timestamp("us", tz=times.type.tz)).cast(pa.int64()).to_pylist()
    millis = [None if at is None else at // 1000 for at in micros]
    return list(zip(*texts, millis, strict=True))
