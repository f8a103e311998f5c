"""Reads vectors by their descriptors, and writes vectors to durable files.

Everything is checked: the file's version, the size, the checksum, the bitmap and the number of
rows. Errors name the data file and the version. A vector that cannot be read never counts as
empty.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import groupby, islice
from uuid import uuid4

from msgspec import Struct

from truckee.deletion_vectors.bitmap import (
    FILE_VERSION,
    FRAME_SIZE,
    NO_ROWS,
    RowBitmap,
    check_file_version,
    decode,
    encode,
    frame_data,
    vector_frame,
)
from truckee.errors.deletion_vectors import (
    DeletionVectorCardinalityMismatchError,
    DeletionVectorError,
    InvalidDescriptorError,
    InvalidRowIndexError,
    MissingDeletionVectorError,
)
from truckee.errors.storage import StorageError
from truckee.protocol.deletion_vector import (
    EMPTY,
    DeletionVectorDescriptor,
    on_disk_with_relative_path,
    relative_path,
)
from truckee.storage.base import Storage

_log = logging.getLogger(__name__)

TARGET_FILE_SIZE = 2 * 1024 * 1024
"""The limit for the size of a file with several vectors."""

# Reading this many unneeded bytes is cheaper than another request to a remote store.
_LARGEST_GAP = 256 * 1024
_THREADS = 16


class VectorOf(Struct, frozen=True, kw_only=True):
    """A vector to read, with its data file and version for errors."""

    descriptor: DeletionVectorDescriptor
    data_file: str = ""
    version: int | None = None


class StoredRows(Struct, frozen=True):
    """Rows of one data file, most of them in vectors that are already written.

    No row is in two of the vectors, or in a vector and in `others`.
    """

    vectors: tuple[DeletionVectorDescriptor, ...]
    others: RowBitmap = NO_ROWS

    def __len__(self) -> int:
        return sum(vector.cardinality for vector in self.vectors) + len(self.others)


@dataclass(frozen=True)
class PartFiles:
    """The files in which the tasks of one command have stored rows, by their paths."""

    storage: Storage
    paths: set[str] = field(default_factory=set)


@contextmanager
def part_files(storage: Storage) -> Iterator[PartFiles]:
    """Yield a place for rows that tasks find; the files are deleted if the block raises."""
    parts = PartFiles(storage)
    try:
        yield parts
    except BaseException:
        delete_vector_files(storage, parts.paths)
        raise


def delete_vector_files(storage: Storage, paths: Iterable[str]) -> None:
    """Delete files of vectors that no commit names; if that fails, VACUUM deletes them later."""
    paths = sorted(paths)
    try:
        for path in paths:
            storage.delete(path)
    except StorageError:
        _log.warning("up to %d files of deletion vectors are left for VACUUM", len(paths))


def disjoint_union(parts: Iterable[RowBitmap | StoredRows]) -> RowBitmap | StoredRows:
    """Return the rows of all parts, of which no two have a row in common."""
    found = list(parts)
    if len(found) == 1:
        return found[0]
    vectors = [each for part in found if isinstance(part, StoredRows) for each in part.vectors]
    sent = [part.others if isinstance(part, StoredRows) else part for part in found]
    others = RowBitmap.union(sent)
    return StoredRows(tuple(vectors), others) if vectors else others


def loaded_rows(storage: Storage, rows: RowBitmap | StoredRows) -> RowBitmap:
    """Return rows as a bitmap, which is read if they are stored."""
    if isinstance(rows, RowBitmap):
        return rows
    read = read_deletion_vectors(storage, [VectorOf(descriptor=each) for each in rows.vectors])
    return RowBitmap.union([*read, rows.others])


def read_deletion_vectors(
    storage: Storage, wanted: Sequence[VectorOf], *, threads: int = _THREADS
) -> list[RowBitmap]:
    """Return the rows of many vectors, in the same order.

    Vectors that are close together in one file are read in one request, a vector that occurs twice
    is read once, and files are read in parallel. If there are several errors, that of the first
    piece is raised.
    """
    distinct: dict[DeletionVectorDescriptor, VectorOf] = {}
    for want in wanted:
        distinct.setdefault(want.descriptor, want)
    pieces = list(_pieces(distinct.values()))
    _log.debug("%d deletion vectors are loaded, in %d requests", len(distinct), len(pieces))
    found: dict[DeletionVectorDescriptor, RowBitmap] = {}
    if len(pieces) > 1 and threads > 1:
        with ThreadPoolExecutor(min(threads, len(pieces))) as pool:
            results = list(pool.map(lambda piece: _read_piece(storage, piece), pieces))
    else:
        results = [_read_piece(storage, piece) for piece in pieces]
    for result in results:
        found.update(result)
    return [found[want.descriptor] for want in wanted]


def vector_source(of: VectorOf) -> bytes | str:
    """Return the data of an inline vector, else the path of the vector's file.

    Raises if the descriptor is invalid; no file is opened.
    """
    path = _checked_path(of)
    if path is not None:
        return path
    try:
        return b"" if of.descriptor.is_empty else of.descriptor.inline_data()
    except DeletionVectorError as error:
        raise error.at(of.data_file, of.version) from error.__cause__


def check_row_indexes(bitmap: RowBitmap, num_records: int, *, of: VectorOf) -> None:
    """Raise `InvalidRowIndexError` if a vector marks rows that its data file does not have."""
    largest = bitmap.max
    if largest is not None and largest >= num_records:
        raise InvalidRowIndexError(
            row_index=largest,
            num_records=num_records,
            data_file=of.data_file,
            version=of.version,
        )


def write_deletion_vectors(
    storage: Storage,
    bitmaps: Sequence[RowBitmap],
    *,
    prefix: str = "",
    target_file_size: int = TARGET_FILE_SIZE,
) -> list[DeletionVectorDescriptor]:
    """Write vectors into as few files as possible, and return their descriptors in order.

    Every file is complete and durable when this returns, so that a commit may name it. An empty set
    is not written: its descriptor is `EMPTY`, which no commit should contain.
    """
    descriptors = [EMPTY] * len(bitmaps)
    bins = _bins(bitmaps, target_file_size)
    # Only some files are encoded at a time, since all of them may take a lot of memory.
    while some := list(islice(bins, _THREADS)):
        contents = []
        for members in some:
            uuid, parts, offset = uuid4(), [FILE_VERSION], len(FILE_VERSION)
            for index, data in members:
                descriptors[index] = on_disk_with_relative_path(
                    uuid,
                    prefix=prefix,
                    size_in_bytes=len(data),
                    cardinality=len(bitmaps[index]),
                    offset=offset,
                )
                parts.append(vector_frame(data))
                offset += len(data) + FRAME_SIZE
            contents.append((relative_path(uuid, prefix), b"".join(parts)))
        _put_all(storage, contents)
    return descriptors


def _put_all(storage: Storage, contents: Sequence[tuple[str, bytes]]) -> None:
    if len(contents) < 2:
        for path, data in contents:
            storage.put_if_absent(path, data)
        return
    with ThreadPoolExecutor(min(_THREADS, len(contents))) as pool:
        for done in [pool.submit(storage.put_if_absent, *content) for content in contents]:
            done.result()


def _bins(bitmaps: Sequence[RowBitmap], target: int) -> Iterator[list[tuple[int, bytes]]]:
    """Yield (index, data) of the vectors that share a file."""
    members: list[tuple[int, bytes]] = []
    size = len(FILE_VERSION)
    for index, bitmap in enumerate(bitmaps):
        if not bitmap:
            continue
        data = encode(bitmap)
        if members and size + len(data) + FRAME_SIZE > target:
            yield members
            members, size = [], len(FILE_VERSION)
        members.append((index, data))
        size += len(data) + FRAME_SIZE
    if members:
        yield members


class _Piece(Struct, frozen=True):
    """Vectors that are read together: one inline vector, or those in one range of a file.

    `first` is the first vector of the file; errors about the whole file name it.
    """

    path: str
    start: int
    end: int
    first: VectorOf
    wanted: list[VectorOf]


def _pieces(wanted: Iterable[VectorOf]) -> Iterator[_Piece]:
    """Yield the pieces to read: ranges of files, merged if the gap between them is small.

    The first byte of a file, its version, is a range like any other.
    """
    on_disk = []
    for want in wanted:
        path = _checked_path(want)
        if path is None:
            yield _Piece("", 0, 0, want, [want])
        else:
            on_disk.append((path, want.descriptor.offset or 0, want))
    on_disk.sort(key=lambda item: item[:2])
    for path, group in groupby(on_disk, key=lambda item: item[0]):
        of_file = list(group)
        first = of_file[0][2]
        start, end, members = 0, len(FILE_VERSION), list[VectorOf]()
        for _, offset, want in of_file:
            if offset - end > _LARGEST_GAP:
                yield _Piece(path, start, end, first, members)
                start, end, members = offset, offset, []
            members.append(want)
            end = max(end, offset + want.descriptor.size_in_bytes + FRAME_SIZE)
        yield _Piece(path, start, end, first, members)


def _checked_path(want: VectorOf) -> str | None:
    """Return the file of a vector, None if it is inline; raise for an invalid descriptor."""
    descriptor = want.descriptor
    try:
        if descriptor.size_in_bytes < 0 or descriptor.cardinality < 0:
            raise _invalid(descriptor, "its size or cardinality is negative")
        if descriptor.is_empty:
            return None
        if descriptor.is_inline:
            if descriptor.offset is not None:
                raise _invalid(descriptor, "an inline vector has no offset")
            return None
        path = descriptor.file_path
        if descriptor.offset is None or descriptor.offset < 1:
            raise _invalid(descriptor, "a vector in a file needs an offset of at least 1")
        return path
    except DeletionVectorError as error:
        raise error.at(want.data_file, want.version) from error.__cause__


def _read_piece(storage: Storage, piece: _Piece) -> dict[DeletionVectorDescriptor, RowBitmap]:
    if not piece.path:
        return {want.descriptor: _inline_rows(want) for want in piece.wanted}
    first = piece.first
    try:
        block = storage.read_range(piece.path, piece.start, piece.end - piece.start)
        if piece.start == 0:
            check_file_version(block, path=f"'{piece.path}'")
    except FileNotFoundError as cause:
        raise MissingDeletionVectorError(
            path=piece.path, data_file=first.data_file, version=first.version
        ) from cause
    except DeletionVectorError as error:
        raise error.at(first.data_file, first.version) from None
    return {want.descriptor: _rows_in(block, piece, want) for want in piece.wanted}


def _rows_in(block: bytes, piece: _Piece, want: VectorOf) -> RowBitmap:
    descriptor = want.descriptor
    assert descriptor.offset is not None
    start = descriptor.offset - piece.start
    frame = block[start : start + descriptor.size_in_bytes + FRAME_SIZE]
    path = f"'{piece.path}'"
    try:
        data = frame_data(frame, descriptor.size_in_bytes, path=path)
        return _counted(decode(data, path=path), descriptor, path)
    except DeletionVectorError as error:
        raise error.at(want.data_file, want.version) from error.__cause__


def _inline_rows(want: VectorOf) -> RowBitmap:
    descriptor = want.descriptor
    if descriptor.is_empty:
        return NO_ROWS
    try:
        return _counted(decode(descriptor.inline_data()), descriptor, "the log")
    except DeletionVectorError as error:
        raise error.at(want.data_file, want.version) from error.__cause__


def _counted(bitmap: RowBitmap, descriptor: DeletionVectorDescriptor, path: str) -> RowBitmap:
    if len(bitmap) != descriptor.cardinality:
        raise DeletionVectorCardinalityMismatchError(
            path=path, expected=descriptor.cardinality, found=len(bitmap)
        )
    return bitmap


def _invalid(descriptor: DeletionVectorDescriptor, reason: str) -> InvalidDescriptorError:
    return InvalidDescriptorError(unique_id=descriptor.unique_id, reason=reason)
