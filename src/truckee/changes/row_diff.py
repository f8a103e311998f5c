"""Which rows of a data file a change of its deletion vector deleted and restored.

One commit changes the vector of a file once; a range of commits may change it hundreds of times.
`layers` turns all those changes into a few bitmaps, so that the file is read once and each row
still finds every change that it took part in.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from truckee.deletion_vectors.bitmap import NO_ROWS, RowBitmap


class RowDiff(Struct, frozen=True):
    """Rows that were live before and are not now, and rows for which it is the other way."""

    deleted: RowBitmap
    restored: RowBitmap


class RowEvent(Struct, frozen=True):
    """The rows of one file that one change touched; `ordinal` is the caller's name for it."""

    ordinal: int
    rows: RowBitmap


class Layer(Struct, frozen=True):
    """Events of which no row has more than one, with the ordinals in binary, one bitmap a digit.

    `slices[i]` holds the rows whose event has bit i set in its ordinal; `union` holds every row,
    also those of ordinal 0.
    """

    union: RowBitmap
    slices: tuple[RowBitmap, ...]

    def ordinal(self, row: int) -> int | None:
        """Return the event that a row belongs to, None if it belongs to none."""
        if row not in self.union:
            return None
        return sum(1 << bit for bit, rows in enumerate(self.slices) if row in rows)


def changed_rows(before: RowBitmap, after: RowBitmap) -> RowDiff:
    """Return the rows that replacing one deletion vector by another deleted and restored.

    Both mark deleted rows of the same data file. With before = {0, 1} and after = {1, 2}, row 2
    was deleted and row 0 restored; row 1 was gone already and is no change.
    """
    return RowDiff(deleted=after - before, restored=before - after)


def layers(events: Iterable[RowEvent]) -> list[Layer]:
    """Return the events of one file as layers, as few as the busiest row has events.

    Ordinals are distinct, and small ones need few bitmaps: 200 events need eight. A row that was
    deleted, restored and deleted again is in three layers, the earliest event in the first:

        0: {1, 2}    1: {2, 3}    2: {2}

        layer 0    rows 1, 2 -> 0    row 3 -> 1
        layer 1    row 2 -> 1
        layer 2    row 2 -> 2
    """
    unions: list[RowBitmap] = []
    parts: list[list[RowEvent]] = []
    for event in events:
        rows, depth = event.rows, 0
        while rows:
            if depth == len(unions):
                unions.append(NO_ROWS)
                parts.append([])
            free = rows - unions[depth]
            if free:
                parts[depth].append(RowEvent(event.ordinal, free))
                rows = rows & unions[depth]
                unions[depth] = unions[depth] | free
            depth += 1
    return [Layer(union, _slices(members)) for union, members in zip(unions, parts, strict=True)]


def _slices(members: list[RowEvent]) -> tuple[RowBitmap, ...]:
    bits = max(member.ordinal for member in members).bit_length()
    return tuple(
        RowBitmap.union(member.rows for member in members if member.ordinal >> bit & 1)
        for bit in range(bits)
    )
