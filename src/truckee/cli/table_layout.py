"""How a table fits on a terminal: one row is one line, so columns get narrower, then fewer.

A pipe has no width, and so nothing is shortened there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import Enum
from typing import NamedTuple

GAP = 2
"""How many spaces are between two columns."""

_ELLIPSIS = "…"


class CellKind(Enum):
    """What the cells of a column hold, which says how they may be shortened."""

    VALUE = "in the middle"
    SENTENCE = "at the end"
    TIME = "to seconds"
    WORD = "never"
    NUMBER = "never, and aligned right"


class Heading(NamedTuple):
    """A column of a table, by the name above it."""

    name: str
    kind: CellKind = CellKind.VALUE

    @classmethod
    def sentence(cls, name: str) -> Heading:
        """Return a column of words that may be shortened at the end."""
        return cls(name, CellKind.SENTENCE)

    @classmethod
    def time(cls, name: str) -> Heading:
        """Return a column of times, of which fraction and zone may go."""
        return cls(name, CellKind.TIME)

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
            yield place, _padded(_shortened(row[place], width, kind), width, kind)


class _Least(NamedTuple):
    """How narrow columns may get: those of texts, those of times, and the names of the others."""

    text: int
    time: int
    name: int


# A time up to its second, and the ellipsis that says that there is more.
_SECONDS = len("2024-01-01 00:00:00") + 1
_WHOLE = 1000
_STEPS = (_Least(28, _WHOLE, _WHOLE), _Least(12, _SECONDS, _WHOLE), _Least(8, _SECONDS, 7))


def table_layout(
    headings: Sequence[Heading],
    rows: Sequence[Sequence[str]],
    *,
    room: int | None,
    spare: Sequence[str] = (),
) -> Layout:
    """Return which columns are shown in `room` cells of a terminal, and how wide they are.

    Without a number of cells, all of them are shown whole.

    Wide columns give way first. If that is not enough, columns are left out: those that are empty
    in all rows, then those in `spare`, the first of them first, then the last ones.
    """
    cells = [_widest(row[place] for row in rows) for place in range(len(headings))]
    shown = list(range(len(headings)))
    if room is None:
        return Layout(tuple(shown), _wanted(headings, cells))
    order = _order_of_leaving(headings, cells, spare)
    while True:
        widths = _widths([headings[at] for at in shown], [cells[at] for at in shown], room)
        if widths is not None or len(shown) == 1:
            return Layout(tuple(shown), widths or (room,))
        shown.remove(next(order))


def _order_of_leaving(
    headings: Sequence[Heading], cells: Sequence[int], spare: Sequence[str]
) -> Iterator[int]:
    names = [heading.name for heading in headings]
    empty = [place for place, width in enumerate(cells) if width == 0]
    spares = [names.index(name) for name in spare]
    return iter(dict.fromkeys((*empty, *spares, *reversed(range(len(names))))))


def _widest(texts: Iterable[str]) -> int:
    return max(map(_cells_of, texts), default=0)


def _widths(headings: Sequence[Heading], cells: Sequence[int], room: int) -> tuple[int, ...] | None:
    """Return the widths of columns, as wide as there is room for; None if there is not enough."""
    rest = room - GAP * (len(headings) - 1)
    wanted = _wanted(headings, cells)
    if sum(wanted) <= rest:
        return wanted
    for step in _STEPS:
        least = [
            min(want, _least(head.kind, of, step))
            for head, of, want in zip(headings, cells, wanted, strict=True)
        ]
        if sum(least) <= rest:
            # A time is shown whole or up to its second, not with half of its fraction.
            most = [
                low if head.kind is CellKind.TIME else want
                for head, low, want in zip(headings, least, wanted, strict=True)
            ]
            return _levelled(most, least, rest)
    return None


def _wanted(headings: Sequence[Heading], cells: Sequence[int]) -> tuple[int, ...]:
    names = (_cells_of(heading.name) for heading in headings)
    return tuple(map(max, names, cells))


def _least(kind: CellKind, cells: int, step: _Least) -> int:
    if kind is CellKind.TIME:
        return step.time
    if kind in (CellKind.VALUE, CellKind.SENTENCE):
        return step.text
    return max(cells, step.name)


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


def _cells_of(text: str) -> int:
    """Return how many cells of a terminal a text takes: characters of East Asia take two."""
    if text.isascii():
        return len(text)
    from rich.cells import cell_len

    return cell_len(text)


def _shortened(text: str, width: int, kind: CellKind) -> str:
    """Return a text that takes at most `width` cells, with an ellipsis for what is left out."""
    if _cells_of(text) <= width:
        return text
    # The beginning of a file's name tells more than its end, where all names are alike.
    tail = (width - 1) // 4 if kind is CellKind.VALUE else 0
    end = _first_cells(text[::-1], tail)[::-1]
    return _first_cells(text, width - 1 - _cells_of(end)).rstrip() + _ELLIPSIS + end


def _first_cells(text: str, count: int) -> str:
    if text.isascii():
        return text[:count]
    for length in range(min(len(text), count), -1, -1):
        if _cells_of(text[:length]) <= count:
            return text[:length]
    return ""


def _padded(text: str, width: int, kind: CellKind) -> str:
    """Return a text with spaces up to a width, before it if it is a number."""
    spaces = " " * (width - _cells_of(text))
    return spaces + text if kind is CellKind.NUMBER else text + spaces
