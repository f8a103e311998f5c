from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.changes.row_diff import RowDiff, changed_rows
from truckee.deletion_vectors.bitmap import RowBitmap


def rows(*indexes: int) -> RowBitmap:
    return RowBitmap(indexes)


@pytest.mark.parametrize(
    ("before", "after", "deleted", "restored"),
    [
        (rows(0, 1), rows(1, 2), rows(2), rows(0)),
        (rows(0, 1, 4, 5), rows(0, 5), rows(), rows(1, 4)),
        (rows(), rows(3), rows(3), rows()),
        (rows(3), rows(3), rows(), rows()),
    ],
)
def test_rows_only_in_one_vector_were_deleted_or_restored(
    before: RowBitmap, after: RowBitmap, deleted: RowBitmap, restored: RowBitmap
) -> None:
    assert changed_rows(before, after) == RowDiff(deleted=deleted, restored=restored)


@pytest.mark.property
@given(st.sets(st.integers(0, 40)), st.sets(st.integers(0, 40)))
def test_applying_a_row_diff_leads_from_one_vector_to_the_other(a: set[int], b: set[int]) -> None:
    diff = changed_rows(RowBitmap(a), RowBitmap(b))

    assert (RowBitmap(a) | diff.deleted) - diff.restored == RowBitmap(b)
    assert diff.deleted.isdisjoint(diff.restored)
