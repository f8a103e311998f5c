"""Rows of a scan as bitmaps, one for each file; no row leaves the engine.

The tasks that find rows put them into Roaring bitmaps, one for each file (see `TruckeeRows.java`),
and the driver unites them. Only these bitmaps are sent: two bytes a row where rows are sparse,
almost nothing where they are adjacent.

In the other direction, `is_in` tells for each row of a scan whether it is in such bitmaps. Rows
that are in no file of the table, but have numbers of their own, are treated in the same way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct
from typing import NamedTuple

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap, keyed_portable
from truckee.spark.dml.slot import Slot
from truckee.spark.jvm.bridge import compiled, java_half
from truckee.spark.jvm.projection import Given, Named, selected
from truckee.spark.read.relations import FILE, ROW
from truckee.spark.session.job_descriptions import described_jobs

FileRows = Mapping[int, RowBitmap]
"""Rows by the id of their file."""

_MARK = "__truckee_mark_"
_RECORD = Struct(">iq")
_SIZE = Struct(">i")
# In place of a file's id, for rows that have a number and are in no file.
_NUMBERED = -1


class MarkedRows(NamedTuple):
    """Which rows were given, which of them had each mark, and in which files a row came twice."""

    rows: FileRows
    by_mark: tuple[FileRows, ...]
    has_repeats: bool


class MarkedNumbers(NamedTuple):
    """The same for rows that are identified by a number of their own, not by file and position."""

    rows: RowBitmap
    by_mark: tuple[RowBitmap, ...]
    has_repeats: bool


def row_bitmaps(rows: DataFrame) -> FileRows:
    """Return which rows of which file are among `rows`, by file id.

    `rows` has the columns `FILE` and `ROW` of a scan; rows that are there twice count once.
    """
    return marked_bitmaps(rows, ()).rows


def marked_bitmaps(rows: DataFrame, marks: Sequence[Column]) -> MarkedRows:
    """Return the same, and for each condition in `marks` the rows for which it is true."""
    found, repeated = _collected(rows, marks)
    return MarkedRows(found[0], tuple(found[1:]), bool(repeated))


def paired_bitmaps(
    pairs: DataFrame, marks: Sequence[Column], number: str
) -> tuple[MarkedRows, MarkedNumbers]:
    """Return the same for both sides of pairs: rows of files, and rows with a number.

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
    marked = [Given(mark, f"{_MARK}{index}") for index, mark in enumerate(marks)]
    places = selected(rows, [Named(FILE), Named(ROW), *marked])
    spark = rows.sparkSession
    with described_jobs(spark, "finding rows"):
        records = bytes(compiled(spark, "TruckeeRows").bitmaps(places._jdf, len(marks)))
    parts: list[dict[int, list[RowBitmap]]] = [defaultdict(list) for _ in range(len(marks) + 1)]
    num_seen: dict[int, int] = defaultdict(int)
    for file, count, bitmaps in _records(records, len(marks) + 1):
        num_seen[file] += count
        for part, bitmap in zip(parts, bitmaps, strict=True):
            if bitmap:
                part[file].append(bitmap)
    found = [{file: _union(members) for file, members in sorted(p.items())} for p in parts]
    return found, {file for file, bitmap in found[0].items() if num_seen[file] > len(bitmap)}


def _records(data: bytes, width: int) -> Iterator[tuple[int, int, list[RowBitmap]]]:
    """Yield the file, the number of rows seen, and the bitmaps of each record of a task."""
    place = 0
    while place < len(data):
        file, count = _RECORD.unpack_from(data, place)
        place += _RECORD.size
        bitmaps: list[RowBitmap] = []
        for _ in range(width):
            [size] = _SIZE.unpack_from(data, place)
            place += _SIZE.size
            if size < 0:
                bitmaps.append(bitmaps[0])
            else:
                bitmaps.append(RowBitmap.deserialize_portable(data[place : place + size]))
                place += size
        yield file, count, bitmaps


def _union(parts: list[RowBitmap]) -> RowBitmap:
    return parts[0] if len(parts) == 1 else RowBitmap.union(parts)


def is_of_files(ids: Iterable[int]) -> Column:
    """Return whether a row of a scan with `FILE` is in one of these files."""
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


def union_of_rows(parts: Sequence[FileRows]) -> dict[int, RowBitmap]:
    """Return the rows that are in any of the parts."""
    files: dict[int, list[RowBitmap]] = defaultdict(list)
    for part in parts:
        for file, rows in part.items():
            files[file].append(rows)
    return {file: RowBitmap.union(members) for file, members in files.items()}
