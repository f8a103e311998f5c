from __future__ import annotations

from truckee.report.svg import NARROW, Bar, bars


def test_a_wide_chart_has_a_class_that_enlarges_its_text_on_narrow_pages() -> None:
    assert bars([Bar(1, "one")], label="x").startswith('<svg class="wide" viewBox="0 0 960')
    assert bars([Bar(1, "one")], label="x", width=NARROW).startswith('<svg viewBox="0 0 460')
