"""Rows of results: kept in a file, and shown as a table."""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

from rich.console import Console
from rich.table import Table

LATEST = Path(__file__).resolve().parent / "results" / "latest.json"


@dataclass(frozen=True)
class Row:
    """What one engine did in one case, at one scale."""

    case: str
    scale: str
    engine: str
    version: str
    seconds: list[float] = field(default_factory=list)
    peak_mb: float | None = None
    note: str = ""

    @property
    def median(self) -> float | None:
        return statistics.median(self.seconds) if self.seconds else None


def merge(rows: Sequence[Row], path: Path = LATEST) -> None:
    """Write the rows to the file, in place of those of the same case and scale."""
    fresh = {(row.case, row.scale) for row in rows}
    kept = [row for row in _read(path) if (row["case"], row["scale"]) not in fresh]
    merged = [*kept, *map(asdict, rows)]
    merged.sort(key=lambda row: (row["case"], row["scale"]))
    path.parent.mkdir(exist_ok=True)
    staged = path.with_suffix(".tmp")
    staged.write_text(json.dumps(merged, indent=2) + "\n")
    staged.replace(path)


def show(rows: Iterable[Row], console: Console) -> None:
    """Print a table for each case, with medians, spread and ratios to truckee."""
    by_case: dict[str, list[Row]] = {}
    for row in rows:
        by_case.setdefault(f"{row.case} ({row.scale})", []).append(row)
    for title, group in by_case.items():
        console.print(_table(title, group))
        for row in group:
            if row.note:
                console.print(f"  {row.engine}: {row.note}", highlight=False, markup=False)


def _table(title: str, rows: list[Row]) -> Table:
    """Return the rows of one case as a table; the ratios are engine / truckee."""
    ours = next((row for row in rows if row.engine == "truckee"), None)
    table = Table(title=title, title_justify="left")
    table.add_column("engine", no_wrap=True)
    table.add_column("version")
    for name in ("median s", "min..max s", "x time", "peak MB", "x memory"):
        table.add_column(name, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row.engine,
            row.version,
            _number(row.median),
            f"{min(row.seconds):.3f}..{max(row.seconds):.3f}" if row.seconds else "-",
            _ratio(row.median, ours.median if ours else None),
            _number(row.peak_mb, 0),
            _ratio(row.peak_mb, ours.peak_mb if ours else None),
        )
    return table


def _read(path: Path) -> list[dict[str, object]]:
    return list(json.loads(path.read_text())) if path.exists() else []


def _number(value: float | None, digits: int = 3) -> str:
    return "-" if value is None else f"{value:.{digits}f}"


def _ratio(value: float | None, base: float | None) -> str:
    return "-" if value is None or not base else f"{value / base:.2f}"
