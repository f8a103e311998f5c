"""HTML for notebooks: a table, its history, and rows, in the colours of the notebook.

A table and its history come from the log, so that showing a variable starts no job.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from truckee.errors.base import utc_text
from truckee.log.files.commit_summary import commit_summary
from truckee.log.files.history import HistoryEntry, history
from truckee.log.snapshot import Snapshot
from truckee.protocol.schema import parse_schema, type_text
from truckee.report.distributions import byte_text

_CELL = (
    'style="text-align:left;vertical-align:top;padding:2px 12px 2px 0;'
    'max-width:min(32em,60vw);overflow-wrap:break-word;white-space:pre-line"'
)
_TABLE = 'style="margin:4px 0"'  # notebooks centre tables, away from their titles
_MOST_COLUMNS = 40
_MOST_BESIDE = 8
_COMMITS_SHOWN = 5
_MOMENTS = ("startTimeMs", "endTimeMs")

ROWS_SHOWN = 20
"""How many rows are shown of a table or a feed, which may have any number."""


class Commits(list[HistoryEntry]):
    """Commits, which a notebook shows as a table."""

    def _repr_html_(self) -> str:
        return history_html(self)


def table_overview(snapshot: Snapshot) -> str:
    """Return an overview of a table, with its last commits."""
    return table_html(snapshot, history(snapshot.storage, limit=_COMMITS_SHOWN))


def table_html(snapshot: Snapshot, entries: Iterable[HistoryEntry] = ()) -> str:
    """Return an overview of a table: its details, its columns, and its last commits if given."""
    properties = snapshot.properties
    facts = (
        f"version {snapshot.version}",
        f"{snapshot.num_files:,} file{'' if snapshot.num_files == 1 else 's'}",
        byte_text(snapshot.size_in_bytes),
        f"feed {'on' if properties.enable_change_data_feed else 'off'}",
        f"vectors {'on' if properties.enable_deletion_vectors else 'off'}",
    )
    fields = parse_schema(snapshot.metadata.schema_string).fields
    rows = [
        (
            field.name,
            type_text(field.type) + ("" if field.nullable else " not null"),
            "partition" if field.name in snapshot.partition_columns else "",
        )
        for field in fields[:_MOST_COLUMNS]
    ]
    if len(fields) > _MOST_COLUMNS:
        rows.append((f"and {len(fields) - _MOST_COLUMNS} more", "", ""))
    commits = list(entries)
    return (
        f"<div><b>Delta table</b> <code>{escape(snapshot.storage.root)}</code><br>"
        f"{escape(', '.join(facts))}{_table(('column', 'type', ''), rows)}"
        f"{history_html(commits) if commits else ''}</div>"
    )


def history_html(entries: Iterable[HistoryEntry]) -> str:
    """Return commits as a table, in the order given."""
    columns = ["version", "time", "operation", "what it did", "user metadata"]
    rows = [
        [
            str(entry.version),
            utc_text(entry.timestamp_ms),
            entry.operation or "",
            commit_summary(entry),
            entry.user_metadata or "",
        ]
        for entry in entries
    ]
    if not any(row[-1] for row in rows):
        columns, rows = columns[:-1], [row[:-1] for row in rows]
    return _table(columns, rows)


def rows_html(columns: Sequence[str], rows: Sequence[Sequence[str | None]]) -> str:
    """Return rows as a table, and below it the names of columns that have no values at all.

    A single row of many columns would be wider than the page, so it is a line for each column.
    """
    shown = [
        place
        for place in range(len(columns))
        if not rows or any(row[place] is not None for row in rows)
    ]
    left_out = [name for place, name in enumerate(columns) if place not in shown]
    cells = [["" if row[place] is None else str(row[place]) for place in shown] for row in rows]
    note = f"without values: {', '.join(left_out)}" if left_out else ""
    names = [columns[place] for place in shown]
    if len(cells) == 1 and len(names) > _MOST_BESIDE:
        names, cells = ["column", "value"], [list(pair) for pair in zip(names, *cells, strict=True)]
    return f"<div>{_table(names, cells)}{escape(note)}</div>"


def nested_text(value: object) -> str:
    """Return a struct, map or array as people read it: a line for each field of the outermost.

    `{"files": 2, "sizes": {"min": 1, "max": 5}}` is `files: 2` and `sizes: min 1, max 5`. Metrics
    that are moments are shown as times.
    """
    if not isinstance(value, Mapping):
        return _in_a_line(value)
    return "\n".join(
        f"{key}: {_moment(item) if key in _MOMENTS else _in_a_line(item)}"
        for key, item in value.items()
    )


def _moment(value: object) -> str:
    return utc_text(value) if isinstance(value, int) and value else _in_a_line(value)


def _in_a_line(value: object) -> str:
    match value:
        case Mapping():
            return ", ".join(f"{key} {_in_parts(item)}" for key, item in value.items())
        case list():
            return ", ".join(map(_in_parts, value))
        case None:
            return "null"
        case bool():
            return str(value).lower()
    return str(value)


def _in_parts(value: object) -> str:
    """Return a value within another one; what has values itself is in parentheses."""
    text = _in_a_line(value)
    return f"({text})" if isinstance(value, (Mapping, list)) else text


def _table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    head = "".join(f"<th {_CELL}>{escape(column)}</th>" for column in columns)
    lines = "".join(
        "<tr>" + "".join(f"<td {_CELL}>{escape(cell)}</td>" for cell in row) + "</tr>"
        for row in rows
    )
    return f"<table {_TABLE}><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
