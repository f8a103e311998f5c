"""Changes in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Sequence

import pyarrow as pa
import pyarrow.compute as pc

from truckee.changes.columns import CHANGE_TYPE, UPDATE_POSTIMAGE, UPDATE_PREIMAGE
from truckee.log.checkpoint.columns import typed_child

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
