"""Results -> text or JSON on stdout; messages on stderr."""

from __future__ import annotations

import codecs
import os
import sys
import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextvars import ContextVar
from datetime import datetime
from io import TextIOWrapper
from itertools import repeat
from pathlib import Path
from typing import Any, TextIO

import msgspec
import typer

from truckee.cli.table_layout import (
    GAP,
    CellKind,
    Heading,
    cells_of,
    kind_of_texts,
    padded,
    table_layout,
)
from truckee.errors.base import printable, printable_json, utc_text

_MARKED = "bold reverse"
_MOST_NAMES = 8
_LEAST_TEXT = 20
_USUAL_WIDTH = 80

in_utc = ContextVar("in_utc", default=False)
"""Whether tables show times in UTC rather than in the local zone. JSON is always in UTC."""

in_lines = ContextVar("in_lines", default=False)
"""Whether tables show each value on a line of its own, rather than each row."""


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
    columns: Sequence[Heading | str],
    rows: Iterable[Sequence[Any]],
    *,
    styles: Iterable[str | None] | None = None,
    marked: Iterable[Collection[int]] | None = None,
    spare: Sequence[int] = (),
) -> None:
    """Print rows below a line of column names; one row is one line.

    A column that is given by its name alone has values. On a terminal, texts are shortened so that
    a row fits on a line, and columns are left out if that is not enough: first those at the
    positions in `spare`, in this order. A message names them. With `in_lines`, each value is a line
    after its name, and all of them are shown. If stdout shows colours, `styles` has a colour for
    each row, and `marked` the positions of cells to highlight.
    """
    from rich.console import Console
    from rich.text import Text

    # Lines are laid out here. Soft wrapping keeps the console from laying them out again.
    console = Console(highlight=False, markup=False, soft_wrap=True)
    given = [column if isinstance(column, Heading) else Heading(column) for column in columns]
    headings = [heading._replace(name=printable(heading.name)) for heading in given]
    texts = [[cell(value) for value in row] for row in rows]
    colours = repeat(None) if styles is None else styles
    marks = repeat(()) if marked is None else marked

    def show(parts: Iterable[tuple[str, str | None]], style: str | None) -> None:
        line = Text(style=style or "")
        for part, mark in parts:
            line.append(part, mark)
        line.rstrip()
        # A console takes its time for every line, and a pipe may get a line for each of many files.
        console.print(line) if console.is_terminal else print(line.plain)

    if in_lines.get():
        width = max((cells_of(heading.name) for heading in headings), default=0) + GAP
        names = [padded(heading.name, width) for heading in headings]
        for number, (row, style, places) in enumerate(zip(texts, colours, marks, strict=False)):
            if number:
                print()
            for at, (name, text) in enumerate(zip(names, row, strict=True)):
                show([(name, None), (text, _MARKED if at in places else None)], style)
        return
    room = _terminal_width(sys.stdout)
    if room is not None:
        headings = [_with_kind(heading, texts, at) for at, heading in enumerate(headings)]
    layout = table_layout(headings, texts, room=room, spare=spare)

    def parts(row: Sequence[str], places: Collection[int]) -> Iterator[tuple[str, str | None]]:
        for at, text in layout.cells(headings, row):
            yield text, _MARKED if at in places else None
            yield " " * GAP, None

    show(parts([heading.name for heading in headings], ()), "bold")
    for row, style, places in zip(texts, colours, marks, strict=False):
        show(parts(row, places), style)
    hidden = [heading.name for at, heading in enumerate(headings) if at not in layout.places]
    if hidden:
        left_out = f"not shown, as the terminal has {room} columns: {_some(hidden)}"
        words(f"{left_out}; --vertical shows all")


def _with_kind(heading: Heading, rows: Sequence[Sequence[str]], place: int) -> Heading:
    """Return a column of values with how they may be shortened, which their texts show."""
    if heading.kind is not CellKind.VALUE:
        return heading
    return heading._replace(kind=kind_of_texts([row[place] for row in rows]))


def _terminal_width(stream: TextIO) -> int | None:
    """Return how many characters fit on a line of a stream; None if it is no terminal."""
    if not stream.isatty():
        return None
    columns = os.environ.get("COLUMNS", "")
    if columns.isdecimal() and int(columns):
        return int(columns)
    return os.get_terminal_size(stream.fileno()).columns or _USUAL_WIDTH


def _some(names: Sequence[str]) -> str:
    rest = len(names) - _MOST_NAMES
    return ", ".join(names) if rest <= 1 else f"{', '.join(names[:-rest])} and {rest} more"


def print_fact(lead: str, text: str) -> None:
    """Print a text after its name; on a terminal, its further lines are below its first one."""
    width = _terminal_width(sys.stdout)
    if width is None or width - len(lead) < _LEAST_TEXT:
        print(f"{lead}{text}".rstrip())
        return
    lines = textwrap.wrap(text, width - len(lead), break_on_hyphens=False, break_long_words=False)
    for place, line in enumerate(lines or [""]):
        print(f"{lead if place == 0 else ' ' * len(lead)}{line}".rstrip())


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
        # The page says that it is UTF-8, whatever stdout is.
        sys.stdout.flush()
        sys.stdout.buffer.write(page.encode())
        return
    try:
        output.write_text(page, encoding="utf-8")
    except OSError as error:
        raise typer.BadParameter(f"{output} cannot be written: {error.strerror}") from error
    words(f"{output}: {len(page.encode()):,} bytes")


def words(text: str) -> None:
    """Print a message, which is not data, on stderr; a terminal does not break its words."""
    text = printable(text, keep="\n")
    width = _terminal_width(sys.stderr)
    if width is not None and width > _LEAST_TEXT:
        text = "\n".join(_folded(line, width) for line in text.split("\n"))
    print(text, file=sys.stderr)


def _folded(line: str, width: int) -> str:
    """Return a line as lines that fit; what is indented stays indented."""
    indent = " " * (len(line) - len(line.lstrip(" ")))
    return textwrap.fill(
        line,
        width,
        subsequent_indent=indent,
        break_long_words=False,
        break_on_hyphens=False,
        expand_tabs=False,
        replace_whitespace=False,
    )


def accept_any_text(stream: TextIO | None) -> None:
    """Let a stream print every text, whatever its encoding.

    A character that the encoding does not have is spelled as in JSON, which stays valid by that.
    """
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(errors=_SPELLED_OUT)


def _spelled_out(error: UnicodeError) -> tuple[str, int]:
    assert isinstance(error, UnicodeEncodeError)
    pairs = error.object[error.start : error.end].encode("utf-16-be", "surrogatepass").hex()
    units = (pairs[place : place + 4] for place in range(0, len(pairs), 4))
    return "".join(f"\\u{unit}" for unit in units), error.end


_SPELLED_OUT = "truckee.spelled_out"
codecs.register_error(_SPELLED_OUT, _spelled_out)
