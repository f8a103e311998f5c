"""Rows of a batch that are read for each of the ScanFiles of one file."""

from __future__ import annotations

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from changes.tables import vector
from truckee.arrow.chosen_rows import ChosenRows
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.scan.scan_file import ALL_ROWS, RowSelection, ScanFile

COUNT = 200
ROWS = st.sets(st.integers(0, COUNT - 1), max_size=COUNT)
# Few rows and many are left out in different ways.
FEW_OR_MANY = st.one_of(st.sets(st.integers(0, COUNT - 1), max_size=3), ROWS)


def file(rows: RowSelection = ALL_ROWS) -> ScanFile:
    return ScanFile(
        path="f", size=1, modification_time=0, version=3, partition_values={}, rows=rows
    )


def batch(first: int, count: int) -> pa.RecordBatch:
    ids = range(first, first + count)
    texts = [None if number % 7 == 0 else f"text {number}" for number in ids]
    return pa.record_batch({"id": pa.array(ids, pa.int64()), "text": pa.array(texts)})


def chosen(of: ChosenRows, size: int) -> list[tuple[int, int, str | None]]:
    """Return the rows of a file, read in batches of a size, each with the number it is for."""
    found = []
    for first in range(0, COUNT, size):
        for rows, member in of.rows(batch(first, min(size, COUNT - first)), first):
            numbers = [member] * rows.num_rows if isinstance(member, int) else member.to_pylist()
            for number, row in zip(numbers, rows.to_pylist(), strict=True):
                found.append((number, row["id"], row["text"]))
    return found


def expected(number: int, rows: set[int]) -> set[tuple[int, int, str | None]]:
    return {(number, row, None if row % 7 == 0 else f"text {row}") for row in rows}


@given(FEW_OR_MANY, st.sampled_from([1, 32, 64, 150, COUNT]))
def test_rows_outside_of_a_vector_are_read_once_and_in_order(marked: set[int], size: int) -> None:
    of = ChosenRows([(file(RowSelection(without=vector(0))), RowBitmap(marked))])

    found = chosen(of, size)

    assert set(found) == expected(0, set(range(COUNT)) - marked)
    assert [row for _, row, _ in found] == sorted(set(range(COUNT)) - marked)


@given(st.lists(ROWS, max_size=5), FEW_OR_MANY, st.sampled_from([1, 64, COUNT]))
def test_scan_files_of_one_file_get_the_rows_of_their_own_vectors(
    within: list[set[int]], marked: set[int], size: int
) -> None:
    deleted = [(file(RowSelection(within=vector(0))), RowBitmap(rows)) for rows in within]
    live = (file(RowSelection(without=vector(0))), RowBitmap(marked))
    of = ChosenRows([*deleted, live, (file(), None)])

    found = chosen(of, size)

    wanted = [
        *(expected(number, rows) for number, rows in enumerate(within)),
        expected(len(within), set(range(COUNT)) - marked),
        expected(len(within) + 1, set(range(COUNT))),
    ]
    assert len(found) == sum(map(len, wanted))
    assert set(found) == set().union(*wanted)


def test_a_row_group_without_rows_of_any_vector_is_not_read() -> None:
    selection = RowSelection(within=vector(0))
    of = ChosenRows([(file(selection), RowBitmap({3})), (file(selection), RowBitmap({25}))])

    assert [of.has_rows(first, 10) for first in (0, 10, 20)] == [True, False, True]
    assert ChosenRows([(file(), None)]).has_rows(10, 10)
