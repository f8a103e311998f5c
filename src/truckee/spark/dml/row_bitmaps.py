"""Rows of a scan as bitmaps, one for each file; no row leaves the engine.

The tasks that find rows put them into Roaring bitmaps, one for each file (see `TruckeeRows.java`).
They send at most `MOST_SENT` bytes of them to the driver: two bytes a row where rows are sparse,
almost nothing where they are adjacent. Where there are more, the tasks write deletion vectors, and
the driver sees only descriptors.

In the other direction, `is_in` tells for each row of a scan whether it is among such rows; the
tasks that ask read the vectors. Rows that are in no file of the table, but have numbers of their
own, are treated in the same way: the upper half of a number takes the place of the file.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from struct import Struct
from typing import NamedTuple
from uuid import UUID

from pyspark.sql import Column, DataFrame, SparkSession
from pyspark.sql import functions as F

from truckee.deletion_vectors.bitmap import RowBitmap, encode
from truckee.deletion_vectors.store import PartFiles, StoredRows, VectorOf, disjoint_union
from truckee.protocol.deletion_vector import DeletionVectorDescriptor, on_disk_with_relative_path
from truckee.spark.dml.slot import Slot
from truckee.spark.jvm.bridge import compiled
from truckee.spark.jvm.projection import Given, Named, selected
from truckee.spark.read.relations import FILE, ROW
from truckee.spark.read.scan import vector_text
from truckee.spark.session.job_descriptions import job_description

FileRows = Mapping[int, RowBitmap | StoredRows]
"""Rows by the id of their file."""

MOST_SENT = 1024 * 1024
"""How many bytes of bitmaps the tasks of a job may send to the driver."""

_MARK = "__truckee_mark_"
_RECORD = Struct(">iq")
_SIZE = Struct(">i")
_VECTOR = Struct(">16siiq")
_SAME, _STORED = -1, -2


class MarkedRows(NamedTuple):
    """Which rows were given, which of them had each mark, and whether a row came twice."""

    rows: FileRows
    by_mark: tuple[FileRows, ...]
    has_repeats: bool


def found_rows(rows: DataFrame, parts: PartFiles) -> FileRows:
    """Return which rows of which file are among `rows`, by file id.

    `rows` has the columns `FILE` and `ROW` of a scan. No row is there twice, and most files are
    read by one task each.
    """
    [found], _ = _collected(rows, (), parts, is_spread=False)
    return found


def marked_rows(rows: DataFrame, marks: Sequence[Column], parts: PartFiles) -> MarkedRows:
    """Return the same, and for each condition in `marks` the rows for which it is true.

    Rows may come from a join: in any order, and more than once.
    """
    found, repeated = _collected(rows, marks, parts, is_spread=True)
    return MarkedRows(found[0], tuple(found[1:]), bool(repeated))


def rows_of_pairs(
    pairs: DataFrame, marks: Sequence[Column], number: str, parts: PartFiles
) -> tuple[MarkedRows, MarkedRows]:
    """Return the same for both sides of pairs: rows of files, and rows with a number.

    `pairs` has `FILE`, `ROW` and the column `number`, of integers that are not negative. Numbers
    are returned by their upper 32 bits in place of a file.
    """
    names = [f"{_MARK}{index}" for index in range(len(marks))]
    marked = [Given(mark, name) for mark, name in zip(marks, names, strict=True)]
    both = selected(pairs, [*marked, Named(FILE), Named(ROW), Named(number)])
    upper, lower = f"cast(-1 - shiftright({number}, 32) AS int)", f"{number} & {0xFFFFFFFF}L"
    places = f"struct({FILE}, {ROW}), struct({upper} AS {FILE}, {lower} AS {ROW})"
    rows = both.selectExpr(*names, f"inline(array({places}))")
    found, repeated = _collected(rows, [F.col(name) for name in names], parts, is_spread=True)
    in_files = [{file: rows for file, rows in each.items() if file >= 0} for each in found]
    numbers = [{-1 - file: rows for file, rows in each.items() if file < 0} for each in found]
    return (
        MarkedRows(in_files[0], tuple(in_files[1:]), any(file >= 0 for file in repeated)),
        MarkedRows(numbers[0], tuple(numbers[1:]), any(file < 0 for file in repeated)),
    )


def united_vectors(
    spark: SparkSession, root: str, sets: Sequence[tuple[Sequence[VectorOf], RowBitmap]]
) -> list[DeletionVectorDescriptor]:
    """Write a vector for each set, in tasks, with the rows of some vectors and of a bitmap."""
    if not sets:
        return []
    texts = _texts(enumerate(sets), root)
    session = spark._jsparkSession
    with job_description(spark, "writing deletion vectors"):
        records = bytes(compiled(spark, "TruckeeStored").united(session, root, texts))
    written = {number: vector for number, _, [vector] in _records(records, 1)}
    found = [written[number] for number in range(len(sets))]
    return [vector for vector in found if isinstance(vector, DeletionVectorDescriptor)]


def _texts(sets: Iterable[tuple[int, tuple[Sequence[VectorOf], RowBitmap]]], root: str) -> str:
    """Return the text that tells tasks where the rows of each set are."""
    texts = []
    for number, (vectors, rows) in sets:
        lines = [vector_text(vector, root) for vector in vectors]
        if rows:
            data = encode(rows)
            lines.append(f"={data.hex()}\t0\t{len(data)}\t{len(rows)}")
        texts.append("\n".join([str(number), *lines]))
    return "\n\n".join(texts)


def _collected(
    rows: DataFrame, marks: Sequence[Column], parts: PartFiles, *, is_spread: bool
) -> tuple[list[FileRows], set[int]]:
    """Return the rows, then those with each mark; and the files of which a row came twice."""
    marked = [Given(mark, f"{_MARK}{index}") for index, mark in enumerate(marks)]
    places = selected(rows, [Named(FILE), Named(ROW), *marked])
    spark, root = rows.sparkSession, parts.storage.root
    with job_description(spark, "finding rows"):
        finder = compiled(spark, "TruckeeRows")
        records = bytes(finder.found(places._jdf, len(marks), is_spread, root, MOST_SENT))
    pieces: list[dict[int, list[RowBitmap | StoredRows]]]
    pieces = [defaultdict(list) for _ in range(len(marks) + 1)]
    num_seen: dict[int, int] = defaultdict(int)
    for file, count, bitmaps in _records(records, len(marks) + 1):
        num_seen[file] += count
        for piece, bitmap in zip(pieces, bitmaps, strict=True):
            if isinstance(bitmap, DeletionVectorDescriptor):
                parts.paths.add(bitmap.file_path)
                piece[file].append(StoredRows((bitmap,)))
            elif bitmap:
                piece[file].append(bitmap)
    found: list[FileRows] = [
        {file: disjoint_union(of) for file, of in sorted(piece.items())} for piece in pieces
    ]
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


def is_of_files(ids: Iterable[int]) -> Column:
    """Return whether a row of a scan with `FILE` is in one of these files."""
    return F.expr(f"{FILE} IN ({', '.join(map(str, ids))})")


def is_in(spark: SparkSession, rows: FileRows, name: str, root: str) -> Column:
    """Return whether a row of a scan with `FILE` and `ROW` is among these.

    `name` is for plans, and `root` is that of the table in which rows are stored.
    """
    return _is_among(
        spark, rows, name, root, F.expr(f"shiftleft(cast({FILE} AS BIGINT), 32) | {ROW}")
    )


def is_number_in(
    spark: SparkSession, numbers: FileRows, name: str, root: str, *, number: str
) -> Column:
    """Return whether the column `number` of a row is among these, as `rows_of_pairs` has them."""
    return _is_among(spark, numbers, name, root, F.col(number))


def _is_among(spark: SparkSession, rows: FileRows, name: str, root: str, key: Column) -> Column:
    texts = _texts(((file, _vectors_and_rest(rows[file])) for file in rows), root)
    slot = Slot(spark, name, "java.util.function.LongPredicate")
    slot.fill(compiled(spark, "TruckeeStored").among(spark._jsparkSession, root, texts))
    return slot.call("test", "boolean", key)


def _vectors_and_rest(rows: RowBitmap | StoredRows) -> tuple[list[VectorOf], RowBitmap]:
    if isinstance(rows, RowBitmap):
        return [], rows
    return [VectorOf(descriptor=vector) for vector in rows.vectors], rows.others


def union_of_rows(parts: Sequence[FileRows]) -> FileRows:
    """Return the rows that are in one of the parts; none is in two of them."""
    files: dict[int, list[RowBitmap | StoredRows]] = defaultdict(list)
    for part in parts:
        for file, rows in part.items():
            files[file].append(rows)
    return {file: disjoint_union(members) for file, members in files.items()}
