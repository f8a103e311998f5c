"""Which rows of a batch are read for each of the ScanFiles that name one physical file.

A ScanFile reads every row, all but those of a vector, or those of a vector alone. A feed may name a
file hundreds of times, once for every version that deleted rows of it. Such rows are few, so those
of all versions are taken from a batch in one step.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.log.checkpoint.columns import typed_child
from truckee.scan.scan_file import ScanFile

# A mask is made by setting one byte for each row that is left out. Copying the runs between these
# takes half the time of copying row by row; where there are many, the runs are short and it is not.
_FEW_LEFT_OUT = 1 / 32


class ChosenRows:
    """The rows of a file that its ScanFiles read, each with its rows to keep or to drop."""

    def __init__(self, members: Sequence[tuple[ScanFile, RowBitmap | None]]) -> None:
        self.files = [file for file, _ in members]
        self._without: list[tuple[int, RowBitmap | None]] = []
        self._within: list[tuple[int, array[int]]] = []
        for number, (file, rows) in enumerate(members):
            if rows is not None and file.rows.within is not None:
                self._within.append((number, rows.to_array()))
            else:
                self._without.append((number, rows))

    def has_rows(self, first: int, count: int) -> bool:
        """Return whether any of the `count` rows from `first` on may be read."""
        if self._without:
            return True
        return any(
            bisect_left(rows, first) < bisect_left(rows, first + count) for _, rows in self._within
        )

    def rows(
        self, data: pa.RecordBatch, first: int
    ) -> Iterator[tuple[pa.RecordBatch, int | pa.Array]]:
        """Yield the rows to read of a batch, with the number of the ScanFile that they are for.

        The first row of the batch is row `first` of the file. Where rows of several ScanFiles are
        taken together, there is a number for each row.
        """
        for number, dropped in self._without:
            yield (data if dropped is None else _rows_without(data, dropped, first)), number
        if self._within:
            yield self._taken_together(data, first)

    def _taken_together(self, data: pa.RecordBatch, first: int) -> tuple[pa.RecordBatch, pa.Array]:
        stop = first + data.num_rows
        found, numbers = array("Q"), array("i")
        for number, rows in self._within:
            start = bisect_left(rows, first)
            end = bisect_left(rows, stop, start)
            if start < end:
                found.extend(rows[start:end])
                numbers.extend(array("i", [number]) * (end - start))
        members = pa.Array.from_buffers(pa.int32(), len(numbers), [None, pa.py_buffer(numbers)])
        return _taken(data, _indexes(found, first)), members


def _rows_without(data: pa.RecordBatch, dropped: RowBitmap, first: int) -> pa.RecordBatch:
    stop = first + data.num_rows
    left_out = dropped.count_between(first, stop)
    if not left_out:
        return data
    if left_out > _FEW_LEFT_OUT * data.num_rows:
        return _taken(data, _indexes(dropped.missing(first, stop), first))
    is_kept = bytearray(b"\1") * data.num_rows
    for row in dropped.between(first, stop):
        is_kept[row - first] = 0
    bytes_kept = pa.Array.from_buffers(pa.uint8(), data.num_rows, [None, pa.py_buffer(is_kept)])
    mask = bytes_kept.cast(pa.bool_())
    # A whole batch would be filtered by indexes, which is the slow way.
    return pa.RecordBatch.from_arrays(
        [column.filter(mask) for column in data.columns], schema=data.schema
    )


def _taken(data: pa.RecordBatch, indexes: pa.Array) -> pa.RecordBatch:
    # The indexes were cut to those of the batch, and checking them again takes as long as taking.
    return pc.take(data, indexes, boundscheck=False)


def _indexes(rows: array[int], first: int) -> pa.Array:
    # No row index needs the 64th bit.
    indexes = pa.Array.from_buffers(pa.int64(), len(rows), [None, pa.py_buffer(rows)])
    return pc.subtract(indexes, typed_child([first], pa.int64())[0])
