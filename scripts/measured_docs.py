"""What the documentation says of speed, made from the last full-scale run of each case."""

from __future__ import annotations

import json
from collections.abc import Iterator
from functools import cache

from benchmarks.case import load_case
from benchmarks.results import LATEST, Row

_ENGINES = {
    "truckee": "truckee",
    "spark-parquet": "plain Parquet in Spark",
    "delta-spark": "delta-spark",
    "deltalake": "deltalake",
}
_FEW_CASES = {"truckee-rewrite": "truckee without vectors", "pyarrow": "pyarrow alone"}
# What the first word of a case's name says.
_AREAS = {
    "log": "The log",
    "history": "The history on the command line",
    "changes": "The feed on the command line",
    "scan": "Reading tables",
    "vectors": "Reading tables with deletion vectors",
    "many": "Tables of many files",
    "wide": "Tables of many columns",
    "feed": "The change data feed",
    "stream": "The feed as a stream",
    "write": "Writing",
    "dml": "DELETE, UPDATE and MERGE",
    "care": "Table care",
    "diff": "Diffs and rows' histories",
    "net": "Net changes",
    "open": "Without a JVM",
    "sql": "SQL",
}
# The README's four lines: a case, and what it is called there.
_SHOWN = {
    "scan_one_column": "sum of a column of 20 M rows",
    "dml_delete_scattered: 1 %": "DELETE of 1 % of 10 M rows, in every file",
    "feed_vector_deletes": "feed of 200 commits, each deleting 0.1 % of 10 M rows by vector",
    "stream_feed": "feed of 5 M changes as a stream",
}

# The home page's three numbers: a case in which truckee and delta-spark did the same.
_HEADLINES = {
    "scan_one_column": "summing a column of 20 M rows",
    "dml_delete_scattered: 1 %": "deleting 1 % of 10 M rows, in every file",
    "stream_feed": "streaming a feed of 5 M changes",
}

# What the guide to tables without a JVM compares with deltalake.
_WITHOUT_A_JVM = {
    "open_scan: sum of one column, plain": "a sum over one column",
    "open_scan: sum of one column, vectors 1 %": "the same, 1 % deleted by vector",
    "open_scan: sum of one column, vectors 30 %": "the same, 30 % deleted by vector",
    "open_scan: all columns, plain": "all columns",
    "open_scan: all columns, vectors 1 %": "the same, 1 % deleted by vector",
    "open_scan: all columns, vectors 30 %": "the same, 30 % deleted by vector",
    "open_feed: (a) ten commits": "feed of ten commits",
    "open_feed: (c) a thousand commits": "feed of a thousand commits",
    "open_feed: (b) deletes by vector": "feed of 200 commits that delete by vector",
}

_Found = dict[str, Row]


def performance_markdown() -> str:
    """Return the README's table: some cases, every engine."""
    measured = _measured()
    lines = [_head("", _ENGINES)]
    lines += [_line(what, measured[case], _ENGINES) for case, what in _SHOWN.items()]
    return "\n".join(lines) + "\n"


def headlines_markdown() -> str:
    """Return how many times faster than delta-spark truckee was in some cases of the last run."""
    lines = ["| | faster than delta-spark at |", "|---|---|"]
    for case, what in _HEADLINES.items():
        ours, theirs = (_measured()[case][engine].median for engine in ("truckee", "delta-spark"))
        assert ours is not None
        assert theirs is not None
        lines.append(f"| **{theirs / ours:.1f} times** | {what} |")
    return "\n".join(lines) + "\n"


def without_a_jvm_markdown() -> str:
    """Return how time and memory of truckee compare with those of deltalake, without a JVM."""
    lines = ["| | times the time of `deltalake` | times its memory |", "|---|---|---|"]
    for case, what in _WITHOUT_A_JVM.items():
        ours, theirs = (_measured()[case][engine] for engine in ("truckee", "deltalake"))
        assert ours.median is not None
        assert theirs.median is not None
        assert ours.peak_mb is not None
        assert theirs.peak_mb is not None
        memory = ours.peak_mb / theirs.peak_mb
        lines.append(f"| {what} | {ours.median / theirs.median:.2f} | {memory:.1f} |")
    return "\n".join(lines) + "\n"


def measurements_markdown() -> str:
    """Return a table for each area with every case that was measured at full scale."""
    return "\n".join(_areas())


def _areas() -> Iterator[str]:
    for area, title in _AREAS.items():
        cases = [case for case in _measured() if case.startswith(f"{area}_")]
        if not cases:
            continue
        took_part = {engine for case in cases for engine in _measured()[case]}
        engines = {key: name for key, name in (_ENGINES | _FEW_CASES).items() if key in took_part}
        yield f"## {title}\n\n{_head('', engines)}"
        for case in sorted(cases, key=_order):
            yield _line(_title(case), _measured()[case], engines)
        yield ""


def _order(case: str) -> tuple[str, int]:
    """Order variants as their case does: 1 row before 0.1 %."""
    name, _, variant = case.partition(": ")
    return name, list(load_case(name).variants).index(variant)


def _title(case: str) -> str:
    name, _, variant = case.partition(": ")
    title = load_case(name).title
    return f"{title}: {variant}" if variant else title


@cache
def _measured() -> dict[str, _Found]:
    """Return the rows of full-scale runs, by case and engine."""
    found: dict[str, _Found] = {}
    for row in (Row(**fields) for fields in json.loads(LATEST.read_text())):
        if row.scale == "full":
            found.setdefault(row.case, {})[row.engine] = row
    return found


def _head(what: str, engines: dict[str, str]) -> str:
    return f"| {what} | {' | '.join(engines.values())} |\n|{'---|' * (len(engines) + 1)}"


def _line(what: str, found: _Found, engines: dict[str, str]) -> str:
    return f"| {what} | {' | '.join(_time(found.get(engine)) for engine in engines)} |"


def _time(row: Row | None) -> str:
    if row is None:
        return ""
    if row.median is None:
        return row.note.replace(f"failed: {row.engine} did not answer", "not done")
    return f"{row.median:.1f} s" if row.median >= 10 else f"{row.median:.2f} s"
