from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from uuid import UUID

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.deletion_vectors.bitmap import NO_ROWS, RowBitmap, decode, vector_frame
from truckee.deletion_vectors.store import (
    VectorOf,
    check_row_indexes,
    read_deletion_vectors,
    write_deletion_vectors,
)
from truckee.errors.deletion_vectors import (
    RESTORE_HINT,
    CorruptDeletionVectorError,
    DeletionVectorCardinalityMismatchError,
    DeletionVectorChecksumMismatchError,
    DeletionVectorSizeMismatchError,
    InvalidDescriptorError,
    InvalidRowIndexError,
    MissingDeletionVectorError,
    UnknownStorageTypeError,
)
from truckee.protocol.deletion_vector import (
    EMPTY,
    DeletionVectorDescriptor,
    on_disk_with_relative_path,
)
from truckee.storage.memory import MemoryStorage
from values import read_deletion_vector

V2_FILE = (
    "0100000022d1d339640100000000000000000000003a3000000100000000000000100000000000f7a6b4b5"
    "00000022d1d339640100000000000000000000003a3000000100000000000000100000000100eebd85f4"
)
# Whole files of real writers: bytes, text and offset of the descriptor, size, rows.
ON_DISK = {
    "V1": (
        "0100000024d1d339640100000000000000000000003a300000010000000000010010000000000009002a671846",
        ("vBn[lx{q8@P<9BNH/isA", 1, 36),
        [0, 9],
    ),
    "V2a": (V2_FILE, ("F0u+Uo^@EuVa@tFk))2D", 1, 34), [0]),
    "V2b": (V2_FILE, ("F0u+Uo^@EuVa@tFk))2D", 43, 34), [1]),
    "V3": (
        "0100000023d1d339640100000000000000000000003b300000010000050002000000040006000000fb6ea84b",
        ("Xq<G^UbT+TGkmx<+7Y=5", 1, 35),
        [0, 1, 2, 3, 4, 6],
    ),
    "V4": (
        "0100000024d1d339640100000000000000000000003a30000001000000000001001000000002004f00264d384e",
        ("Q6Kt3y1b)0MgZSWwPunr", 1, 36),
        [2, 79],
    ),
    "V5": (
        (
            "0100000026d1d339640100000000000000000000003a300000010000000000020010000000000007000e00"
            "fd54c000"
        ),
        ("^jP?.<zvDfIGb{C.FPij", 1, 38),
        [0, 7, 14],
    ),
}
INLINE = {
    "I1": (
        "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L",
        44,
        [3, 4, 7, 11, 18, 29],
    ),
    "I2": ("^Bg9^0rr910000000000iXQKl0rr91000935c8Xg000311onP9", 40, [0, 1, 4, 5]),
    "I3": ("^Bg9^0rr910000000000iXQKl0rr91000315c8Xg000f5", 36, [0, 5]),
    "I4": ("^Bg9^0rr910000000000j1{Tm0rr9600ic200Aoa00000", 35, [0, 1, 2, 3, 4, 6]),
    "I5": ("^Bg9^0rr910000000000iXQKl0rr91000005c8Xg2lj-7", 34, [7]),
    "R1": ("^Bg9^0rr910000000000iXQKl0rr91000005c8Xg##093", 34, [3]),
}


@dataclass
class CountingStorage(MemoryStorage):
    """A store in memory that remembers which ranges were read."""

    ranges: list[tuple[str, int, int]] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def read_range(self, path: str, offset: int, length: int) -> bytes:
        self.ranges.append((path, offset, length))
        return super().read_range(path, offset, length)


def on_disk(text: str, offset: int | None, size: int, cardinality: int) -> DeletionVectorDescriptor:
    return DeletionVectorDescriptor(
        storage_type="u",
        path_or_inline_dv=text,
        offset=offset,
        size_in_bytes=size,
        cardinality=cardinality,
    )


def inline(text: str, size: int, cardinality: int) -> DeletionVectorDescriptor:
    return DeletionVectorDescriptor(
        storage_type="i", path_or_inline_dv=text, size_in_bytes=size, cardinality=cardinality
    )


V1_TEXT = "vBn[lx{q8@P<9BNH/isA"
V1_FILE = "deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin"
V1 = on_disk(V1_TEXT, 1, 36, 2)
V1_BYTES = bytes.fromhex(ON_DISK["V1"][0])


def storage_with_v1(data: bytes = V1_BYTES) -> MemoryStorage:
    storage = MemoryStorage()
    storage.write(V1_FILE, data)
    return storage


@pytest.mark.parametrize("name", ON_DISK)
def test_files_of_real_writers_are_read(name: str) -> None:
    data, (text, offset, size), rows = ON_DISK[name]
    descriptor = on_disk(text, offset, size, len(rows))
    storage = MemoryStorage()
    storage.write(descriptor.file_path, bytes.fromhex(data))

    assert list(read_deletion_vector(storage, descriptor)) == rows


@pytest.mark.parametrize("name", ["V1", "V3", "V4", "V5"])
def test_files_are_written_as_real_writers_do(name: str) -> None:
    data, _, rows = ON_DISK[name]
    storage = MemoryStorage()

    (descriptor,) = write_deletion_vectors(storage, [RowBitmap(rows)])

    assert storage.read(descriptor.file_path).hex() == data


@pytest.mark.parametrize("name", INLINE)
def test_inline_vectors_of_real_writers_are_read(name: str) -> None:
    text, size, rows = INLINE[name]

    assert list(read_deletion_vector(MemoryStorage(), inline(text, size, len(rows)))) == rows


def test_the_inline_vector_printed_in_the_protocol_is_refused() -> None:
    text = "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L"

    with pytest.raises(CorruptDeletionVectorError) as raised:
        read_deletion_vector(MemoryStorage(), inline(text, 40, 6), data_file="a", version=1)

    assert raised.value.sentence() == (
        "the deletion vector of data file 'a' at version 1 in the log is corrupt: its magic number "
        f"is -791463580, expected 1681511377 or 1681511376\nhint: {RESTORE_HINT}"
    )


def test_an_empty_vector_is_never_looked_for() -> None:
    missing = on_disk(V1_TEXT, 1, 36, 0)

    assert read_deletion_vector(MemoryStorage(), missing) == NO_ROWS
    assert read_deletion_vector(MemoryStorage(), EMPTY) == NO_ROWS


@pytest.mark.property
@given(st.lists(st.sets(st.integers(0, 100_000), max_size=30), max_size=8), st.integers(50, 300))
def test_what_is_written_is_read(sets: list[set[int]], target: int) -> None:
    storage = MemoryStorage()
    bitmaps = [RowBitmap(rows) for rows in sets]

    descriptors = write_deletion_vectors(storage, bitmaps, prefix="ab", target_file_size=target)

    assert read_deletion_vectors(storage, [VectorOf(descriptor=d) for d in descriptors]) == bitmaps
    assert [d.cardinality for d in descriptors] == [len(rows) for rows in sets]
    assert [d == EMPTY for d in descriptors] == [not rows for rows in sets]


def test_vectors_share_a_file_up_to_the_target_size() -> None:
    storage = MemoryStorage()
    bitmaps = [RowBitmap([row]) for row in range(5)]

    descriptors = write_deletion_vectors(storage, bitmaps, target_file_size=1 + 2 * 42)

    assert [d.offset for d in descriptors] == [1, 43, 1, 43, 1]
    assert len({d.file_path for d in descriptors}) == 3
    assert len(list(storage.list_tree(""))) == 3


def test_a_vector_larger_than_the_target_gets_a_file_of_its_own() -> None:
    storage = MemoryStorage()
    large = RowBitmap(range(0, 1000, 2))

    descriptors = write_deletion_vectors(
        storage, [RowBitmap([1]), large, RowBitmap([2])], target_file_size=100
    )

    assert [d.offset for d in descriptors] == [1, 1, 1]
    assert read_deletion_vector(storage, descriptors[1]) == large


def test_nothing_is_written_where_every_set_is_empty() -> None:
    storage = MemoryStorage()

    assert write_deletion_vectors(storage, [NO_ROWS, NO_ROWS]) == [EMPTY, EMPTY]
    assert list(storage.list_tree("")) == []


def test_a_prefix_becomes_a_folder() -> None:
    storage = MemoryStorage()

    (descriptor,) = write_deletion_vectors(storage, [RowBitmap([1])], prefix="ab")

    assert descriptor.file_path.startswith("ab/deletion_vector_")
    assert storage.read(descriptor.file_path)[:1] == b"\x01"


def test_vectors_of_one_file_are_read_in_one_piece_and_once() -> None:
    storage = CountingStorage()
    written = write_deletion_vectors(storage, [RowBitmap([row]) for row in range(4)])
    wanted = [VectorOf(descriptor=written[i]) for i in (3, 1, 3)]

    bitmaps = read_deletion_vectors(storage, wanted)

    assert [list(bitmap) for bitmap in bitmaps] == [[3], [1], [3]]
    assert storage.ranges == [(written[0].file_path, 0, 1 + 4 * 42)]


def test_a_vector_far_into_a_file_is_read_without_what_lies_before_it() -> None:
    storage = CountingStorage()
    far = 3_000_000
    uuid = UUID("61d16c75-6994-46b7-a15b-8b538852e50e")
    frame = vector_frame(
        bytes.fromhex("d1d339640100000000000000000000003b3000000100000300010000000300")
    )
    storage.write(V1_FILE, b"\x01" + bytes(far - 1) + frame)
    descriptor = on_disk_with_relative_path(uuid, size_in_bytes=31, cardinality=4, offset=far)

    assert list(read_deletion_vector(storage, descriptor)) == [0, 1, 2, 3]
    assert sorted(storage.ranges) == [(V1_FILE, 0, 1), (V1_FILE, far, 39)]


def test_many_files_are_read_side_by_side() -> None:
    storage = CountingStorage()
    bitmaps = [RowBitmap([row]) for row in range(60)]
    written = write_deletion_vectors(storage, bitmaps, target_file_size=50)

    found = read_deletion_vectors(storage, [VectorOf(descriptor=d) for d in written])

    assert found == bitmaps
    assert len(storage.ranges) == 60


def test_vectors_that_nobody_refers_to_are_skipped() -> None:
    storage = MemoryStorage()
    first, _, third = write_deletion_vectors(storage, [RowBitmap([n]) for n in range(3)])

    assert list(read_deletion_vector(storage, first)) == [0]
    assert list(read_deletion_vector(storage, third)) == [2]


WHERE = f"the deletion vector of data file 'a.parquet' at version 7 in '{V1_FILE}'"


def flipped(position: int) -> bytes:
    data = bytearray(V1_BYTES)
    data[position] ^= 0x10
    return bytes(data)


def read_v1(storage: MemoryStorage, descriptor: DeletionVectorDescriptor = V1) -> RowBitmap:
    return read_deletion_vector(storage, descriptor, data_file="a.parquet", version=7)


def test_a_flipped_byte_is_found_by_the_checksum() -> None:
    with pytest.raises(DeletionVectorChecksumMismatchError) as raised:
        read_v1(storage_with_v1(flipped(38)))

    assert raised.value.sentence() == (
        f"{WHERE} has the CRC-32 3641bb36, but 2a671846 was written with it\nhint: {RESTORE_HINT}"
    )


# Invariant 9.
@pytest.mark.parametrize("position", range(len(V1_BYTES)))
def test_no_flipped_byte_goes_unnoticed(position: int) -> None:
    errors = (
        CorruptDeletionVectorError,
        DeletionVectorChecksumMismatchError,
        DeletionVectorSizeMismatchError,
    )

    with pytest.raises(errors):
        read_v1(storage_with_v1(flipped(position)))


@pytest.mark.parametrize("length", range(len(V1_BYTES)))
def test_no_missing_byte_goes_unnoticed(length: int) -> None:
    with pytest.raises(CorruptDeletionVectorError):
        read_v1(storage_with_v1(V1_BYTES[:length]))


def test_a_size_that_disagrees_is_refused() -> None:
    with pytest.raises(DeletionVectorSizeMismatchError) as raised:
        read_v1(storage_with_v1(), on_disk(V1_TEXT, 1, 35, 2))

    assert raised.value.sentence() == (
        f"{WHERE} is 36 bytes long, but its descriptor says 35\nhint: {RESTORE_HINT}"
    )


def test_a_cardinality_that_disagrees_is_refused() -> None:
    with pytest.raises(DeletionVectorCardinalityMismatchError) as raised:
        read_v1(storage_with_v1(), on_disk(V1_TEXT, 1, 36, 3))

    assert (
        raised.value.sentence()
        == f"{WHERE} marks 2 rows, but its descriptor says 3\nhint: {RESTORE_HINT}"
    )


def test_a_cardinality_that_disagrees_is_refused_inline_too() -> None:
    text, size, _ = INLINE["I1"]

    with pytest.raises(DeletionVectorCardinalityMismatchError) as raised:
        read_v1(MemoryStorage(), inline(text, size, 5))

    assert raised.value.sentence() == (
        "the deletion vector of data file 'a.parquet' at version 7 in the log marks 6 rows, "
        f"but its descriptor says 5\nhint: {RESTORE_HINT}"
    )


def test_one_vector_wanted_with_two_cardinalities_is_checked_for_both() -> None:
    wanted = [VectorOf(descriptor=V1), VectorOf(descriptor=on_disk(V1_TEXT, 1, 36, 3))]

    with pytest.raises(DeletionVectorCardinalityMismatchError):
        read_deletion_vectors(storage_with_v1(), wanted)


def test_another_file_version_is_refused() -> None:
    with pytest.raises(CorruptDeletionVectorError) as raised:
        read_v1(storage_with_v1(b"\x02" + V1_BYTES[1:]))

    assert raised.value.sentence() == (
        f"{WHERE} is corrupt: the file has format version 2, expected 1\nhint: {RESTORE_HINT}"
    )


def test_a_missing_file_is_no_empty_vector() -> None:
    with pytest.raises(MissingDeletionVectorError) as raised:
        read_v1(MemoryStorage())

    assert raised.value.sentence() == (
        "the deletion vector of data file 'a.parquet' at version 7 is gone: "
        f"there is no file '{V1_FILE}'\nhint: {RESTORE_HINT}"
    )
    assert isinstance(raised.value.__cause__, FileNotFoundError)


def test_an_unknown_storage_type_names_file_and_version() -> None:
    with pytest.raises(UnknownStorageTypeError) as raised:
        read_v1(MemoryStorage(), msgspec.structs.replace(V1, storage_type="z"))

    assert raised.value.sentence() == (
        "the deletion vector of data file 'a.parquet' at version 7 has the unknown storage type "
        "'z'; expected 'u', 'i', 'p' or 'r'\n"
        "hint: the table was written by a newer engine; upgrade truckee"
    )


def invalid_descriptors() -> Iterator[tuple[DeletionVectorDescriptor, str]]:
    yield on_disk(V1_TEXT, 1, -1, 2), "its size or cardinality is negative"
    yield on_disk(V1_TEXT, 1, 36, -2), "its size or cardinality is negative"
    yield on_disk(V1_TEXT, None, 36, 2), "a vector in a file needs an offset of at least 1"
    yield on_disk(V1_TEXT, 0, 36, 2), "a vector in a file needs an offset of at least 1"
    yield on_disk(V1_TEXT, -5, 36, 2), "a vector in a file needs an offset of at least 1"
    text, size, rows = INLINE["I1"]
    with_offset = msgspec.structs.replace(inline(text, size, len(rows)), offset=1)
    yield with_offset, "an inline vector has no offset"


@pytest.mark.parametrize(("descriptor", "reason"), list(invalid_descriptors()))
def test_a_descriptor_that_contradicts_itself_is_refused(
    descriptor: DeletionVectorDescriptor, reason: str
) -> None:
    with pytest.raises(InvalidDescriptorError) as raised:
        read_v1(storage_with_v1(), descriptor)

    assert raised.value.sentence() == (
        "the deletion vector of data file 'a.parquet' at version 7 has an invalid descriptor "
        f"{descriptor.unique_id!r}: {reason}"
    )


def test_a_vector_beyond_the_rows_of_its_file_is_refused() -> None:
    of = VectorOf(descriptor=V1, data_file="a.parquet", version=7)

    check_row_indexes(RowBitmap([0, 9]), 10, of=of)
    check_row_indexes(NO_ROWS, 0, of=of)
    with pytest.raises(InvalidRowIndexError) as raised:
        check_row_indexes(RowBitmap([0, 9]), 9, of=of)

    assert raised.value.sentence() == (
        "the deletion vector of data file 'a.parquet' at version 7 marks row 9, but the file "
        "has 9 rows, counted from 0\n"
        "hint: the vector belongs to another file, or the file was replaced; restore the file "
        "that the vector was written for"
    )
    assert raised.value.code == "DELTA_DELETION_VECTOR_INVALID_ROW_INDEX"


def test_the_bytes_of_an_inline_vector_are_those_of_a_file() -> None:
    raw = bytes.fromhex(V2_FILE)[5:39]

    assert list(decode(raw)) == [0]
