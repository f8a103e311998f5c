"""Rows of a scan as bitmaps, one a file, without a row ever leaving the engine.

Where the rows are, 64 neighbours become one word: row 130 of file 7 is bit 2 of word 2 of file 7.
Words are or-ed by Spark's own hash aggregation, and what is collected are the words that have a
bit in them, as Arrow. A word costs 20 bytes, so the rows of a whole file of a million rows are
300 KB, and the driver never sees a row.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from operator import itemgetter

import pyarrow as pa
import pyarrow.compute as pc
from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.spark.branches import FILE, ROW

_WORD = "__truckee_word"
_BITS = "__truckee_bits"
_WORDS_PER_BLOCK = 1024


def row_bitmaps(rows: DataFrame) -> dict[int, RowBitmap]:
    """Return which rows of which file are among `rows`, by file id.

    `rows` has the columns `FILE` and `ROW` of a scan; rows that are there twice count once.
    """
    return _bitmaps(row_words(rows).toArrow())


def row_words(rows: DataFrame) -> DataFrame:
    """Return the words of the rows' positions: file id, number of the word, its bits."""
    bit = F.expr(f"shiftleft(1L, cast({ROW} & 63 as int))")
    return rows.groupBy(FILE, F.shiftright(ROW, 6).alias(_WORD)).agg(F.bit_or(bit).alias(_BITS))


def _bitmaps(words: pa.Table) -> dict[int, RowBitmap]:
    ordered = words.sort_by([(FILE, "ascending"), (_WORD, "ascending")])
    columns = (ordered.column(name).to_pylist() for name in (FILE, _WORD, _BITS))
    positions: dict[int, list[pa.Array]] = defaultdict(list)
    found = zip(*columns, strict=True)
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
