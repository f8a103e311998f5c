"""`truckee report`: a table as one self-contained HTML page.

Snapshot and commits -> numbers (`activity`, `distributions`) -> charts (`svg`) -> page. No JVM, no
script, no external resource; light or dark as the reader prefers.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib import resources
from itertools import groupby

from truckee.care.health.doctor import diagnosis
from truckee.errors.base import utc_text
from truckee.log.detail import TableDetail, table_detail
from truckee.log.snapshot import Snapshot
from truckee.protocol.schema import parse_schema, type_text
from truckee.report.activity import Activity, activities
from truckee.report.distributions import SizeBucket, byte_text, file_sizes, num_live_rows, vectors
from truckee.report.elements import html_section, html_table
from truckee.report.svg import NARROW, WIDE, Bar, Tick, bars, strip

_MOST_BARS = 160
_MOST_NARROW_BARS = 40
_MOST_COMMITS_LISTED = 50

_Count = Callable[[Activity], "int | None"]
_KINDS: tuple[tuple[str, str, _Count], ...] = (
    ("rows inserted", "insert", lambda activity: activity.rows.inserted),
    ("rows updated", "update", lambda activity: activity.rows.updated),
    ("rows deleted", "delete", lambda activity: activity.rows.deleted),
)


def report_html(snapshot: Snapshot, *, commits: int | None = 500) -> str:
    """Return the page of a table: its last `commits`, and its files at the snapshot."""
    found = activities(snapshot, commits)
    detail = table_detail(snapshot)
    title = detail.name or detail.location.rstrip("/").rsplit("/", 1)[-1]
    css = (resources.files("truckee.report") / "report.css").read_text()
    body = "".join(
        (
            f"<header><h1>{escape(title)}</h1><p>{escape(detail.location)}, version"
            f" {detail.version}, <time>{utc_text(detail.last_modified_ms)}</time></p></header>",
            _cards(snapshot, detail, found),
            _findings(snapshot),
            _changes_over_time(found),
            _feed_coverage(found),
            '<div class="two">',
            _file_sizes(file_sizes(snapshot)),
            _vector_density(snapshot),
            "</div>",
            _columns(snapshot),
            _facts(detail),
            _latest_commits(found),
        )
    )
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: Delta table</title><style>{css}</style></head>"
        f"<body><main>{body}<footer>made by truckee from the log of the table</footer>"
        "</main></body></html>\n"
    )


def _cards(snapshot: Snapshot, detail: TableDetail, found: Sequence[Activity]) -> str:
    rows = num_live_rows(snapshot)
    properties = snapshot.properties
    cards = (
        ("unknown" if rows is None else f"{rows:,}", "rows"),
        (f"{detail.num_files:,}", "files"),
        (byte_text(detail.size_in_bytes), "in data files"),
        (f"{len(found):,}", "commits shown"),
        (_on_off(properties.enable_change_data_feed), "change data feed"),
        (_on_off(properties.enable_deletion_vectors), "deletion vectors"),
    )
    return (
        '<div class="cards">'
        + "".join(f"<div><b>{escape(value)}</b><span>{name}</span></div>" for value, name in cards)
        + "</div>"
    )


def _on_off(is_on: bool) -> str:
    return "on" if is_on else "off"


def _findings(snapshot: Snapshot) -> str:
    rows = [
        (
            finding.severity.value,
            escape(finding.topic),
            f"<span>{escape(finding.says)}</span>"
            + ("" if finding.mend is None else f"<code>{escape(finding.mend)}</code>"),
        )
        for finding in diagnosis(snapshot).findings
    ]
    say = "Problems found in the log and in a listing of the table's folder, and how to fix them."
    head = ("severity", "topic", "finding, and what to run")
    return html_section("Findings", say, html_table(head, rows, css_class="facts"))


def _changes_over_time(found: Sequence[Activity]) -> str:
    drawn = [kind for kind in _KINDS if any(kind[2](activity) for activity in found)]
    say = "Oldest commit on the left, on a logarithmic scale." if drawn else ""
    if any(count(activity) is None for activity in found for _, _, count in drawn):
        say += " A grey mark means that the log does not have the number of rows."
    for name, _, count in _KINDS:
        if name not in {kind[0] for kind in drawn}:
            is_known = all(count(activity) is not None for activity in found)
            say += f" No {name}." if is_known else f" The number of {name} is not in the log."
    # A narrow page shows fewer and thus wider bars, so that the newest commits need no scrolling.
    body = "".join(
        f'<div class="{css_class}">{_charts(found, drawn, most, width)}</div>'
        for css_class, most, width in (
            ("if-wide", _MOST_BARS, WIDE),
            ("if-narrow", _MOST_NARROW_BARS, NARROW),
        )
        if drawn
    )
    return html_section("Changes over time", say.strip(), body)


def _charts(
    found: Sequence[Activity],
    drawn: Sequence[tuple[str, str, _Count]],
    most: int,
    width: int,
) -> str:
    groups = _groups(found, most)
    charts = []
    if len(groups) < len(found):
        charts.append(f'<p class="say">Each bar holds {len(groups[0])} commits.</p>')
    for name, css_class, count in drawn:
        values = [
            Bar(_total(count, group), f"{_span(group)}: {_rows(_total(count, group))}", css_class)
            for group in groups
        ]
        chart = bars(
            values,
            label=f"{name} by commit",
            width=width,
            ticks=_version_ticks(groups, width) if name == drawn[-1][0] else (),
            is_logarithmic=True,
        )
        charts.append(f'<h3><i class="{css_class}"></i>{name}</h3>{chart}')
    return "".join(charts)


def _groups(found: Sequence[Activity], most: int = _MOST_BARS) -> list[Sequence[Activity]]:
    """Return commits in at most so many groups of equal size, for a bar each."""
    size = max(1, -(-len(found) // most))
    return [found[start : start + size] for start in range(0, len(found), size)]


def _total(count: _Count, group: Sequence[Activity]) -> int | None:
    counts = [count(activity) for activity in group]
    known = [number for number in counts if number is not None]
    return sum(known) if known else None


def _rows(number: int | None) -> str:
    return "unknown" if number is None else f"{number:,} row{'' if number == 1 else 's'}"


def _files(number: int) -> str:
    return f"{number:,} file{'' if number == 1 else 's'}"


def _span(group: Sequence[Activity]) -> str:
    first, last = group[0], group[-1]
    if first is last:
        return f"version {first.version}, {first.operation}, {utc_text(first.timestamp_ms)}"
    return f"versions {first.version} to {last.version}, until {utc_text(last.timestamp_ms)}"


def _version_ticks(groups: Sequence[Sequence[Activity]], width: int) -> list[Tick]:
    most = min(3 if width == WIDE else 2, max(1, len(groups) // 3))
    places = sorted({round(part * (len(groups) - 1) / max(1, most - 1)) for part in range(most)})
    return [
        Tick(place, f"v{groups[place][0].version}, {utc_text(groups[place][0].timestamp_ms)[:10]}")
        for place in places
        if groups
    ]


def _feed_coverage(found: Sequence[Activity]) -> str:
    if not any(activity.is_feed_on for activity in found):
        return html_section("Feed coverage", _coverage_text(found), "")
    cells = []
    for group in _groups(found):
        states = {activity.is_feed_on for activity in group}
        state = next(iter(states)) if len(states) == 1 else None
        word = {True: "on", False: "off", None: "not known, or on for some of them"}[state]
        css_class = {True: "on", False: "off", None: "unknown"}[state]
        files = sum(activity.change_files for activity in group)
        cells.append(Bar(1, f"{_span(group)}: feed {word}, {files} change files", css_class))
    return html_section(
        "Feed coverage", _coverage_text(found), strip(cells, label="where the feed was on")
    )


def _coverage_text(found: Sequence[Activity]) -> str:
    spans = []
    for is_on, run in groupby(found, key=lambda activity: activity.is_feed_on):
        versions = [activity.version for activity in run]
        if is_on:
            first, last = versions[0], versions[-1]
            spans.append(str(first) if first == last else f"{first} to {last}")
    if not spans:
        return "The change data feed was on at none of these versions."
    word = "version" if spans[0].isdecimal() and len(spans) == 1 else "versions"
    return f"The change data feed was on at {word} {', '.join(spans)}."


def _file_sizes(buckets: Sequence[SizeBucket]) -> str:
    if not buckets:
        return html_section("File sizes", "The table has no files.", "")
    chart = bars(
        [Bar(b.files, f"{b.label} to {b.until}: {_files(b.files)}") for b in buckets],
        label="number of files by size",
        width=NARROW,
        height=180,
        ticks=_spread([bucket.label for bucket in buckets]),
    )
    return html_section("File sizes", "Number of files by size, in powers of two.", chart)


def _vector_density(snapshot: Snapshot) -> str:
    found = vectors(snapshot)
    if not found.files:
        return html_section("Deletion vectors", "No file has a deletion vector.", "")
    say = (
        f"{found.files:,} of {snapshot.num_files:,} files have a vector; {found.deleted_rows:,}"
        " rows are marked as deleted. Number of files by their share of deleted rows."
    )
    chart = bars(
        [
            Bar(b.files, f"{b.label} to {b.until} deleted: {_files(b.files)}", "delete")
            for b in found.density
        ],
        label="number of files by share of deleted rows",
        width=NARROW,
        height=180,
        ticks=_spread([bucket.label for bucket in found.density]),
    )
    return html_section("Deletion vectors", say, chart)


def _spread(labels: Sequence[str]) -> list[Tick]:
    step = max(1, -(-len(labels) // 5))
    return [Tick(index, labels[index]) for index in range(0, len(labels), step)]


def _columns(snapshot: Snapshot) -> str:
    rows = [
        (
            f"<code>{escape(field.name)}</code>",
            f"<code>{escape(type_text(field.type))}</code>",
            ", ".join(
                word
                for word, is_true in (
                    ("not null", not field.nullable),
                    ("partition", field.name in snapshot.partition_columns),
                )
                if is_true
            ),
        )
        for field in parse_schema(snapshot.metadata.schema_string).fields
    ]
    return html_section("Columns", "", html_table(("name", "type", "rules"), rows))


def _facts(detail: TableDetail) -> str:
    facts = {
        "id": detail.id,
        "description": detail.description or "",
        "clustered by": ", ".join(detail.clustering_columns),
        "protocol": f"reader {detail.min_reader_version}, writer {detail.min_writer_version}",
        "features": ", ".join(detail.table_features),
        **{key: detail.properties[key] for key in sorted(detail.properties)},
    }
    rows = [(escape(key), f"<code>{escape(value)}</code>") for key, value in facts.items() if value]
    return html_section(
        "Protocol and properties", "", html_table(("", ""), rows, css_class="facts")
    )


def _latest_commits(found: Sequence[Activity]) -> str:
    latest = found[-_MOST_COMMITS_LISTED:][::-1]
    rows = [
        (
            str(activity.version),
            _time(activity.timestamp_ms),
            _what(activity),
            f'<div class="who">{escape(activity.user)}</div>',
            *(_number(count(activity)) for _, _, count in _KINDS),
            f"+{activity.files_added:,} &minus;{activity.files_removed:,}",
        )
        for activity in latest
    ]
    head = ("#version", "time", "operation", "user", "#inserted", "#updated", "#deleted", "#files")
    return html_section("Latest commits", "", html_table(head, rows))


def _time(timestamp_ms: int) -> str:
    """Return a time that breaks only after its date."""
    day, _, time = utc_text(timestamp_ms).partition("T")
    return f"<time><span>{day}</span> <span>{time}</span></time>"


def _what(activity: Activity) -> str:
    """Return the operation of a commit, and below it its mode and its condition."""
    mode = f" {escape(activity.mode)}" if activity.mode else ""
    condition = f"<br><code>{escape(activity.condition)}</code>" if activity.condition else ""
    return f'<div class="what">{escape(activity.operation)}{mode}{condition}</div>'


def _number(value: int | None) -> str:
    return "" if value is None else f"{value:,}"
