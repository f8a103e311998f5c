"""A diff as one self-contained HTML page: counts, rows, and other differences.

Changed cells of an updated row are marked by colour, and by `<ins>` and `<del>`, so that they are
visible without colours too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from html import escape
from importlib import resources
from itertools import pairwise

from msgspec import Struct

from truckee.changes.diff.snapshot_diff import SnapshotDiff
from truckee.changes.diff.table_differences import table_differences
from truckee.errors.base import utc_text
from truckee.log.snapshot import Snapshot
from truckee.report.elements import html_section, html_table

KINDS: Mapping[str, tuple[str, str]] = {
    "insert": ("inserted", "insert"),
    "update_postimage": ("updated", "update"),
    "delete": ("deleted", "delete"),
}
"""What is counted, its name, and the class of its colour. An update is counted once."""

MOST_ROWS_SHOWN = 1000
_MOST_PARTITIONS = 200
_SIGNS = {"insert": "+", "delete": "&minus;", "update_preimage": "&minus;", "update_postimage": "+"}
# On a phone there is room for the type of change and about two columns.
_MOST_COLUMNS_IN_ORDER = 2
_MOST_NAMES = 10
# JupyterLab, VS Code and Colab say so where they are dark; the system may prefer something else.
_DARK_NOTEBOOK = ':is([data-jp-theme-light="false"], .vscode-dark, [theme="dark"]) & {'
# Notebooks have rules of their own for tables, and JupyterLab's are stronger than one class is.
_INSIDE = ".truckee-diff.truckee-diff.truckee-diff"
_IN_NOTEBOOK = (
    "& > div { padding: 1rem; } table { table-layout: auto; margin: 0; color: inherit; }"
    " tr, thead { background: none; } code { background: none; color: inherit; padding: 0; }"
)


class DiffView(Struct, frozen=True, kw_only=True):
    """What a page shows of a diff.

    `rows` have their change type first, the images of an update one after the other, and are texts
    or None for null. `counts` are by change type, `partitions` the same by partition.
    """

    columns: tuple[str, ...]
    rows: Sequence[Sequence[str | None]]
    counts: Mapping[str, int]
    partitions: Sequence[tuple[str, Mapping[str, int]]] = ()


def diff_html(plan: SnapshotDiff, view: DiffView) -> str:
    """Return the page of a diff."""
    css = (resources.files("truckee.report") / "report.css").read_text()
    root = plan.after.storage.root
    title = root.rstrip("/").rsplit("/", 1)[-1]
    span = f"version {plan.before.version} to {plan.after.version}"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: {span}</title><style>{css}</style></head><body><main>"
        f"<header><h1>{escape(title)}: {span}</h1><p>{_places(plan)}</p></header>"
        f"{_body(plan, view)}<footer>made by truckee</footer></main></body></html>\n"
    )


def diff_fragment(plan: SnapshotDiff, view: DiffView) -> str:
    """Return the same as a part of a notebook's page, with a style that affects nothing else."""
    span = f"version {plan.before.version} to {plan.after.version}"
    return (
        f'<div class="truckee-diff"><style>{_notebook_style()}</style>'
        f"<div><h2>{span}</h2><p>{_places(plan)}</p>{_body(plan, view)}</div></div>"
    )


def _notebook_style() -> str:
    """Return the style of the page for one part of another page; a notebook says if it is dark.

    A browser that does not know nested rules shows plain tables.
    """
    css = (resources.files("truckee.report") / "report.css").read_text()
    light, rest = css.split("@media (prefers-color-scheme: dark) {\n  :root {")
    dark, rest = rest.split("}\n}\n", maxsplit=1)
    css = f"{light}{_DARK_NOTEBOOK}{dark}}}\n{rest}{_IN_NOTEBOOK}"
    css = re.sub(r"\bbody \{", "& > div {", css.replace(":root {", "& {"))
    return f"{_INSIDE} {{ {css} }}"


def _places(plan: SnapshotDiff) -> str:
    if plan.is_within_one_table:
        times = f"{_time(plan.before)} to {_time(plan.after)}"
        return f"{escape(plan.after.storage.root)}, {times}"
    return escape(f"{plan.before.storage.root} and {plan.after.storage.root}")


def _time(snapshot: Snapshot) -> str:
    """Return the time of a version in an element that no line break parts."""
    return f"<time>{utc_text(snapshot.timestamp_ms)}</time>"


def _body(plan: SnapshotDiff, view: DiffView) -> str:
    return "".join(
        (
            _cards(view.counts),
            _partitions(view.partitions),
            _rows(plan, view),
            _differences(plan),
        )
    )


def _cards(counts: Mapping[str, int]) -> str:
    cards = (
        f'<div><b>{counts.get(kind, 0):,}</b><span><i class="{css}"></i>rows {name}</span></div>'
        for kind, (name, css) in KINDS.items()
    )
    return f'<div class="cards">{"".join(cards)}</div>'


def _partitions(partitions: Sequence[tuple[str, Mapping[str, int]]]) -> str:
    if not partitions:
        return ""
    rows = [
        (escape(name), *(f"{counts.get(kind, 0):,}" for kind in KINDS))
        for name, counts in partitions[:_MOST_PARTITIONS]
    ]
    more = len(partitions) - _MOST_PARTITIONS
    say = f"The first {_MOST_PARTITIONS} of {len(partitions):,} partitions." if more > 0 else ""
    head = ("partition", *(f"#{name}" for name, _ in KINDS.values()))
    return html_section("By partition", say, html_table(head, rows))


def _rows(plan: SnapshotDiff, view: DiffView) -> str:
    if not view.rows:
        return html_section("Rows", "No row differs.", "")
    view, order = _in_reading_order(plan, view)
    total = sum(view.counts.get(kind, 0) for kind in KINDS)
    total += view.counts.get("update_preimage", 0)
    shown = len(view.rows)
    say = f"The first {shown:,} of {total:,} rows." if shown < total else ""
    is_paired = any(row[0] == "update_postimage" for row in view.rows)
    if not is_paired and view.counts.get("delete") and view.counts.get("insert"):
        say += " An updated row is shown as deleted and inserted: nothing identifies rows."
    say += order
    head = "".join(f"<th>{escape(name)}</th>" for name in ("", "change", *view.columns))
    lines = "".join(
        _line(row, _other_image(view.rows, place)) for place, row in enumerate(view.rows)
    )
    body = f"<thead><tr>{head}</tr></thead><tbody>{lines}</tbody>"
    return html_section(
        "Rows", say.strip(), f'<div class="scroll"><table class="rows">{body}</table></div>'
    )


def _in_reading_order(plan: SnapshotDiff, view: DiffView) -> tuple[DiffView, str]:
    """Return many columns with those first that matter, and a sentence that says so."""
    differing = [
        name
        for place, name in enumerate(view.columns, start=1)
        if any(
            row[place] != after[place]
            for row, after in pairwise(view.rows)
            if row[0] == "update_preimage"
        )
    ]
    if len(view.columns) <= _MOST_COLUMNS_IN_ORDER or not differing:
        return view, ""
    first = [*(name for name in plan.keys if name in view.columns), *differing]
    order = sorted(range(len(view.columns)), key=lambda place: view.columns[place] not in first)
    names = ", ".join(differing[:_MOST_NAMES])
    more = len(differing) - _MOST_NAMES
    ordered = DiffView(
        columns=tuple(view.columns[place] for place in order),
        rows=[(row[0], *(row[place + 1] for place in order)) for row in view.rows],
        counts=view.counts,
        partitions=view.partitions,
    )
    return ordered, (
        f" {len(view.columns)} columns, those first that differ in updated rows: {names}"
        + (f" and {more} more." if more > 0 else ".")
    )


def _other_image(rows: Sequence[Sequence[str | None]], place: int) -> Sequence[str | None] | None:
    match rows[place][0]:
        case "update_preimage" if place + 1 < len(rows):
            return rows[place + 1]
        case "update_postimage" if place > 0:
            return rows[place - 1]
    return None


def _line(row: Sequence[str | None], other: Sequence[str | None] | None) -> str:
    kind = row[0] or ""
    cells = []
    for place, value in enumerate(row[1:], start=1):
        text = '<span class="null">null</span>' if value is None else escape(value)
        if other is not None and other[place] != value:
            tag = "ins" if kind == "update_postimage" else "del"
            text = f"<{tag}>{text}</{tag}>"
        cells.append(f"<td>{text}</td>")
    name = kind.replace("update_preimage", "update, before").replace(
        "update_postimage", "update, after"
    )
    return (
        f'<tr class="is-{kind}"><td>{_SIGNS.get(kind, "")}</td><td>{name}</td>{"".join(cells)}</tr>'
    )


def _differences(plan: SnapshotDiff) -> str:
    found = table_differences(plan.before, plan.after)
    if not found:
        return html_section("Columns, properties and protocol", "These are the same in both.", "")
    rows = [
        (
            f'<span class="kind">{escape(of.kind)}</span>',
            f"<code>{escape(of.name)}</code>",
            _code(of.before),
            _code(of.after),
        )
        for of in found
    ]
    versions = (f"version {plan.before.version}", f"version {plan.after.version}")
    head = ("what", "name", *versions)
    return html_section("Columns, properties and protocol", "", html_table(head, rows))


def _code(value: str | None) -> str:
    return '<span class="null">none</span>' if value is None else f"<code>{escape(value)}</code>"
