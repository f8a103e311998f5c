"""Charts as SVG text: bars, with their numbers on hover and colours from the page's CSS."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from html import escape

from msgspec import Struct

WIDE = 960
NARROW = 460
_LEFT = 64
_RIGHT = 8
_WIDEST_BAR = 64.0
_ROOM_FOR_TEXT = 20  # text is that tall where a narrow page draws a wide chart small


class Bar(Struct, frozen=True):
    """One bar: its height, None if it is unknown, and its text on hover."""

    value: int | None
    title: str
    css_class: str = "bar"


class Tick(Struct, frozen=True):
    """A text below the bar at an index."""

    index: int
    text: str


def bars(
    values: Sequence[Bar],
    *,
    label: str,
    width: int = WIDE,
    height: int = 96,
    ticks: Iterable[Tick] = (),
    is_logarithmic: bool = False,
) -> str:
    """Return a bar chart; `label` describes it for screen readers."""
    highest = max((bar.value or 0 for bar in values), default=0)
    lines = [
        _axis(value, _share(value, highest, is_logarithmic), width, height)
        for value in _marks(highest, is_logarithmic, height)
    ]
    step = _step(values, width)
    shapes = [
        _bar(bar, _LEFT + index * step, step, _share(bar.value, highest, is_logarithmic), height)
        for index, bar in enumerate(values)
    ]
    texts = [_tick(tick, step, height, len(values)) for tick in ticks]
    parts = [*lines, *shapes, *texts]
    return _svg(width, height + (28 if texts else 6), label, parts, "wide" if width == WIDE else "")


def strip(values: Sequence[Bar], *, label: str) -> str:
    """Return a band with one cell per value; the class of a bar gives its colour."""
    step = _step(values, WIDE)
    cells = [
        f'<rect class="cell {bar.css_class}" x="{_LEFT + index * step:.2f}" y="2"'
        f' width="{step:.2f}" height="16"><title>{escape(bar.title)}</title></rect>'
        for index, bar in enumerate(values)
    ]
    return _svg(WIDE, 20, label, cells, "wide strip")


def _step(values: Sequence[Bar], width: int) -> float:
    """Return the width of one bar: few bars do not fill the whole width."""
    return min(_WIDEST_BAR, (width - _LEFT - _RIGHT) / max(1, len(values)))


def _svg(width: int, height: int, label: str, parts: Iterable[str], css_class: str) -> str:
    named = f' class="{css_class}"' if css_class else ""
    # A strip is stretched: its height is the same on every page.
    shape = ' preserveAspectRatio="none"' if "strip" in css_class else ""
    return (
        f'<svg{named}{shape} viewBox="0 0 {width} {height}" role="img"'
        f' aria-label="{escape(label)}">' + "".join(parts) + "</svg>"
    )


def _share(value: int | None, highest: int, is_logarithmic: bool) -> float:
    if value is None or value <= 0 or highest <= 0:
        return 0.0
    if is_logarithmic:
        return math.log10(1 + value) / math.log10(1 + highest)
    return value / highest


def _bar(bar: Bar, left: float, step: float, share: float, height: int) -> str:
    """Return a bar, and a hover area of the full height that shows its numbers."""
    gap = min(2.0, step / 5)
    tall = max(1.5, share * (height - 12)) if bar.value else 0.0
    css_class, top = bar.css_class, height - tall
    if bar.value is None:
        css_class, tall, top = "unknown", 4.0, height - 4.0
    return (
        f'<g><rect class="{css_class}" x="{left + gap / 2:.2f}" y="{top:.2f}"'
        f' width="{step - gap:.2f}" height="{tall:.2f}"/>'
        f'<rect class="hover" x="{left:.2f}" y="0" width="{step:.2f}" height="{height}">'
        f"<title>{escape(bar.title)}</title></rect></g>"
    )


def _marks(highest: int, is_logarithmic: bool, height: int) -> list[int]:
    """Return the values of the grid lines: zero, the highest, and those between with room."""
    if highest <= 0:
        return [0]
    between = [highest // 2]
    if is_logarithmic:
        powers = [10**exponent for exponent in range(19) if 10**exponent < highest]
        between = powers[:: max(1, math.ceil(len(powers) / 2))] if len(powers) > 4 else powers
    marks = [0, highest]
    for value in between:
        places = (_share(mark, highest, is_logarithmic) for mark in marks)
        here = _share(value, highest, is_logarithmic)
        if all(abs(here - place) * (height - 12) >= _ROOM_FOR_TEXT for place in places):
            marks.append(value)
    return sorted(marks)


def _axis(value: int, share: float, width: int, height: int) -> str:
    y = height - share * (height - 12)
    return (
        f'<line class="grid" x1="{_LEFT}" x2="{width - _RIGHT}" y1="{y:.2f}" y2="{y:.2f}"/>'
        f'<text class="axis" x="{_LEFT - 8}" y="{y + 4:.2f}" text-anchor="end">'
        f"{short_number(value)}</text>"
    )


def _tick(tick: Tick, step: float, height: int, count: int) -> str:
    """Return the text below a bar; at the edges it stays inside the chart."""
    anchor, x = "middle", _LEFT + (tick.index + 0.5) * step
    if count > 8 and tick.index == count - 1:
        anchor, x = "end", _LEFT + count * step
    elif count > 8 and tick.index == 0:
        anchor, x = "start", float(_LEFT)
    return (
        f'<text class="axis" x="{x:.2f}" y="{height + 22}" text-anchor="{anchor}">'
        f"{escape(tick.text)}</text>"
    )


def short_number(value: int) -> str:
    """Return a number in few characters: 12345 is 12.3k."""
    for size, unit in ((10**9, "G"), (10**6, "M"), (10**3, "k")):
        if value >= size:
            text = f"{value / size:.1f}".removesuffix(".0")
            return f"{text}{unit}"
    return str(value)
