"""Rows of a scan as bitmaps, one a file, without a row ever leaving the engine.

Where the rows are, 64 neighbours become one word: row 130 of file 7 is bit 2 of word 2 of file 7.
Words are or-ed by Spark's own hash aggregation, and what is collected are the words that have a
bit in them, as Arrow. A word costs 20 bytes, so the rows of a whole file of a million rows are
300 KB, and the driver never sees a row.

The other way, `is_in` tells of each row of a scan whether it is in such bitmaps. Rows that are in
no file of the table, but have numbers of their own, are treated alike.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap, keyed_portable
from truckee.spark.dml.slot import Slot
from truckee.spark.jvm.bridge import java_half
from truckee.spark.jvm.projection import Given, Named, Sql, grouped, selected
from truckee.spark.read.relations import FILE, ROW
from truckee.spark.session.job_descriptions import described_jobs

FileRows = Mapping[int, RowBitmap]
"""Rows by the id of their file."""

_WORD = "__truckee_word"
_BITS = "__truckee_bits"
_BIT = f"shiftleft(1L, cast({ROW} & 63 as int))"
_MARK = "__truckee_mark_"
_REPEATS = "__truckee_repeats"
_WORDS_PER_BLOCK = 1024
# Where a file's id would be: of rows that have a number, and are in no file.
_NUMBERED = -1


class MarkedRows(NamedTuple):
    """Which rows were among those given, which of them had each mark, and if one came twice."""

    rows: FileRows
    by_mark: tuple[FileRows, ...]
    has_repeats: bool


class MarkedNumbers(NamedTuple):
    """The same of rows that are told by a number of their own, not by a place in a file."""

    rows: RowBitmap
    by_mark: tuple[RowBitmap, ...]
    has_repeats: bool


def row_bitmaps(rows: DataFrame) -> FileRows:
    """Return which rows of which file are among `rows`, by file id.

    `rows` has the columns `FILE` and `ROW` of a scan; rows that are there twice count once.
    """
    return marked_bitmaps(rows, ()).rows


def marked_bitmaps(rows: DataFrame, marks: Sequence[Column]) -> MarkedRows:
    """Return the same, and for each of the conditions in `marks` the rows that it is true of."""
    found, repeated = _collected(rows, marks)
    return MarkedRows(found[0], tuple(found[1:]), bool(repeated))


def paired_bitmaps(
    pairs: DataFrame, marks: Sequence[Column], number: str
) -> tuple[MarkedRows, MarkedNumbers]:
    """Return the same of both sides of pairs: rows of files, and rows with a number.

    `pairs` has `FILE`, `ROW` and the column `number`, of integers that are not negative.
    """
    names = [f"{_MARK}{index}" for index in range(len(marks))]
    marked = [Given(mark, name) for mark, name in zip(marks, names, strict=True)]
    both = selected(pairs, [*marked, Named(FILE), Named(ROW), Named(number)])
    places = f"struct({FILE}, {ROW}), struct({_NUMBERED} AS {FILE}, {number} AS {ROW})"
    rows = both.selectExpr(*names, f"inline(array({places}))")
    found, repeated = _collected(rows, [F.col(name) for name in names])
    numbers = [each.pop(_NUMBERED, RowBitmap()) for each in found]
    return (
        MarkedRows(found[0], tuple(found[1:]), bool(repeated - {_NUMBERED})),
        MarkedNumbers(numbers[0], tuple(numbers[1:]), _NUMBERED in repeated),
    )


def _collected(
    rows: DataFrame, marks: Sequence[Column]
) -> tuple[list[dict[int, RowBitmap]], set[int]]:
    """Return the rows, then those with each mark; and the files of which a row came twice."""
    bits = [_BITS, *(f"{_BITS}_{index}" for index in range(len(marks)))]
    found = grouped(
        rows,
        [Named(FILE), Sql(f"shiftright({ROW}, 6)", _WORD)],
        [
            Sql(f"bit_or({_BIT})", _BITS),
            *(
                Given(F.bit_or(F.when(m, F.expr(_BIT))), n)
                for m, n in zip(marks, bits[1:], strict=True)
            ),
            Sql(f"bit_count(bit_or({_BIT})) < count(*)", _REPEATS),
        ],
    )
    with described_jobs(rows.sparkSession, "finding rows"):
        collected = found.toArrow()
    words = collected.sort_by([(FILE, "ascending"), (_WORD, "ascending")])
    repeated = words.column(FILE).filter(words.column(_REPEATS))
    every = _bitmaps(words, _BITS)
    # A mark is often that of all rows, and need not be taken apart again.
    marked = [
        dict(every) if words.column(name).equals(words.column(_BITS)) else _bitmaps(words, name)
        for name in bits[1:]
    ]
    return [every, *marked], set(pc.unique(repeated).to_pylist())


def is_of_files(ids: Iterable[int]) -> Column:
    """Return whether a row of a scan with `FILE` is of one of these files."""
    return F.expr(f"{FILE} IN ({', '.join(map(str, ids))})")


def is_in(spark: SparkSession, rows: FileRows, name: str) -> Column:
    """Return whether a row of a scan with `FILE` and `ROW` is among these; `name` is for plans."""
    key = F.expr(f"shiftleft(cast({FILE} AS BIGINT), 32) | {ROW}")
    return _contains(spark, keyed_portable(rows), name, key)


def is_number_in(spark: SparkSession, numbers: RowBitmap, name: str, number: str) -> Column:
    """Return whether the column `number` of a row is among these."""
    return _contains(spark, numbers.serialize_portable(), name, F.col(number))


def _contains(spark: SparkSession, portable: bytes, name: str, key: Column) -> Column:
    slot = Slot(spark, name, "org.roaringbitmap.longlong.Roaring64NavigableMap")
    slot.fill(java_half(spark).sparse(portable))
    return slot.call("contains", "boolean", key)


def united(parts: Sequence[FileRows]) -> dict[int, RowBitmap]:
    """Return the rows that are in any of the parts."""
    files: dict[int, list[RowBitmap]] = defaultdict(list)
    for part in parts:
        for file, rows in part.items():
            files[file].append(rows)
    return {file: RowBitmap.union(members) for file, members in files.items()}


def _bitmaps(words: pa.Table, name: str) -> dict[int, RowBitmap]:
    """Return the rows of one column of bits, from words ordered by file and number."""
    columns = (words.column(each).to_pylist() for each in (FILE, _WORD, name))
    found = (word for word in zip(*columns, strict=True) if word[2])
    positions: dict[int, list[pa.Array]] = defaultdict(list)
    for (file, block), members in groupby(found, lambda w: (w[0], w[1] // _WORDS_PER_BLOCK)):
        bits = bytearray(_WORDS_PER_BLOCK * 8)
        view = memoryview(bits).cast("q")
        for word, value in map(itemgetter(1, 2), members):
            view[word % _WORDS_PER_BLOCK] = value
        positions[file].append(pc.add(_set_bits(bits), block * _WORDS_PER_BLOCK * 64))
    return {file: _bitmap(parts) for file, parts in positions.items()}


def _set_bits(bits: bytearray) -> pa.Array:
    """Return the positions of the bits that are set, as 64-bit integers."""
    flags = pa.BooleanArray.from_buffers(pa.bool_(), len(bits) * 8, [None, pa.py_buffer(bits)])
    return pc.indices_nonzero(flags)


def _bitmap(parts: list[pa.Array]) -> RowBitmap:
    rows = pa.concat_arrays(parts)
    return RowBitmap.from_array(memoryview(rows.buffers()[1])[: len(rows) * 8])
