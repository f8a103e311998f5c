"""The images of rows, version by version, from timelines of files.

The rows are given with their location: the number of a file, and the position in it. A row is live
from a version whose vector does not mark it to the next one that marks it, or removes the file.
If a row ends and another begins in one version, the row has moved if the two are equal, and was
updated if they have the same identity.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import accumulate
from typing import Any, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from truckee.arrow.columns import arrow_schema
from truckee.arrow.compare.row_comparison import comparable_array
from truckee.arrow.file_columns import ROW_POSITION
from truckee.changes.columns import (
    DELETE,
    INSERT,
    UPDATE_POSTIMAGE,
    UPDATE_PREIMAGE,
)
from truckee.changes.diff.row_timelines import FILE_NUMBER, CommitNote, RowTimelines
from truckee.deletion_vectors.bitmap import NO_ROWS, RowBitmap
from truckee.deletion_vectors.store import VectorOf, read_deletion_vectors
from truckee.log.checkpoint.columns import typed_child

EXISTS = "exists"
"""The type of a row that existed at the first known version."""

_NOTHING = CommitNote(None, None, None)


class _Event(NamedTuple):
    """An image: which of the given rows it is, and what happened to it."""

    row: int
    kind: str
    version: int
    changed: list[str] | None = None


def row_events(timelines: RowTimelines, rows: pa.Table, identity: Sequence[str]) -> pa.Table:
    """Return the images of rows, oldest first, with the columns of the timelines' history.

    `rows` have the columns of the table, their location, and the columns of `identity`.
    """
    events = list(_events(timelines, rows, identity))
    notes = [timelines.notes.get(event.version, _NOTHING) for event in events]
    stamps = [None if at.timestamp_ms is None else at.timestamp_ms * 1000 for at in notes]
    told = [
        typed_child([event.kind for event in events], pa.string()),
        typed_child([event.version for event in events], pa.int64()),
        typed_child(stamps, pa.int64()).cast(pa.timestamp("us", tz="UTC")),
        typed_child([note.operation for note in notes], pa.string()),
        typed_child([note.user_name for note in notes], pa.string()),
        _lists([event.changed for event in events]),
    ]
    taken = rows.select(timelines.schema.names).take(
        typed_child([event.row for event in events], pa.int64())
    )
    schema = arrow_schema(timelines.history_schema)
    return pa.table([*taken.columns, *told], names=schema.names).cast(schema)


def _lists(values: Sequence[Sequence[str] | None]) -> pa.Array:
    ends = accumulate((len(value or ()) for value in values), initial=0)
    texts = typed_child([text for value in values for text in value or ()], pa.string())
    lists = pa.ListArray.from_arrays(typed_child(list(ends), pa.int32()), texts)
    is_null = typed_child([value is None for value in values], pa.bool_())
    return pc.if_else(is_null, pa.scalar(None, lists.type), lists)


def _events(timelines: RowTimelines, rows: pa.Table, identity: Sequence[str]) -> Iterator[_Event]:
    names = timelines.schema.names
    values = {name: comparable_array(rows[name]).to_pylist() for name in names}
    whole = list(zip(*values.values(), strict=True))
    keys = list(zip(*(comparable_array(rows[name]).to_pylist() for name in identity), strict=True))
    born: dict[int, list[int]] = defaultdict(list)
    dead: dict[int, list[int]] = defaultdict(list)
    for row, version, is_birth in _turns(timelines, rows):
        (born if is_birth else dead)[version].append(row)
    for version in sorted(born.keys() | dead.keys()):
        deaths, births = _unmoved(dead[version], born[version], whole)
        if version == timelines.first and version > 0:
            yield from (_Event(row, EXISTS, version) for row in births)
            continue
        for before, after in _pairs(deaths, births, keys):
            if before is not None and after is not None:
                changed = [name for name in names if values[name][before] != values[name][after]]
                yield _Event(before, UPDATE_PREIMAGE, version, changed)
                yield _Event(after, UPDATE_POSTIMAGE, version, changed)
            elif before is not None:
                yield _Event(before, DELETE, version)
            elif after is not None:
                yield _Event(after, INSERT, version)


def _turns(timelines: RowTimelines, rows: pa.Table) -> Iterator[tuple[int, int, bool]]:
    """Yield each begin and end: the row, the version, and whether it is a begin."""
    places: dict[int, list[tuple[int, int]]] = defaultdict(list)
    numbers, positions = rows[FILE_NUMBER].to_pylist(), rows[ROW_POSITION].to_pylist()
    for row, (number, position) in enumerate(zip(numbers, positions, strict=True)):
        places[number].append((row, position))
    vectors = _vectors(timelines, places)
    for number, members in places.items():
        live: set[int] = set()
        for state in timelines.timelines[number].states:
            marked = NO_ROWS
            if state.vector is not None and not state.vector.is_empty:
                marked = vectors[number, state.version]
            for row, position in members:
                is_live = state.is_there and position not in marked
                if is_live != (row in live):
                    (live.add if is_live else live.discard)(row)
                    yield row, state.version, is_live


def _vectors(
    timelines: RowTimelines, numbers: Mapping[int, Any]
) -> dict[tuple[int, int], RowBitmap]:
    wanted = {
        (number, state.version): VectorOf(
            descriptor=state.vector, data_file=of.file.path, version=state.version
        )
        for number, of in ((number, timelines.timelines[number]) for number in numbers)
        for state in of.states
        if state.vector is not None and not state.vector.is_empty
    }
    found = read_deletion_vectors(timelines.newest.storage, list(wanted.values()))
    return dict(zip(wanted, found, strict=True))


def _unmoved(
    deaths: Sequence[int], births: Sequence[int], whole: Sequence[Any]
) -> tuple[list[int], list[int]]:
    """Return the rows without those that only moved to another file."""
    spare = Counter(whole[row] for row in deaths) & Counter(whole[row] for row in births)
    left: list[list[int]] = []
    for rows in (deaths, births):
        moved = Counter(spare)
        kept = []
        for row in rows:
            if moved[whole[row]] > 0:
                moved[whole[row]] -= 1
            else:
                kept.append(row)
        left.append(kept)
    return left[0], left[1]


def _pairs(
    deaths: Sequence[int], births: Sequence[int], keys: Sequence[Any]
) -> Iterator[tuple[int | None, int | None]]:
    """Yield the rows that ended and began, as pairs if one of each has the same identity."""
    if not keys:
        yield from ((row, None) for row in deaths)
        yield from ((None, row) for row in births)
        return
    groups: dict[Any, tuple[list[int], list[int]]] = {}
    for place, rows in enumerate((deaths, births)):
        for row in rows:
            groups.setdefault(keys[row], ([], []))[place].append(row)
    for before, after in groups.values():
        if len(before) == len(after) == 1:
            yield before[0], after[0]
            continue
        yield from ((row, None) for row in before)
        yield from ((None, row) for row in after)
