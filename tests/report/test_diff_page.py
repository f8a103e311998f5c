"""A diff as a page, and as a part of a notebook."""

from __future__ import annotations

import re

from builders import history
from truckee.changes.diff.snapshot_diff import SnapshotDiff
from truckee.errors.base import utc_text
from truckee.report.diff_page import DiffView, diff_fragment, diff_html

MANY = tuple(f"c{number}" for number in range(20))


def plan(*keys: str) -> SnapshotDiff:
    table = history().add("a").then().add("b").then()
    before, after = table.snapshot(0), table.snapshot(1)
    return SnapshotDiff(before=before, after=after, schema=after.schema, keys=keys)


def updated(columns: tuple[str, ...], **after: str | None) -> DiffView:
    row = dict.fromkeys(columns, "x")
    return DiffView(
        columns=columns,
        rows=[
            ("update_preimage", *row.values()),
            ("update_postimage", *({**row, **after}[name] for name in columns)),
        ],
        counts={"update_preimage": 1, "update_postimage": 1},
    )


def headings(page: str) -> list[str]:
    (table,) = re.findall('<table class="rows">.*?</table>', page)
    return re.findall("<th>(.*?)</th>", table)


def test_of_many_columns_those_that_differ_come_first() -> None:
    page = diff_html(plan("c4"), updated(MANY, c7="y", c18=None))

    assert headings(page)[:6] == ["", "change", "c4", "c7", "c18", "c0"]
    assert sorted(headings(page)[2:]) == sorted(MANY)
    assert "20 columns, those first that differ in updated rows: c7, c18." in page
    assert "<td>x</td><td><del>x</del></td><td><del>x</del></td><td>x</td>" in page
    assert '<td><ins>y</ins></td><td><ins><span class="null">null</span></ins></td>' in page


def test_two_columns_stay_in_order() -> None:
    page = diff_html(plan(), updated(("a", "b"), b="y"))

    assert headings(page) == ["", "change", "a", "b"]
    assert "those first" not in page


def test_the_changed_column_is_beside_the_keys_where_a_phone_shows_it() -> None:
    page = diff_html(plan("a"), updated(("a", "b", "c", "d"), d="y"))

    assert headings(page) == ["", "change", "a", "d", "b", "c"]


def test_many_names_are_shortened() -> None:
    page = diff_html(plan(), updated(MANY, **dict.fromkeys(MANY[:12], "y")))

    assert "c8, c9 and 2 more." in page


def test_a_notebook_says_whether_it_is_dark() -> None:
    page = diff_html(plan(), updated(("a",), a="y"))
    part = diff_fragment(plan(), updated(("a",), a="y"))

    assert "prefers-color-scheme" in page
    assert "prefers-color-scheme" not in part
    (dark,) = re.findall(r':is\(\[data-jp-theme-light="false"\][^{]*& \{[^}]*\}', part)
    assert "--paper: #14181b;" in dark
    assert part.count("{") == part.count("}")


def test_rules_for_a_notebook_apply_only_inside_the_diff() -> None:
    part = diff_fragment(plan(), updated(("a",), a="y"))

    (style,) = re.findall("<style>(.*?)</style>", part, re.DOTALL)
    depth = 0
    outside = ""
    for character in style:
        depth -= character == "}"
        outside += character if depth == 0 else ""
        depth += character == "{"
    assert outside == ".truckee-diff.truckee-diff.truckee-diff {}"
    assert ":root" not in style
    assert "body {" not in style


def test_times_are_not_parted() -> None:
    diff = plan()
    view = updated(("a",), a="y")

    first, last = (utc_text(at.timestamp_ms) for at in (diff.before, diff.after))
    for text in (diff_html(diff, view), diff_fragment(diff, view)):
        assert f", <time>{first}</time> to <time>{last}</time><" in text
    assert "header time { white-space: nowrap; }" in diff_html(diff, view)
