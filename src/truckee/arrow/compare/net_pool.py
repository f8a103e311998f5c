"""Net changes, computed in memory by the same rules as on Spark.

A pool is a table of changes. The result has rows of the pool, some with another type of change.
With an identity, a row's images are put in order of version, and the first and last one decide:

    version         4        5        6        7      net
    id 1            +a       -a +b             -b     nothing: not there before, nor after
    id 2            -a                +b              delete a, insert b: there before and after
    id 3, moved              -a +a    -a              delete a of version 6: 5 only moved it

Without one, each of several equal rows counts: as many are left as were inserted more often than
deleted, or the reverse. The last inserts are shown, or the first deletes.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import pyarrow as pa

from truckee.arrow.compare.row_comparison import chosen_rows, comparable_array
from truckee.arrow.texts import json_texts
from truckee.changes.columns import (
    CHANGE_TYPE,
    COMMIT_VERSION,
    DELETE,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.row_identity import ROW_VERSION, not_unique_error
from truckee.errors.diff import KeysNotUniqueError
from truckee.rows.plan import SIDES_OF_A_VERSION


def net_images(
    pool: pa.Table,
    columns: Sequence[str],
    identity: Sequence[str],
    is_moved: Sequence[bool],
    *,
    as_updates: bool,
    drop_unchanged: bool,
) -> pa.Table:
    """Return the net changes of rows that `identity` distinguishes.

    `is_moved` says for each row whether its version may only have moved it. Raises
    `KeysNotUniqueError` if a version has several rows on one side.
    """
    kinds = (UPDATE_PREIMAGE, UPDATE_POSTIMAGE) if as_updates else (DELETE, INSERT)
    rows = _group_numbers(pool, columns)
    marks: Sequence[int | None] = rows
    if ROW_VERSION in pool.column_names:
        marks = pool[ROW_VERSION].to_pylist()

    def is_carried(pre: int | None, post: int | None) -> bool:
        if pre is None or post is None or not (is_moved[pre] and is_moved[post]):
            return False
        return marks[pre] is not None and marks[pre] == marks[post]

    chosen: list[tuple[int, str]] = []
    for versions in _images_by_version(pool, identity).values():
        left = [images for _, images in sorted(versions.items()) if not is_carried(*images)]
        pre, post = (left[0][0], left[-1][1]) if left else (None, None)
        if pre is not None and post is not None:
            if not (drop_unchanged and rows[pre] == rows[post]):
                chosen += [(pre, kinds[0]), (post, kinds[1])]
        elif pre is not None:
            chosen.append((pre, DELETE))
        elif post is not None:
            chosen.append((post, INSERT))
    return chosen_rows(pool, sorted(chosen))


def net_copies(pool: pa.Table, columns: Sequence[str]) -> pa.Table:
    """Return the net changes of whole rows: the last inserts of a row, or the first deletes."""
    by_row: dict[int, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    versions, after = pool[COMMIT_VERSION].to_pylist(), _are_after(pool)
    for place, row in enumerate(_group_numbers(pool, columns)):
        by_row[row][versions[place]].append(place)
    chosen: list[tuple[int, str]] = []
    for events in by_row.values():
        left: dict[bool, list[int]] = {False: [], True: []}
        for _, places in sorted(events.items()):
            sides = {side: [p for p in places if after[p] is side] for side in (False, True)}
            spare = len(sides[True]) - len(sides[False])
            left[spare > 0] += sides[spare > 0][: abs(spare)]
        net = len(left[True]) - len(left[False])
        kept = left[True][-net:] if net > 0 else left[False][: abs(net)]
        chosen += [(place, INSERT if net > 0 else DELETE) for place in kept if net]
    return chosen_rows(pool, sorted(chosen))


def _images_by_version(
    pool: pa.Table, identity: Sequence[str]
) -> dict[int, dict[int, list[int | None]]]:
    """Return the rows of a pool as [before, after] by identity and version."""
    keys, versions = _group_numbers(pool, identity), pool[COMMIT_VERSION].to_pylist()
    found: dict[int, dict[int, list[int | None]]] = defaultdict(dict)
    for place, (key, version, after) in enumerate(
        zip(keys, versions, _are_after(pool), strict=True)
    ):
        images = found[key].setdefault(version, [None, None])
        if images[after] is not None:
            raise _not_unique(pool, identity, keys, place)
        images[after] = place
    return found


def _group_numbers(pool: pa.Table, columns: Sequence[str]) -> list[int]:
    """Return a number for each row that is the same for rows equal in all columns."""
    numbers = pa.array([0] * pool.num_rows, pa.int64())
    for name in columns:
        values = comparable_array(pool[name]).dictionary_encode(null_encoding="encode")
        both = pa.StructArray.from_arrays([numbers, values.indices], ["a", "b"])
        codes: dict[tuple[int, int], int] = {}
        pairs = zip(both.field("a").to_pylist(), both.field("b").to_pylist(), strict=True)
        numbers = pa.array([codes.setdefault(pair, len(codes)) for pair in pairs], pa.int64())
    return numbers.to_pylist()  # type: ignore[no-any-return]


def _are_after(pool: pa.Table) -> list[bool]:
    """Return, for each row, whether it exists after its change."""
    return [kind in (INSERT, UPDATE_POSTIMAGE) for kind in pool[CHANGE_TYPE].to_pylist()]


def _not_unique(
    pool: pa.Table, identity: Sequence[str], keys: Sequence[int], place: int
) -> KeysNotUniqueError:
    after, versions = _are_after(pool), pool[COMMIT_VERSION].to_pylist()
    same = [
        p
        for p, key in enumerate(keys)
        if key == keys[place] and after[p] is after[place] and versions[p] == versions[place]
    ]
    return not_unique_error(
        identity,
        where=SIDES_OF_A_VERSION[after[place]],
        example=next(json_texts(pool.select([*identity, COMMIT_VERSION]).slice(place, 1))),
        count=len(same),
    )
