from __future__ import annotations

import pickle
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyroaring import BitMap64

from truckee.deletion_vectors.bitmap import (
    LARGEST_ROW_INDEX,
    NO_ROWS,
    RowBitmap,
)
from truckee.errors.deletion_vectors import RowIndexOutOfRangeError

rows_near_containers = st.one_of(
    st.integers(0, 300),
    st.integers(65_500, 65_600),
    st.integers(2**32 - 50, 2**32 + 50),
    st.integers(0, LARGEST_ROW_INDEX),
)
row_sets = st.sets(rows_near_containers, max_size=60)
row_runs = st.builds(
    lambda start, length: set(range(start, start + length)),
    rows_near_containers.filter(lambda row: row < LARGEST_ROW_INDEX - 9_000),
    st.integers(0, 9_000),
)
sets = row_sets | row_runs


# Invariant 8.
@pytest.mark.property
@given(sets, sets)
def test_the_algebra_is_that_of_sets(a: set[int], b: set[int]) -> None:
    left, right = RowBitmap(a), RowBitmap(b)

    assert set(left | right) == a | b
    assert set(left & right) == a & b
    assert set(left - right) == a - b
    assert left.isdisjoint(right) == a.isdisjoint(b)
    assert (left <= right) == (a <= b)
    assert (left == right) == (a == b)
    assert set(RowBitmap.union([left, right, left])) == a | b


@pytest.mark.property
@given(sets)
def test_a_bitmap_looks_like_its_set(rows: set[int]) -> None:
    bitmap = RowBitmap(rows)

    assert list(bitmap) == sorted(rows)
    assert len(bitmap) == len(rows)
    assert bool(bitmap) == bool(rows)
    assert bitmap.max == max(rows, default=None)
    assert list(bitmap.to_array()) == sorted(rows)
    assert hash(bitmap) == hash(RowBitmap(sorted(rows)))


@pytest.mark.property
@given(sets)
def test_a_bitmap_survives_its_bytes_and_pickling(rows: set[int]) -> None:
    bitmap = RowBitmap(rows)

    assert RowBitmap.deserialize_portable(bitmap.serialize_portable()) == bitmap
    assert pickle.loads(pickle.dumps(bitmap)) == bitmap


def test_membership_is_false_for_what_is_no_row_index() -> None:
    bitmap = RowBitmap([0, 9])

    assert 9 in bitmap
    assert 1 not in bitmap
    assert -1 not in bitmap
    assert 2**70 not in bitmap


def test_a_bitmap_differs_from_a_set_of_the_same_rows() -> None:
    assert RowBitmap([1]) != {1}


def test_the_union_of_nothing_is_empty() -> None:
    assert RowBitmap.union([]) == NO_ROWS
    assert NO_ROWS.max is None


def test_runs_are_written_as_runs_also_after_a_union() -> None:
    united = RowBitmap.union(RowBitmap([row]) for row in range(50_000))

    assert len(united.serialize_portable()) < 50


def test_a_large_bitmap_shows_its_first_rows_only() -> None:
    assert repr(RowBitmap([0, 9])) == "RowBitmap({0, 9})"
    assert repr(RowBitmap(range(100))) == "RowBitmap({0, 1, 2, 3, 4, 5, 6, 7, ... 100 rows})"


@pytest.mark.parametrize("row", [-1, LARGEST_ROW_INDEX + 1, 2**64])
def test_a_row_index_that_no_vector_can_hold_is_refused(row: int) -> None:
    for rows in ([1, row], iter([1, row])):
        with pytest.raises(RowIndexOutOfRangeError) as raised:
            RowBitmap(rows)

        expected = f"row index {row} is not between 0 and 9223372030412324864"
        assert raised.value.sentence() == expected


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\x01",
        struct.pack("<QI", 1, 0),
        RowBitmap([1, 2, 9]).serialize_portable()[:-1],
        BitMap64([LARGEST_ROW_INDEX + 1]).serialize(),
    ],
)
def test_bytes_that_are_no_bitmap_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError):
        RowBitmap.deserialize_portable(data)
