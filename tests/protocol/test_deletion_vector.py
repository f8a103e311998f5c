from __future__ import annotations

import pickle
from uuid import UUID

import msgspec
import pytest

from truckee.errors.deletion_vectors import (
    InvalidDescriptorError,
    InvalidZ85Error,
    UnknownStorageTypeError,
)
from truckee.protocol.deletion_vector import (
    EMPTY,
    DeletionVectorDescriptor,
    on_disk_with_relative_path,
)
from values import inline_in_log

UUID_1 = UUID("61d16c75-6994-46b7-a15b-8b538852e50e")
UUID_2 = UUID("d2c639aa-8816-431a-aaf6-d3fe2512ff61")


def descriptor(
    storage_type: str, text: str, *, offset: int | None = 1, size: int = 36
) -> DeletionVectorDescriptor:
    return DeletionVectorDescriptor(
        storage_type=storage_type,
        path_or_inline_dv=text,
        offset=offset,
        size_in_bytes=size,
        cardinality=2,
    )


@pytest.mark.parametrize(
    ("text", "file"),
    [
        ("vBn[lx{q8@P<9BNH/isA", "deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin"),
        ("ab^-aqEH.-t@S}K{vb[*k^", "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin"),
        ("F0u+Uo^@EuVa@tFk))2D", "deletion_vector_7f94a4d4-4d29-440e-b1c0-387e410aeded.bin"),
    ],
)
def test_a_uuid_names_a_file_below_the_table(text: str, file: str) -> None:
    vector = descriptor("u", text)

    assert vector.file_path == file
    assert vector.absolute_path("s3://bucket/table") == f"s3://bucket/table/{file}"
    assert vector.absolute_path("/data/table/") == f"/data/table/{file}"


def test_a_prefix_that_looks_like_base85_is_told_from_the_end() -> None:
    prefix = "vBn[lx{q8@P<9BNH/isA"

    vector = on_disk_with_relative_path(
        UUID_2, prefix=prefix, size_in_bytes=36, cardinality=2, offset=1
    )

    assert vector.path_or_inline_dv == prefix + "^-aqEH.-t@S}K{vb[*k^"
    assert vector.file_path == f"{prefix}/deletion_vector_{UUID_2}.bin"


def test_an_absolute_path_is_decoded_once() -> None:
    vector = descriptor("p", "file:/a%20b/test%2525dv.bin")

    assert vector.file_path == "/a b/test%25dv.bin"
    assert vector.absolute_path("/elsewhere") == "/a b/test%25dv.bin"


def test_an_absolute_path_of_an_object_store_stays_a_url() -> None:
    vector = descriptor("p", "s3://bucket/a%20b/x%25.bin")

    assert vector.file_path == "s3://bucket/a b/x%.bin"


def test_a_plain_relative_path_lies_below_the_table() -> None:
    vector = descriptor("r", "vectors/a%20b.bin")

    assert vector.file_path == "vectors/a b.bin"
    assert vector.absolute_path("/t") == "/t/vectors/a b.bin"
    assert vector.is_on_disk


@pytest.mark.parametrize(
    ("vector", "text"),
    [
        (descriptor("u", "vBn[lx{q8@P<9BNH/isA"), "uvBn[lx{q8@P<9BNH/isA@1"),
        (descriptor("u", "vBn[lx{q8@P<9BNH/isA", offset=0), "uvBn[lx{q8@P<9BNH/isA@0"),
        (descriptor("i", "Hello", offset=None), "iHello"),
        (descriptor("p", "file:/t/x.bin", offset=43), "pfile:/t/x.bin@43"),
    ],
)
def test_the_unique_id_is_type_text_and_offset(vector: DeletionVectorDescriptor, text: str) -> None:
    assert vector.unique_id == text


def test_inline_data_is_cut_to_its_size() -> None:
    vector = inline_in_log(b"abcdef", cardinality=1)

    assert vector.size_in_bytes == 6
    assert vector.offset is None
    assert vector.is_inline
    assert not vector.is_on_disk
    assert vector.inline_data() == b"abcdef"


def test_the_empty_descriptor_marks_no_row() -> None:
    assert EMPTY.is_empty
    assert EMPTY.is_inline
    assert EMPTY.unique_id == "i"
    assert EMPTY.inline_data() == b""


def test_a_clone_points_at_the_same_bytes_by_absolute_path() -> None:
    vector = descriptor("u", "ab^-aqEH.-t@S}K{vb[*k^", offset=43)

    copy = vector.copy_with_absolute_path("/my tables/t")

    file = f"ab/deletion_vector_{UUID_2}.bin"
    assert copy.path_or_inline_dv == f"file:/my%20tables/t/{file}"
    assert copy.file_path == f"/my tables/t/{file}"
    assert (copy.storage_type, copy.offset, copy.size_in_bytes, copy.cardinality) == (
        "p",
        43,
        36,
        2,
    )


def test_absolute_and_inline_descriptors_are_their_own_copies() -> None:
    absolute, inline = descriptor("p", "file:/x.bin"), inline_in_log(b"abcd", cardinality=1)

    assert absolute.copy_with_absolute_path("/t") == absolute
    assert inline.copy_with_absolute_path("/t") == inline
    assert inline.copy_with_new_relative_path(UUID_1) == inline


def test_a_vector_moved_into_another_table_keeps_all_but_its_file() -> None:
    vector = descriptor("p", "file:/x.bin", offset=43)

    moved = vector.copy_with_new_relative_path(UUID_1, "ab")

    assert moved == descriptor("u", "abvBn[lx{q8@P<9BNH/isA", offset=43)


def test_the_wire_form_leaves_an_absent_offset_out_and_reads_a_null_one() -> None:
    inline = inline_in_log(bytes.fromhex("864fd26f"), cardinality=1)
    text = b'{"storageType":"i","pathOrInlineDv":"Hello","sizeInBytes":4,"cardinality":1}'
    with_null = text[:-1] + b',"offset":null}'

    assert msgspec.json.encode(inline) == text
    assert msgspec.json.decode(with_null, type=DeletionVectorDescriptor) == inline


@pytest.mark.parametrize(
    ("vector", "reason"),
    [
        (descriptor("u", "tooshort"), "a UUID in base85 has 20 digits"),
        (descriptor("p", "x/y.bin"), "storage type 'p' needs an absolute URI"),
        (descriptor("r", "s3://b/y.bin"), "storage type 'r' needs a path relative to the table"),
        (descriptor("r", "/y.bin"), "storage type 'r' needs a path relative to the table"),
        (descriptor("i", "Hello", offset=None), "an inline vector has no file"),
    ],
)
def test_text_that_is_no_path_is_refused(vector: DeletionVectorDescriptor, reason: str) -> None:
    with pytest.raises(InvalidDescriptorError) as raised:
        vector.absolute_path("/t")

    expected = f"the deletion vector has an invalid descriptor {vector.unique_id!r}: {reason}"
    assert raised.value.sentence() == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (",^-aqEH.-t@S}K{vb[*k", "',' is not one of its digits"),
        ("^-aqEH.-t@S}K{v##093", "a UUID has 16 bytes"),
    ],
)
def test_a_uuid_that_is_no_base85_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidZ85Error) as raised:
        _ = descriptor("u", f"ab{text}").file_path

    expected = f"the deletion vector has text that is not valid Z85: {text!r}: {reason}"
    assert raised.value.sentence() == expected


def test_inline_bytes_must_be_as_many_as_the_size_says() -> None:
    with pytest.raises(InvalidDescriptorError) as raised:
        descriptor("i", "HelloWorld", offset=None, size=9).inline_data()

    assert raised.value.sentence() == (
        "the deletion vector has an invalid descriptor 'iHelloWorld': "
        "it holds 8 bytes, but its size is 9"
    )


def test_an_unknown_storage_type_is_refused_rather_than_guessed() -> None:
    with pytest.raises(UnknownStorageTypeError) as raised:
        descriptor("x", "whatever").absolute_path("/t")

    assert raised.value.sentence() == (
        "the deletion vector has the unknown storage type 'x'; expected 'u', 'i', 'p' or 'r'\n"
        "hint: the table was written by a newer engine; upgrade truckee"
    )


def test_errors_can_be_told_where_they_happened_and_pickle() -> None:
    error = UnknownStorageTypeError(storage_type="x").at("a.parquet", 3)

    copy = pickle.loads(pickle.dumps(error))

    assert str(copy).startswith(
        "[DELTA_CANNOT_READ_DELETION_VECTOR] "
        "the deletion vector of data file 'a.parquet' at version 3 has"
    )
