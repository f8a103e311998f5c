"""How a table fits on a terminal: one row is one line, so columns get narrower, then fewer.

A pipe has no width, and so nothing is shortened there.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

GAP = 2
"""How many spaces are between two columns."""

_ELLIPSIS = "…"


_TIME = re.compile(r"\d{4}-\d\d-\d\d[ T]\d\d:\d\d(:\d\d(\.\d+)?)?([+-]\d\d:\d\d|Z)?")
_NUMBER = re.compile(r"-?\d+(\.\d+)?(E-?\d+)?")


class CellKind(Enum):
    """What the cells of a column hold, which says how they may be shortened."""

    VALUE = "at the end"
    FILE = "in the middle"
    TIME = "to seconds, to minutes, or to the day"
    CHANGE = "the image of an update without the word update"
    WORD = "never"
    NUMBER = "never, and aligned right"


class Heading(NamedTuple):
    """A column of a table, by the name above it."""

    name: str
    kind: CellKind = CellKind.VALUE

    @classmethod
    def file(cls, name: str) -> Heading:
        """Return a column of names of files, which often differ at both ends."""
        return cls(name, CellKind.FILE)

    @classmethod
    def time(cls, name: str) -> Heading:
        """Return a column of times, of which fraction and zone may go."""
        return cls(name, CellKind.TIME)

    @classmethod
    def change(cls, name: str) -> Heading:
        """Return a column of types of changes: `update_preimage` may become `preimage`."""
        return cls(name, CellKind.CHANGE)

    @classmethod
    def word(cls, name: str) -> Heading:
        """Return a column of words that are never shortened."""
        return cls(name, CellKind.WORD)

    @classmethod
    def number(cls, name: str) -> Heading:
        """Return a column of numbers."""
        return cls(name, CellKind.NUMBER)


class Layout(NamedTuple):
    """The columns of a table that are shown, by position, and how wide each of them is."""

    places: tuple[int, ...]
    widths: tuple[int, ...]

    def cells(self, headings: Sequence[Heading], row: Sequence[str]) -> Iterator[tuple[int, str]]:
        """Yield the position and the text of each cell of a row that is shown, padded."""
        for place, width in zip(self.places, self.widths, strict=True):
            kind = headings[place].kind
            yield place, padded(_shortened(row[place], width, kind), width, kind)


class _Least(NamedTuple):
    """How narrow columns may get: those of texts, those of times, and the names of the others."""

    text: int
    time: int
    name: int


_WHOLE = 1000
_IN_STEPS = (CellKind.TIME, CellKind.CHANGE)
# A time up to its second, its minute or its day, and the ellipsis that says that there is more.
_SECONDS = len("2024-01-01 00:00:00") + 1
_MINUTES = len("2024-01-01 00:00") + 1
_DAYS = len("2024-01-01") + 1
# A text of fewer characters than these says nothing.
_TEXT = 12
_GENTLE = (_Least(28, _WHOLE, _WHOLE), _Least(_TEXT, _SECONDS, _WHOLE))
_HARSH = (_Least(_TEXT, _MINUTES, 7), _Least(_TEXT, _DAYS, 7))


def table_layout(
    headings: Sequence[Heading],
    rows: Sequence[Sequence[str]],
    *,
    room: int | None,
    spare: Sequence[int] = (),
) -> Layout:
    """Return which columns are shown in `room` cells of a terminal, and how wide they are.

    Without a number of cells, all of them are shown whole.

    Wide columns give way first. If that is not enough, columns are left out: those that are empty
    in all rows, then those at the positions in `spare`, in this order. Then times are cut below
    their seconds, and types of changes to one word. After that, the last columns are left out.
    """
    cells = [_widest(row[place] for row in rows) for place in range(len(headings))]
    shown = list(range(len(headings)))
    if room is None:
        return Layout(tuple(shown), _wanted(headings, cells))
    empty = [place for place, width in enumerate(cells) if width == 0]
    spares = list(dict.fromkeys((*empty, *spare)))
    while True:
        steps = _GENTLE if spares and len(shown) > 1 else (*_GENTLE, *_HARSH)
        widths = _widths(headings, cells, shown, room, steps)
        if widths is not None or len(shown) == 1:
            return Layout(tuple(shown), widths or (room,))
        shown.remove(spares.pop(0) if spares else shown[-1])


def kind_of_texts(texts: Sequence[str]) -> CellKind:
    """Return how a column of values may be shortened: times by their parts, numbers not at all."""
    values = [text for text in texts if text not in ("", "null")]
    if values and all(map(_TIME.fullmatch, values)):
        return CellKind.TIME
    return CellKind.WORD if values and all(map(_NUMBER.fullmatch, values)) else CellKind.VALUE


def _widest(texts: Iterable[str]) -> int:
    return max(map(cells_of, texts), default=0)


def _widths(
    headings: Sequence[Heading],
    cells: Sequence[int],
    shown: Sequence[int],
    room: int,
    steps: Sequence[_Least],
) -> tuple[int, ...] | None:
    """Return the widths of columns, as wide as there is room for; None if there is not enough."""
    rest = room - GAP * (len(shown) - 1)
    columns = [headings[place] for place in shown]
    widest = [cells[place] for place in shown]
    wanted = _wanted(columns, widest)
    if sum(wanted) <= rest:
        return wanted
    for step in steps:
        least = [
            min(want, _least(column.kind, width, step))
            for column, width, want in zip(columns, widest, wanted, strict=True)
        ]
        if sum(least) <= rest:
            # What is cut to a part of a time or to one word is not shown with a bit more than that.
            most = [
                low if column.kind in _IN_STEPS else want
                for column, low, want in zip(columns, least, wanted, strict=True)
            ]
            return _levelled(most, least, rest)
    return None


def _wanted(headings: Sequence[Heading], cells: Sequence[int]) -> tuple[int, ...]:
    names = (cells_of(heading.name) for heading in headings)
    return tuple(map(max, names, cells))


def _least(kind: CellKind, width: int, step: _Least) -> int:
    match kind:
        case CellKind.TIME:
            return step.time
        case CellKind.VALUE | CellKind.FILE:
            return step.text
        case CellKind.CHANGE if step in _HARSH:
            return max(min(width, len("postimage")), step.name)
    return max(width, step.name)


def _levelled(wanted: Sequence[int], least: Sequence[int], rest: int) -> tuple[int, ...]:
    """Return widths whose sum is `rest`: the widest columns are cut to the same level.

    With wanted = (30, 20, 4), least = (5, 5, 4) and rest = 24, the widths are (10, 10, 4).
    """
    level = min(max(wanted), rest)
    while True:
        widths = [max(low, min(want, level)) for want, low in zip(wanted, least, strict=True)]
        if sum(widths) <= rest:
            break
        level -= 1
    left = rest - sum(widths)
    for place, want in enumerate(wanted):
        if left and widths[place] == level < want:
            widths[place] += 1
            left -= 1
    return tuple(widths)


def cells_of(text: str) -> int:
    """Return how many cells of a terminal a text takes: characters of East Asia take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _shortened(text: str, width: int, kind: CellKind) -> str:
    """Return a text that takes at most `width` cells, with an ellipsis for what is left out."""
    if kind is CellKind.CHANGE and len(text) > width:
        text = text.removeprefix("update_")
    if cells_of(text) <= width:
        return text
    # The beginning of a file's name tells more than its end, where all names are alike.
    tail = (width - 1) // 4 if kind is CellKind.FILE else 0
    end = _first_cells(text[::-1], tail)[::-1]
    return _first_cells(text, width - 1 - cells_of(end)).rstrip() + _ELLIPSIS + end


def _first_cells(text: str, count: int) -> str:
    if text.isascii():
        return text[:count]
    for length in range(min(len(text), count), -1, -1):
        if cells_of(text[:length]) <= count:
            return text[:length]
    return ""


def padded(text: str, width: int, kind: CellKind = CellKind.WORD) -> str:
    """Return a text with spaces up to a width, before it if it is a number."""
    spaces = " " * (width - cells_of(text))
    return spaces + text if kind is CellKind.NUMBER else text + spaces
