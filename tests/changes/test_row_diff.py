from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.changes.row_diff import Layer, RowDiff, RowEvent, changed_rows, layers
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


def test_events_that_share_no_row_are_one_layer() -> None:
    events = [RowEvent(0, rows(4, 5)), RowEvent(1, rows(1)), RowEvent(2, rows(2, 3))]

    assert layers(events) == [
        Layer(union=rows(1, 2, 3, 4, 5), slices=(rows(1), rows(2, 3))),
    ]


def test_a_row_with_three_events_is_in_three_layers() -> None:
    events = [RowEvent(0, rows(1, 2)), RowEvent(1, rows(2, 3)), RowEvent(2, rows(2))]

    found = layers(events)

    assert [(layer.union, layer.ordinal(2)) for layer in found] == [
        (rows(1, 2, 3), 0),
        (rows(2), 1),
        (rows(2), 2),
    ]


def test_no_events_and_empty_events_are_no_layers() -> None:
    assert layers([]) == []
    assert layers([RowEvent(0, rows())]) == []


def test_two_hundred_disjoint_events_need_eight_bitmaps() -> None:
    (layer,) = layers(RowEvent(k, RowBitmap(range(k, 10_000, 200))) for k in range(200))

    assert len(layer.slices) == 8
    assert len(layer.union) == 10_000
    assert [layer.ordinal(row) for row in (0, 7, 199, 200, 9_999, 10_000)] == [
        0,
        7,
        199,
        0,
        199,
        None,
    ]


@pytest.mark.property
@given(st.lists(st.sets(st.integers(0, 12)), max_size=12))
def test_layers_say_of_each_row_what_a_dict_of_lists_would(events: list[set[int]]) -> None:
    model: dict[int, list[int]] = {}
    for ordinal, touched in enumerate(events):
        for row in touched:
            model.setdefault(row, []).append(ordinal)

    found = layers(RowEvent(k, RowBitmap(touched)) for k, touched in enumerate(events))

    assert len(found) == max(map(len, model.values()), default=0)
    for row in range(13):
        ordinals = [layer.ordinal(row) for layer in found]
        assert [o for o in ordinals if o is not None] == model.get(row, [])
    for layer in found:
        assert layer.union == RowBitmap(row for row in model if layer.ordinal(row) is not None)
        assert all(bits <= layer.union for bits in layer.slices)
