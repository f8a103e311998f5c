"""Parts of the pages: sections and tables, as HTML."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_section(title: str, say: str, body: str) -> str:
    """Return a section with a title, a sentence that may be empty, and a body of HTML."""
    words = f'<p class="say">{escape(say)}</p>' if say else ""
    return f"<section><h2>{title}</h2>{words}{body}</section>"


def html_table(
    columns: Sequence[str], rows: Iterable[Sequence[str]], *, css_class: str = "scroll"
) -> str:
    """Return a table; a column whose name starts with `#` has numbers. Cells are already HTML.

    The first cell of a row is its heading. The names of the columns are left out if all are empty.
    """
    classes = [' class="n"' if name.startswith("#") else "" for name in columns]
    head = "".join(
        f"<th{css}>{escape(name.removeprefix('#'))}</th>"
        for name, css in zip(columns, classes, strict=True)
    )
    lines = "".join(
        f'<tr><th scope="row"{classes[0]}>{row[0]}</th>'
        + "".join(f"<td{css}>{cell}</td>" for cell, css in zip(row[1:], classes[1:], strict=True))
        + "</tr>"
        for row in rows
    )
    head_row = f"<thead><tr>{head}</tr></thead>" if any(columns) else ""
    return f'<div class="{css_class}"><table>{head_row}<tbody>{lines}</tbody></table></div>'
