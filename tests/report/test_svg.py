from __future__ import annotations

import re
from itertools import pairwise

import pytest

from truckee.report.svg import NARROW, Bar, bars, strip


def test_a_wide_chart_has_a_class_that_enlarges_its_text_on_narrow_pages() -> None:
    assert bars([Bar(1, "one")], label="x").startswith('<svg class="wide" viewBox="0 0 960')
    assert bars([Bar(1, "one")], label="x", width=NARROW).startswith('<svg viewBox="0 0 460')


@pytest.mark.parametrize("highest", [1, 5, 10, 99, 673_800, 9_700_000, 10**13])
@pytest.mark.parametrize("is_logarithmic", [False, True])
def test_texts_of_the_grid_do_not_overlap_where_a_chart_is_drawn_small(
    highest: int, is_logarithmic: bool
) -> None:
    chart = bars([Bar(highest, "one")], label="x", is_logarithmic=is_logarithmic)

    places = sorted(float(y) for y in re.findall(r'<line [^>]*y1="([\d.]+)"', chart))
    assert len(places) >= 2
    assert min(below - above for above, below in pairwise(places)) >= 20


def test_a_strip_has_no_text_and_may_be_as_narrow_as_the_page() -> None:
    chart = strip([Bar(1, "version 0", "on")], label="x")

    assert chart.startswith('<svg class="wide strip" preserveAspectRatio="none"')
    assert "<text" not in chart
