"""Net changes, computed in memory by the same rules as on Spark.

A pool is a table of changes. The result has rows of the pool, some with another type of change.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import pyarrow as pa

from truckee.arrow.compare.row_comparison import comparable_array
from truckee.arrow.texts import json_texts
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

_SIDES = {False: "deleted by one version", True: "inserted by one version"}
Chosen = list[tuple[int, str]]
"""Rows of a pool, by position, with the type of change to show."""


class ComparedBy(NamedTuple):
    """When two images of one version are the same row: equal values, or the same row version.

    `is_compared` says for each row whether its version may only have moved it.
    """

    rows: Sequence[int]
    row_versions: Sequence[int | None] | None
    is_compared: Sequence[bool]

    def is_moved(self, pre: int, post: int) -> bool:
        """Return whether two images of a version are one moved row."""
        if not (self.is_compared[pre] and self.is_compared[post]):
            return False
        if self.row_versions is None:
            return self.rows[pre] == self.rows[post]
        before, after = self.row_versions[pre], self.row_versions[post]
        return before is not None and before == after


def images_by_version(
    pool: pa.Table, identity: Sequence[str]
) -> dict[int, dict[int, list[int | None]]]:
    """Return the rows of a pool as [before, after] by identity and version.

    Raises `KeysNotUniqueError` if a version has several rows on one side.
    """
    keys, versions = group_numbers(pool, identity), pool[COMMIT_VERSION].to_pylist()
    found: dict[int, dict[int, list[int | None]]] = defaultdict(dict)
    for place, (key, version, after) in enumerate(
        zip(keys, versions, are_after(pool), strict=True)
    ):
        images = found[key].setdefault(version, [None, None])
        if images[after] is not None:
            raise _not_unique(pool, identity, keys, place)
        images[after] = place
    return found


def paired_images(
    pool: pa.Table, identity: Sequence[str], compared: ComparedBy, *, as_updates: bool
) -> Chosen:
    """Return rows paired within their version: moved ones dropped, others as updates."""
    chosen: Chosen = []
    kinds = (UPDATE_PREIMAGE, UPDATE_POSTIMAGE) if as_updates else (DELETE, INSERT)
    for versions in images_by_version(pool, identity).values():
        for pre, post in versions.values():
            chosen += _shown(pre, post, kinds, compared)
    return sorted(chosen)


def net_images(
    pool: pa.Table,
    identity: Sequence[str],
    compared: ComparedBy,
    *,
    as_updates: bool,
    drop_unchanged: bool,
) -> Chosen:
    """Return the net changes of rows that `identity` distinguishes."""
    chosen: Chosen = []
    kinds = (UPDATE_PREIMAGE, UPDATE_POSTIMAGE) if as_updates else (DELETE, INSERT)
    for versions in images_by_version(pool, identity).values():
        left = [
            (pre, post)
            for _, (pre, post) in sorted(versions.items())
            if pre is None or post is None or not compared.is_moved(pre, post)
        ]
        if not left:
            continue
        pre, post = left[0][0], left[-1][1]
        is_same = pre is not None and post is not None and _is_equal(compared, pre, post)
        if not (drop_unchanged and is_same):
            chosen += _shown(pre, post, kinds, None)
    return sorted(chosen)


def net_copies(pool: pa.Table, rows: Sequence[int]) -> Chosen:
    """Return the net changes of whole rows: the last inserts of a row, or the first deletes."""
    by_row: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    versions, after = pool[COMMIT_VERSION].to_pylist(), are_after(pool)
    for place, row in enumerate(rows):
        by_row[row][versions[place]].append(place)
    chosen: Chosen = []
    for events in by_row.values():
        left: dict[bool, list[int]] = {False: [], True: []}
        for _, places in sorted(events.items()):
            sides = {side: [p for p in places if after[p] is side] for side in (False, True)}
            spare = len(sides[True]) - len(sides[False])
            left[spare > 0] += sides[spare > 0][: abs(spare)]
        net = len(left[True]) - len(left[False])
        kept = left[True][-net:] if net > 0 else left[False][: abs(net)]
        chosen += [(place, INSERT if net > 0 else DELETE) for place in kept if net]
    return sorted(chosen)


def uncancelled_places(pool: pa.Table, rows: Sequence[int], within: Sequence[object]) -> Chosen:
    """Return the rows that remain after equal deleted and inserted rows of a version cancel."""
    groups: dict[tuple[int, object], dict[bool, list[int]]] = defaultdict(
        lambda: {False: [], True: []}
    )
    after = are_after(pool)
    for place, key in enumerate(zip(rows, within, strict=True)):
        groups[key][after[place]].append(place)
    chosen: Chosen = []
    for sides in groups.values():
        spare = len(sides[True]) - len(sides[False])
        kind = INSERT if spare > 0 else DELETE
        chosen += [(place, kind) for place in sides[spare > 0][: abs(spare)]]
    return sorted(chosen)


def group_numbers(pool: pa.Table, columns: Sequence[str]) -> list[int]:
    """Return a number for each row that is the same for rows equal in all columns."""
    numbers = pa.array([0] * pool.num_rows, pa.int64())
    for name in columns:
        values = comparable_array(pool[name]).dictionary_encode(null_encoding="encode")
        both = pa.StructArray.from_arrays([numbers, values.indices], ["a", "b"])
        codes: dict[tuple[int, int], int] = {}
        pairs = zip(both.field("a").to_pylist(), both.field("b").to_pylist(), strict=True)
        numbers = pa.array([codes.setdefault(pair, len(codes)) for pair in pairs], pa.int64())
    return numbers.to_pylist()  # type: ignore[no-any-return]


def are_after(pool: pa.Table) -> list[bool]:
    """Return, for each row, whether it exists after its change."""
    return [kind in (INSERT, UPDATE_POSTIMAGE) for kind in pool[CHANGE_TYPE].to_pylist()]


def chosen_rows(pool: pa.Table, chosen: Chosen) -> pa.Table:
    """Return rows of a pool with other types of change."""
    rows = pool.take(pa.array([place for place, _ in chosen], pa.int64()))
    at = rows.column_names.index(CHANGE_TYPE)
    kinds = pa.array([kind for _, kind in chosen], pa.string())
    return rows.set_column(at, rows.schema.field(at), kinds)


def _is_equal(compared: ComparedBy, pre: int, post: int) -> bool:
    return compared.rows[pre] == compared.rows[post]


def _shown(
    pre: int | None, post: int | None, kinds: tuple[str, str], compared: ComparedBy | None
) -> Chosen:
    if pre is not None and post is not None:
        if compared is not None and compared.is_moved(pre, post):
            return []
        return [(pre, kinds[0]), (post, kinds[1])]
    if pre is not None:
        return [(pre, DELETE)]
    return [] if post is None else [(post, INSERT)]


def _not_unique(
    pool: pa.Table, identity: Sequence[str], keys: Sequence[int], place: int
) -> KeysNotUniqueError:
    after, versions = are_after(pool), pool[COMMIT_VERSION].to_pylist()
    same = [
        p
        for p, key in enumerate(keys)
        if key == keys[place] and after[p] is after[place] and versions[p] == versions[place]
    ]
    return not_unique_error(
        identity,
        where=_SIDES[after[place]],
        example=next(json_texts(pool.select([*identity, COMMIT_VERSION]).slice(place, 1))),
        count=len(same),
    )
