"""The images of updates in order: what a row was comes before what it became."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_VERSION,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.log.checkpoint.columns import typed_child


def preimages_first(rows: pa.Table) -> pa.Table:
    """Return the rows of a feed with no postimage before the preimages of its version.

    Most writers put each postimage right after its preimage, and these stay. Some write all
    postimages of a version first; there, preimages come before all other rows of the version.
    """
    kinds, versions = rows[CHANGE_TYPE], rows[COMMIT_VERSION]
    is_pre, is_post = (
        pc.is_in(kinds, value_set=typed_child([kind], pa.string()))
        for kind in (UPDATE_PREIMAGE, UPDATE_POSTIMAGE)
    )
    images = pa.table([versions, is_post], names=["version", "post"]).filter(
        pc.or_(is_pre, is_post)
    )
    firsts = images.group_by("version", use_threads=False).aggregate([("post", "first")])
    reversed_versions = firsts.filter(firsts["post_first"])["version"].combine_chunks()
    if not len(reversed_versions):
        return rows
    is_moved = pc.is_in(versions, value_set=reversed_versions).combine_chunks()
    places = pc.indices_nonzero(is_moved)
    moved = pa.table(
        [versions.take(places), pc.invert(is_pre).take(places), places],
        names=["version", "rank", "place"],
    )
    before, after = (
        places.take(pc.sort_indices(moved, sort_keys=[(key, "ascending") for key in keys]))
        for keys in (("version", "place"), ("version", "rank", "place"))
    )
    order = pc.replace_with_mask(
        pc.indices_nonzero(pa.repeat(typed_child([True], pa.bool_())[0], rows.num_rows)),
        is_moved,
        after.take(pc.sort_indices(before)),
    )
    return rows.take(order)
