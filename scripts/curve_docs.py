"""What the documentation says of growth: pictures and tables of the last growth curves."""

from __future__ import annotations

import statistics
from collections.abc import Iterator, Mapping

from benchmarks.curves import CURVES, Point, load_points
from scripts.curve_pictures import picture

_Lines = dict[str, list[Point]]


def growth_markdown() -> str:
    """Return a picture and a table for each curve."""
    return "\n".join(_sections())


def growth_pictures() -> Mapping[str, str]:
    """Return the pictures by the name of their file."""
    return {_file(name): _picture(name, lines) for name, lines in _measured().items()}


def _sections() -> Iterator[str]:
    for name, lines in _measured().items():
        curve = CURVES[name]
        yield f"## {curve.title}\n"
        yield f"![{curve.title}: processor time and driver memory](../images/{_file(name)})\n"
        heads = [f"{operation}, {what}" for operation in lines for what in ("s", "MB")]
        yield f"| {curve.unit} | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 1)}"
        for points in zip(*lines.values(), strict=True):
            cells = [cell for point in points for cell in (_seconds(point), f"{_mb(point):.0f}")]
            yield f"| {points[0].x:,} | {' | '.join(cells)} |"
        yield ""


def _picture(name: str, lines: _Lines) -> str:
    seconds = {op: [(p.x, _median(p)) for p in points] for op, points in lines.items()}
    megabytes = {op: [(p.x, _mb(p)) for p in points] for op, points in lines.items()}
    return picture(CURVES[name].title, CURVES[name].unit, seconds, megabytes)


def _measured() -> dict[str, _Lines]:
    found: dict[str, _Lines] = {}
    for point in load_points():
        found.setdefault(point.curve, {}).setdefault(point.operation, []).append(point)
    return found


def _file(name: str) -> str:
    return f"growth-{name}.svg"


def _median(point: Point) -> float:
    return statistics.median(point.cpu_seconds)


def _seconds(point: Point) -> str:
    seconds = _median(point)
    return f"{seconds:.1f}" if seconds >= 10 else f"{seconds:.2f}"


def _mb(point: Point) -> float:
    return point.heap_mb + point.python_mb
