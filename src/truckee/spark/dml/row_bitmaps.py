"""Rows of a scan as bitmaps, one for each file; no row leaves the engine.

The tasks that find rows put them into Roaring bitmaps, one for each file (see `TruckeeRows.java`),
and the driver unites them. Only these bitmaps are sent: two bytes a row where rows are sparse,
almost nothing where they are adjacent. `found_rows` sends no more than `MOST_SENT` bytes of them:
where there are more, the tasks write deletion vectors, and the driver sees only descriptors.

In the other direction, `is_in` tells for each row of a scan whether it is in such bitmaps. Rows
that are in no file of the table, but have numbers of their own, are treated in the same way.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct
from typing import NamedTuple
from uuid import UUID

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap, encode, keyed_portable
from truckee.deletion_vectors.store import StoredRows, VectorOf
from truckee.protocol.deletion_vector import DeletionVectorDescriptor, on_disk_with_relative_path
from truckee.spark.dml.slot import Slot
from truckee.spark.jvm.bridge import compiled, java_half
from truckee.spark.jvm.projection import Given, Named, selected
from truckee.spark.read.relations import FILE, ROW
from truckee.spark.read.scan import vector_text
from truckee.spark.session.job_descriptions import job_description

FileRows = Mapping[int, RowBitmap]
"""Rows by the id of their file."""

MOST_SENT = 1024 * 1024
"""How many bytes of bitmaps the tasks of a job may send to the driver."""

_MARK = "__truckee_mark_"
_RECORD = Struct(">iq")
_SIZE = Struct(">i")
_VECTOR = Struct(">16siiq")
_SAME, _STORED = -1, -2
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


def found_rows(rows: DataFrame, root: str) -> dict[int, RowBitmap | StoredRows]:
    """Return the same for rows that are there once each; vectors may be written below `root`."""
    places = selected(rows, [Named(FILE), Named(ROW)])
    spark = rows.sparkSession
    with job_description(spark, "finding rows"):
        records = bytes(compiled(spark, "TruckeeRows").stored(places._jdf, root, MOST_SENT))
    sent: dict[int, list[RowBitmap]] = defaultdict(list)
    stored: dict[int, list[DeletionVectorDescriptor]] = defaultdict(list)
    for file, _, [part] in _records(records, 1):
        if isinstance(part, RowBitmap):
            sent[file].append(part)
        else:
            stored[file].append(part)
    found: dict[int, RowBitmap | StoredRows] = {f: _union(parts) for f, parts in sent.items()}
    for file, vectors in stored.items():
        found[file] = StoredRows(tuple(vectors), RowBitmap.union(sent[file]))
    return dict(sorted(found.items()))


def united_vectors(
    spark: SparkSession, root: str, sets: Sequence[tuple[Sequence[VectorOf], RowBitmap]]
) -> list[DeletionVectorDescriptor]:
    """Write a vector for each set, in tasks, with the rows of some vectors and of a bitmap."""
    texts = []
    for number, (vectors, rows) in enumerate(sets):
        lines = [vector_text(vector, root) for vector in vectors]
        if rows:
            data = encode(rows)
            lines.append(f"={data.hex()}\t0\t{len(data)}\t{len(rows)}")
        texts.append("\n".join([str(number), *lines]))
    if not texts:
        return []
    session = spark._jsparkSession
    with job_description(spark, "writing deletion vectors"):
        records = bytes(compiled(spark, "TruckeeRows").united(session, root, "\n\n".join(texts)))
    written = {number: vector for number, _, [vector] in _records(records, 1)}
    found = [written[number] for number in range(len(sets))]
    return [vector for vector in found if isinstance(vector, DeletionVectorDescriptor)]


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
    with job_description(spark, "finding rows"):
        records = bytes(compiled(spark, "TruckeeRows").bitmaps(places._jdf, len(marks)))
    parts: list[dict[int, list[RowBitmap]]] = [defaultdict(list) for _ in range(len(marks) + 1)]
    num_seen: dict[int, int] = defaultdict(int)
    for file, count, bitmaps in _records(records, len(marks) + 1):
        num_seen[file] += count
        for part, bitmap in zip(parts, bitmaps, strict=True):
            if isinstance(bitmap, RowBitmap) and bitmap:
                part[file].append(bitmap)
    found = [{file: _union(members) for file, members in sorted(p.items())} for p in parts]
    return found, {file for file, bitmap in found[0].items() if num_seen[file] > len(bitmap)}


def _records(
    data: bytes, width: int
) -> Iterator[tuple[int, int, list[RowBitmap | DeletionVectorDescriptor]]]:
    """Yield the file, the number of rows seen, and the bitmaps of each record of a task."""
    place = 0
    while place < len(data):
        file, count = _RECORD.unpack_from(data, place)
        place += _RECORD.size
        bitmaps: list[RowBitmap | DeletionVectorDescriptor] = []
        for _ in range(width):
            [size] = _SIZE.unpack_from(data, place)
            place += _SIZE.size
            if size == _SAME:
                bitmaps.append(bitmaps[0])
            elif size == _STORED:
                bitmaps.append(_vector(data, place))
                place += _VECTOR.size
            else:
                bitmaps.append(RowBitmap.deserialize_portable(data[place : place + size]))
                place += size
        yield file, count, bitmaps


def _vector(data: bytes, place: int) -> DeletionVectorDescriptor:
    uuid, offset, size, cardinality = _VECTOR.unpack_from(data, place)
    return on_disk_with_relative_path(
        UUID(bytes=uuid), offset=offset, size_in_bytes=size, cardinality=cardinality
    )


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
