"""Results -> text or JSON on stdout; messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from itertools import repeat
from typing import Any

import msgspec

from truckee.errors.base import printable, printable_json
from truckee.errors.log import utc_text

_PIPE_WIDTH = 10_000
_MARKED = "bold reverse"

in_utc = ContextVar("in_utc", default=False)
"""Whether tables show times in UTC rather than in the local zone. JSON is always in UTC."""


def print_json(value: Any) -> None:
    """Print one value, indented."""
    print(printable_json(msgspec.json.format(msgspec.json.encode(value), indent=2).decode()))


def print_json_array(values: Iterable[Any]) -> None:
    """Print an array with one element on each line, each as soon as it is available."""
    print_json_texts(msgspec.json.encode(value).decode() for value in values)


def print_json_texts(texts: Iterable[str]) -> None:
    """Print an array of elements that are already JSON."""
    before = "["
    for text in texts:
        print(f"{before}\n{printable_json(text)}", end="")
        before = ","
    print("[]" if before == "[" else "\n]")


def print_table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    styles: Iterable[str | None] | None = None,
    marked: Iterable[Collection[int]] | None = None,
    cut: str | None = None,
) -> None:
    """Print rows below a line of column names; a `#` before a name aligns the column right.

    If stdout shows colours, `styles` has a colour for each row, and `marked` the positions of cells
    to highlight. The column `cut` is shortened if a row would not fit on one line of the terminal.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        is_number = column.startswith("#")
        table.add_column(
            printable(column.removeprefix("#")),
            justify="right" if is_number else "left",
            overflow="ellipsis" if column == cut else "fold",
            no_wrap=cut is not None,
        )
    marks = repeat(()) if marked is None else marked
    for row, style, places in zip(
        rows, repeat(None) if styles is None else styles, marks, strict=False
    ):
        cells = (
            Text(cell(value), style=_MARKED if place in places else "")
            for place, value in enumerate(row)
        )
        table.add_row(*cells, style=style)
    # A pipe has no width, so nothing is wrapped: one row is one line.
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    Console(width=width, highlight=False, markup=False, soft_wrap=False).print(table)


def cell(value: Any) -> str:
    """Return a value as people read it in a table."""
    match value:
        case None:
            return ""
        case str():
            return printable(value)
        case bool():
            return str(value).lower()
        case Mapping():
            return ", ".join(f"{cell(key)}={cell(item)}" for key, item in value.items())
        case list() | tuple():
            return ", ".join(map(cell, value))
    return printable(str(value))


def quoted_column(column: str) -> str:
    """Return a column's name quoted for SQL, whatever characters it has."""
    return "`" + column.replace("`", "``") + "`"


def moment(timestamp_ms: int | None) -> str | None:
    """Return a timestamp as UTC text, the form that is printed everywhere."""
    return None if timestamp_ms is None else utc_text(timestamp_ms)


def time_text(timestamp_ms: int | None) -> str | None:
    """Return a timestamp as a table shows it: in the local zone, or in UTC with `--utc`."""
    text = moment(timestamp_ms)
    if text is None or not text.endswith("Z") or in_utc.get():
        return text
    try:
        local = datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone()
    except (OverflowError, ValueError):
        return text
    return local.isoformat(sep=" ", timespec="milliseconds")


def words(text: str) -> None:
    """Print a message, which is not data, on stderr."""
    print(printable(text, keep="\n"), file=sys.stderr)
