"""Growth curves as pictures: two log-log panels, processor time and memory, in one SVG.

Colours are those of the page, light or dark. Where a browser looks at the system's preference
instead, those for white can still be told from a dark page.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import NamedTuple

Series = Mapping[str, Sequence[tuple[float, float]]]
"""The points (x, y) of each line, by its name."""

_WIDTH, _HEIGHT = 640, 300
_TOP, _BOTTOM = 58, 250
_PANELS = ((52, 304), (372, 624))
_STYLE = (
    "text{fill:#546e7a}.m{fill:#5c7886}.g{stroke:#90a4ae;stroke-opacity:.35}"
    ".w{stroke:#90a4ae;stroke-dasharray:5 5;fill:none}"
    ".l{fill:none;stroke-width:2.5}.s0{stroke:#1e88e5}.s1{stroke:#e53935}.s2{stroke:#43a047}"
    ".d0{fill:#1e88e5}.d1{fill:#e53935}.d2{fill:#43a047}"
    "@media (prefers-color-scheme: dark){text{fill:#cfd8dc}.m{fill:#90a4ae}"
    ".s0{stroke:#64b5f6}.s1{stroke:#ef9a9a}.s2{stroke:#81c784}"
    ".d0{fill:#64b5f6}.d1{fill:#ef9a9a}.d2{fill:#81c784}}"
)


class _Scale(NamedTuple):
    """A logarithmic axis: powers of ten from `low` to `high`, over pixels."""

    low: int
    high: int
    start: float
    end: float

    def at(self, value: float) -> float:
        share = (math.log10(value) - self.low) / (self.high - self.low)
        return self.start + share * (self.end - self.start)

    @property
    def powers(self) -> range:
        step = max(1, math.ceil((self.high - self.low) / 5))
        return range(self.low, self.high + 1, step)


def picture(title: str, unit: str, seconds: Series, megabytes: Series) -> str:
    """Return both panels; the dashed line in each grows just as fast as the work."""
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img"'
        ' aria-labelledby="t" font-family="ui-sans-serif, system-ui, sans-serif" font-size="13">',
        f'<title id="t">{escape(title)}: processor time and driver memory, log-log</title>',
        f"<style>{_STYLE}</style>",
        *_legend(list(seconds)),
        *_panel(_PANELS[0], "processor time, s", unit, seconds),
        *_panel(_PANELS[1], "driver memory, MB", unit, megabytes),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _legend(names: Sequence[str]) -> Iterator[str]:
    x = _PANELS[0][0]
    for number, name in enumerate(names):
        yield f'<path class="l s{number}" d="M{x} 16h22"/>'
        yield f'<text x="{x + 28}" y="20">{escape(name)}</text>'
        x += 44 + 8 * len(name)
    yield f'<path class="w" d="M{x} 16h22"/>'
    yield f'<text class="m" x="{x + 28}" y="20">twice the work, twice as much</text>'


def _panel(sides: tuple[int, int], what: str, unit: str, series: Series) -> Iterator[str]:
    left, right = sides
    points = [point for line in series.values() for point in line]
    across = _scale([x for x, _ in points], left, right)
    up = _scale([y for _, y in points], _BOTTOM, _TOP)
    yield f'<text x="{left}" y="44" font-weight="600">{escape(what)}</text>'
    middle = (left + right) / 2
    yield f'<text class="m" x="{middle:g}" y="288" text-anchor="middle">{escape(unit)}</text>'
    for power in across.powers:
        x = across.at(10.0**power)
        yield f'<path class="g" d="M{x:.1f} {_TOP}V{_BOTTOM}"/>'
        yield f'<text class="m" x="{x:.1f}" y="268" text-anchor="middle">{_power(power)}</text>'
    for power in up.powers:
        y = up.at(10.0**power)
        yield f'<path class="g" d="M{left} {y:.1f}H{right}"/>'
        text = _power(power)
        yield f'<text class="m" x="{left - 6}" y="{y + 4:.1f}" text-anchor="end">{text}</text>'
    yield _proportional(across, up, points)
    for number, line in enumerate(series.values()):
        places = [(across.at(x), up.at(y)) for x, y in line]
        path = "L".join(f"{x:.1f} {y:.1f}" for x, y in places)
        yield f'<path class="l s{number}" d="M{path}"/>'
        for x, y in places:
            yield f'<circle class="d{number}" cx="{x:.1f}" cy="{y:.1f}" r="3.5"/>'


def _scale(values: Sequence[float], start: float, end: float) -> _Scale:
    low = math.floor(math.log10(min(values)))
    high = math.ceil(math.log10(max(values)))
    return _Scale(low, max(high, low + 1), start, end)


def _proportional(across: _Scale, up: _Scale, points: Sequence[tuple[float, float]]) -> str:
    """Return the line of slope one that ends at the highest point of the largest size."""
    largest, highest = max(points)
    smallest = max(min(x for x, _ in points), largest * 10.0**up.low / highest)
    x1, y1 = across.at(smallest), up.at(highest * smallest / largest)
    x2, y2 = across.at(largest), up.at(highest)
    return f'<path class="w" d="M{x1:.1f} {y1:.1f}L{x2:.1f} {y2:.1f}"/>'


def _power(power: int) -> str:
    if power < 0:
        return f"{10.0**power:g}"
    for size, unit in ((9, "G"), (6, "M"), (3, "k")):
        if power >= size:
            return f"{10 ** (power - size)}{unit}"
    return str(10**power)
