"""Tables of the corpus, broken at random: what comes of them is rows or a DeltaError."""

from __future__ import annotations

import os

import pytest

from hostile.reading import failed_rounds, small_tables

ROUNDS = int(os.environ.get("TRUCKEE_MUTATIONS", "60"))


@pytest.mark.golden
def test_a_broken_table_gives_rows_or_a_delta_error() -> None:
    """Invariant 42."""
    tables = small_tables()
    if not tables:
        pytest.skip("the corpus is not there")

    assert failed_rounds(range(ROUNDS), tables) == []
