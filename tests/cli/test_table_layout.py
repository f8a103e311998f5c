"""Which columns of a table are shown on a terminal, how wide, and how texts are shortened."""

from __future__ import annotations

import time
from collections.abc import Sequence

import pytest

from truckee.cli.table_layout import CellKind, Heading, kind_of_texts, table_layout

PATH = "part-00000-5c1d0ea4-bd55-487d-9370-3846d94b20de-1-c000.snappy.parquet"
TIME = "2024-05-01 10:20:30.123+02:00"


def shown(
    headings: Sequence[Heading],
    row: Sequence[str],
    room: int | None,
    *,
    spare: Sequence[int] = (),
) -> list[str]:
    """Return the cells of the one row of a table."""
    layout = table_layout(headings, [row], room=room, spare=spare)
    return [text for _, text in layout.cells(headings, row)]


def test_a_pipe_gets_everything_whole() -> None:
    headings = [Heading("path"), Heading.number("size")]

    assert shown(headings, [PATH, "5"], None) == [PATH, "   5"]


def test_columns_that_fit_stay_as_wide_as_they_are() -> None:
    headings = [Heading("a"), Heading.time("at"), Heading.number("rows")]

    assert shown(headings, ["x", TIME, "12"], 38) == ["x", TIME, "  12"]


def test_a_file_is_shortened_in_the_middle_and_a_value_at_the_end() -> None:
    assert shown([Heading.file("path")], [PATH], 30) == ["part-00000-5c1d0ea4-bd…parquet"]
    assert shown([Heading("what")], ["it did this, then that"], 14) == ["it did this,… "]


def test_a_time_loses_its_fraction_and_zone_before_texts_get_hard_to_read() -> None:
    headings = [Heading.file("path"), Heading.time("modified")]

    assert shown(headings, [PATH, TIME], 59) == ["part-00000-5c1d0ea4-b…arquet", TIME]
    assert shown(headings, [PATH, TIME], 50)[1] == "2024-05-01 10:20:30…"
    assert shown(headings, [PATH, TIME], 33) == ["part-00000…uet", "2024-05-01 10:20…"]
    assert shown(headings, [PATH, TIME], 25) == ["part-0000…et", "2024-05-01…"]


def test_words_and_numbers_are_never_shortened() -> None:
    headings = [Heading.word("kind"), Heading.number("size"), Heading("path")]

    cells = shown(headings, ["update_postimage", "12345678901234567890", PATH], 52)

    assert cells == ["update_postimage", "12345678901234567890", "part-00000-…"]


def test_a_type_of_change_loses_the_word_that_both_images_have() -> None:
    headings = [Heading.change("_change_type"), Heading("name")]

    assert shown(headings, ["update_postimage", "Ada Lovelace"], 30)[0] == "update_postimage"
    assert shown(headings, ["update_postimage", "Ada Lovelace"], 29)[0] == "postimage"


@pytest.mark.parametrize(
    ("texts", "kind"),
    [
        (["2024-05-01 10:20:30", "null", "2024-05-01T10:20:30.123456Z"], CellKind.TIME),
        (["-1", "2.5", "1.0E10", ""], CellKind.WORD),
        (["2024-05-01", "1"], CellKind.VALUE),
        (["null", ""], CellKind.VALUE),
    ],
)
def test_texts_show_what_a_column_of_values_holds(texts: list[str], kind: CellKind) -> None:
    assert kind_of_texts(texts) is kind


def test_the_widest_columns_give_way_first() -> None:
    cells = shown([Heading("a"), Heading("b"), Heading("c")], ["x" * 40, "y" * 30, "z" * 10], 54)

    assert [len(cell) for cell in cells] == [20, 20, 10]


def test_columns_that_do_not_fit_are_left_out_empty_ones_first_then_spare_ones_then_the_last() -> (
    None
):
    headings = [Heading(name) for name in ("a1", "b1", "empty", "c1", "d1")]
    row = ["a" * 9, "b" * 9, "", "c" * 9, "d" * 9]

    def places(room: int) -> tuple[int, ...]:
        return table_layout(headings, [row], room=room, spare=[1]).places

    assert places(49) == (0, 1, 2, 3, 4)
    assert places(48) == (0, 1, 3, 4)
    assert places(41) == (0, 3, 4)
    assert places(30) == (0, 3)
    assert places(19) == (0,)
    assert places(3) == (0,)


def test_spare_columns_leave_before_times_are_cut_below_their_seconds() -> None:
    headings = [Heading.time("at"), Heading("spare"), Heading("kept")]
    row = [TIME, "s" * 9, "k" * 9]

    assert shown(headings, row, 39, spare=[1]) == ["2024-05-01 10:20:30…", "k" * 9]
    assert shown(headings, row, 28, spare=[1]) == ["2024-05-01 10:20…", "k" * 9]


@pytest.mark.parametrize("room", range(1, 90))
def test_no_line_is_wider_than_the_terminal_unless_one_number_is(room: int) -> None:
    headings = [Heading("path"), Heading.time("at"), Heading("what"), Heading("日本")]

    layout = table_layout(headings, [[PATH, TIME, "it did this", "東京都" * 5]], room=room)

    assert sum(layout.widths) + 2 * (len(layout.widths) - 1) <= room


def test_characters_of_two_cells_are_never_cut_in_half() -> None:
    (cell,) = shown([Heading("town")], ["東京都庁前駅"], 8)

    assert cell == "東京都… "


def test_a_table_without_rows_has_its_names() -> None:
    assert table_layout([Heading("a"), Heading("long")], [], room=80).widths == (1, 4)


def test_a_huge_value_takes_no_longer_than_its_room() -> None:
    start = time.perf_counter()

    layout = table_layout([Heading("a"), Heading("b")], [["x" * 20_000_000, "y"]], room=80)

    assert layout.widths == (77, 1)
    assert time.perf_counter() - start < 2
