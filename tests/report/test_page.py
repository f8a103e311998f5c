"""The page: whole, safe, and in need of nothing but itself."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise

from builders import History, history
from staging import metadata
from truckee.report import history_html, report_html, table_html
from truckee.report.distributions import SizeBucket, byte_text, file_sizes, num_live_rows, vectors
from truckee.report.notebook import nested_text, rows_html

VOID = {"meta", "br", "rect", "line"}
FEED_ON = metadata(properties={"delta.enableChangeDataFeed": "true"})


class Checked(HTMLParser):
    """Fails on tags that do not match, and gathers text and what would be loaded."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.texts: list[str] = []
        self.loaded: list[str] = []
        self.feed(page)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def table() -> History:
    return (
        history()
        .stage(
            metadata(
                "id long not null",
                "<script> string",
                "day date",
                partitioned_by=("day",),
                properties={"delta.enableChangeDataFeed": "true", "owner": "<b>me</b>"},
            )
        )
        .info(operation="<i>WRITE</i>", user_metadata="<u>")
        .add("a", size=3000)
        .add("b", size=900)
        .then()
        .delete("a", rows=[0, 1, 2])
    )


# Invariant 17.
def test_the_page_loads_nothing_and_lets_nothing_of_the_table_become_html() -> None:
    page = report_html(table().snapshot())

    found = Checked(page)

    assert found.loaded == []
    assert "<script" not in page
    assert "@import" not in page
    assert "url(" not in page
    for text in ("<script>", "<b>me</b>", "<i>WRITE</i>"):
        assert text in found.texts


def test_the_page_says_what_the_log_knows() -> None:
    texts = Checked(report_html(table().snapshot())).texts

    for text in (
        "17",
        "3.8 KiB",
        "The change data feed was on at versions 0 to 1.",
        "1 of 2 files have a vector; 3 rows are marked as deleted. Number of files by their"
        " share of deleted rows.",
    ):
        assert text in texts


def test_many_commits_share_bars() -> None:
    page = report_html(history().stage(FEED_ON).add("a").then().empty(400).snapshot())

    assert "Each bar holds 3 commits." in page
    assert len(re.findall('class="cell', page)) == 134


def test_a_narrow_page_has_charts_of_fewer_bars_rather_than_ones_that_scroll() -> None:
    page = report_html(history().stage(FEED_ON).add("a").then().empty(60).snapshot())

    wide, narrow = re.findall(r'<div class="if-(?:wide|narrow)">(.*?)</div>', page)
    assert wide.count('class="hover"') == 61
    assert narrow.count('class="hover"') == 31
    assert 'viewBox="0 0 460' in narrow
    assert "Each bar holds 2 commits." in narrow
    assert "v60, " in narrow
    assert ".if-narrow { display: block; } .if-wide { display: none; }" in page


def test_commits_have_their_user_their_mode_and_their_condition() -> None:
    made = history().info(
        operation="WRITE",
        user_name="<me>",
        operation_parameters={"mode": "Overwrite", "predicate": '["(day = 1)", "(a < 2)"]'},
    )

    page = report_html(made.add("a").then().snapshot())

    (rows,) = re.findall("Latest commits.*", page)
    assert "WRITE Overwrite<br><code>(day = 1) AND (a &lt; 2)</code>" in rows
    assert '<div class="who">&lt;me&gt;</div>' in rows
    assert ">+1 &minus;0</td>" in rows


def test_what_scrolls_has_a_shadow_where_there_is_more() -> None:
    page = report_html(table().snapshot())

    rule, _ = re.findall(r"\.scroll \{(.*?)\}", page, re.DOTALL)  # the other is for paper
    assert "overflow-x: auto" in rule
    assert "background-attachment: local, local, scroll, scroll" in rule
    assert rule.count("var(--shadow)") == 2
    assert '<div class="scroll"><table>' in page


def test_a_chart_that_would_be_empty_is_a_sentence() -> None:
    page = report_html(history().add("a").then().cdc("c").then().snapshot())

    assert "rows inserted by commit" in page
    assert "rows updated by commit" not in page
    assert "The number of rows updated is not in the log." in page
    assert "No rows updated." in report_html(history().add("a").then().snapshot())


def test_one_of_something_is_not_many() -> None:
    page = report_html(history().add("a", stats='{"numRecords":1}').then().snapshot())

    assert "64 B to 128 B: 1 file<" in page
    assert ": 1 row<" in page


def test_an_empty_table_has_a_page_without_charts() -> None:
    page = report_html(history().then().snapshot())

    texts = Checked(page).texts
    assert "The table has no files." in texts
    assert "No file has a deletion vector." in texts
    assert "The change data feed was on at none of these versions." in texts
    assert "<svg" not in page


def test_one_version_with_the_feed_is_not_a_range() -> None:
    page = report_html(history().stage(FEED_ON).then().snapshot())

    assert "The change data feed was on at version 0." in page


def test_every_table_has_headings_and_those_of_the_page_come_in_order() -> None:
    page = report_html(table().snapshot())

    tables = re.findall("<table>.*?</table>", page)
    levels = [int(level) for level in re.findall(r"<h(\d)>", page)]
    assert len(tables) == 4
    assert all('<th scope="row"' in found for found in tables)
    assert levels[0] == 1
    assert all(below - above <= 1 for above, below in pairwise(levels))
    assert '<html lang="en">' in page
    assert "<title>t: Delta table</title>" in page
    assert all("aria-label=" in chart for chart in re.findall("<svg[^>]*>", page))


def test_sizes_fall_into_powers_of_two_without_a_gap() -> None:
    snapshot = history().add("a", size=1024).add("b", size=1500).add("c", size=5000).snapshot()

    assert file_sizes(snapshot) == (
        SizeBucket("1 KiB", 2, "2 KiB"),
        SizeBucket("2 KiB", 0, "4 KiB"),
        SizeBucket("4 KiB", 1, "8 KiB"),
    )


def test_density_is_the_part_of_a_file_that_is_deleted() -> None:
    snapshot = history().add("a").add("b").then().delete("a", rows=list(range(10))).snapshot()

    found = vectors(snapshot)

    assert (found.files, found.deleted_rows) == (1, 10)
    assert found.density[-1] == SizeBucket("90 %", 1, "100 %")
    assert num_live_rows(snapshot) == 10


def test_rows_are_unknown_without_statistics() -> None:
    assert num_live_rows(history().add("a", stats=None).snapshot()) is None


def test_sizes_are_written_as_people_read_them() -> None:
    sizes = (0, 1, 1023, 1024, 1536, 10_240_000, 2**50)

    assert [byte_text(size) for size in sizes] == [
        "0 B",
        "1 B",
        "1023 B",
        "1 KiB",
        "1.5 KiB",
        "9.8 MiB",
        "1 PiB",
    ]


def test_notebooks_show_columns_and_commits() -> None:
    from truckee.log.files.history import history as log_history

    made = table()
    snapshot = made.snapshot()

    page = table_html(snapshot, log_history(snapshot.storage))

    texts = Checked(page).texts
    for text in ("Delta table", "<script>", "bigint not null", "partition", "<i>WRITE</i>", "<u>"):
        assert text in texts
    assert history_html([]).startswith("<table ")


def test_notebooks_show_user_metadata_only_where_there_is_some() -> None:
    from truckee.log.files.history import history as log_history

    with_some = history_html(log_history(table().snapshot().storage))
    without = history_html(log_history(history().add("a").snapshot().storage))

    assert ">user metadata</th>" in with_some
    assert ">user metadata</th>" not in without


def test_rows_name_the_columns_that_have_no_values() -> None:
    page = rows_html(("a", "<b>", "c"), [("1", None, None), (None, None, "x")])

    texts = Checked(page).texts
    assert texts == ["a", "c", "1", "x", "without values: <b>"]
    assert ">a</th>" in rows_html(("a",), [])


def test_a_single_row_of_many_columns_has_a_line_for_each() -> None:
    names = [f"c{n}" for n in range(9)]

    one = rows_html(names, [[f"v{n}" for n in range(9)]])
    two = rows_html(names, [[f"v{n}" for n in range(9)]] * 2)

    assert (one.count("<tr>"), one.count("<th ")) == (10, 2)
    assert (two.count("<tr>"), two.count("<th ")) == (3, 9)


def test_metrics_are_a_line_for_each_number() -> None:
    metrics = {
        "numFilesAdded": 1,
        "filesAdded": {"min": 5, "max": None},
        "strategies": [{"bins": 2}, {"bins": 3}],
        "isDone": True,
        "startTimeMs": 1_700_000_000_000,
        "endTimeMs": 0,
        "predicate": '["(id = 1)"]',
    }

    assert nested_text(metrics).splitlines() == [
        "numFilesAdded: 1",
        "filesAdded: min 5, max null",
        "strategies: (bins 2), (bins 3)",
        "isDone: true",
        "startTimeMs: 2023-11-14T22:13:20.000Z",
        "endTimeMs: 0",
        'predicate: ["(id = 1)"]',
    ]
    assert nested_text(["a", "b"]) == "a, b"
    assert "white-space:pre-line" in rows_html(("a",), [("x\ny",)])
