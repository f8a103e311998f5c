"""Results -> text or JSON on stdout; messages on stderr."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from itertools import repeat
from pathlib import Path
from typing import Any

import msgspec
import typer

from truckee.errors.base import printable, printable_json
from truckee.errors.log import utc_text

_PIPE_WIDTH = 10_000
_MARKED = "bold reverse"
_LEAST_WIDTH = 12

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
    to highlight. The column `cut` is shortened if a row would not fit on one line of the terminal;
    the others are not.
    """
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    # A pipe has no width, so nothing is wrapped: one row is one line.
    width = None if sys.stdout.isatty() else _PIPE_WIDTH
    console = Console(width=width, highlight=False, markup=False, soft_wrap=False)
    texts = [[cell(value) for value in row] for row in rows]
    if cut is not None:
        _shorten(columns, texts, columns.index(cut), console.width)
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for column in columns:
        is_number = column.startswith("#")
        table.add_column(
            printable(column.removeprefix("#")),
            justify="right" if is_number else "left",
            overflow="fold",
            no_wrap=cut is not None,
        )
    marks = repeat(()) if marked is None else marked
    for row, style, places in zip(
        texts, repeat(None) if styles is None else styles, marks, strict=False
    ):
        cells = (
            Text(text, style=_MARKED if place in places else "") for place, text in enumerate(row)
        )
        table.add_row(*cells, style=style)
    console.print(table)


def _shorten(columns: Sequence[str], rows: list[list[str]], place: int, width: int) -> None:
    """Shorten the texts of one column so that rows fit, but never below a readable width."""
    from rich.cells import cell_len
    from rich.text import Text

    names = [printable(column.removeprefix("#")) for column in columns]
    others = [
        max(cell_len(text) for text in column)
        for at, column in enumerate(zip(names, *rows, strict=True))
        if at != place
    ]
    room = max(width - sum(others) - 2 * len(others), _LEAST_WIDTH)
    for row in rows:
        text = Text(row[place])
        text.truncate(room, overflow="ellipsis")
        row[place] = text.plain


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


def write_page(page: str, output: Path) -> None:
    """Write a page of HTML to a file, or to stdout if it is called `-`."""
    if str(output) == "-":
        print(page, end="")
        return
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{output} cannot be written: {error.strerror}") from error
    words(f"{output}: {len(page.encode()):,} bytes")


def words(text: str) -> None:
    """Print a message, which is not data, on stderr."""
    print(printable(text, keep="\n"), file=sys.stderr)
