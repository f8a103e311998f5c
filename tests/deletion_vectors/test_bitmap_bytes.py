from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.deletion_vectors.bitmap import RowBitmap, decode, encode, frame_data, vector_frame
from truckee.errors.deletion_vectors import (
    RESTORE_HINT,
    CorruptDeletionVectorError,
    DeletionVectorSizeMismatchError,
)

SYNTHETIC = {
    "portable, two buckets": (
        (
            "d1d339640200000000000000000000003a3000000100000000000000100000000500010000003a30000001000000"
            "00000000100000000700"
        ),
        [5, 2**32 + 7],
    ),
    "portable, dense": (
        (
            "d1d339640300000000000000000000003a30000000000000010000003a30000000000000020000003a3000000100"
            "000000000000100000000100"
        ),
        [2**33 + 1],
    ),
    "portable, sparse": (
        "d1d339640100000000000000020000003a3000000100000000000000100000000100",
        [2**33 + 1],
    ),
    "native": ("d0d3396401000000140000003a30000001000000000001001000000000000900", [0, 9]),
    "native, two bitmaps": (
        (
            "d0d3396402000000120000003a3000000100000000000000100000000500120000003a3000000100000000000000"
            "100000000700"
        ),
        [5, 2**32 + 7],
    ),
    "portable, run": (
        "d1d339640100000000000000000000003b3000000100000300010000000300",
        [0, 1, 2, 3],
    ),
}


@pytest.mark.parametrize("name", SYNTHETIC)
def test_both_formats_are_read(name: str) -> None:
    text, rows = SYNTHETIC[name]

    assert list(decode(bytes.fromhex(text))) == rows


@pytest.mark.parametrize("name", ["portable, two buckets", "portable, sparse", "portable, run"])
def test_portable_is_written_byte_for_byte(name: str) -> None:
    text, rows = SYNTHETIC[name]

    assert encode(RowBitmap(rows)).hex() == text


@pytest.mark.property
@given(
    st.sets(st.integers(0, 200_000), max_size=50)
    | st.builds(
        lambda a, n, step: set(range(a, a + n * step, step)),
        st.integers(0, 70_000),
        st.integers(0, 9_000),
        st.integers(1, 3),
    )
)
def test_decoding_gives_back_what_was_encoded(rows: set[int]) -> None:
    bitmap = RowBitmap(rows)
    data = encode(bitmap)

    assert decode(data) == bitmap
    assert frame_data(vector_frame(data), len(data), path="x") == data


def corrupt(reason: str) -> str:
    return f"the deletion vector in 'x.bin' is corrupt: {reason}\nhint: {RESTORE_HINT}"


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        ("", "it has 0 bytes, which is too short for a magic number"),
        ("d1d339", "it has 3 bytes, which is too short for a magic number"),
        (
            "6439d3d000000001",
            "its magic number is -791463580, expected 1681511377 or 1681511376",
        ),
        ("d1d33964", "its bitmap is broken: there are no bytes"),
        ("d0d33964", "it ends before its number of bitmaps"),
        ("d0d33964ffffffff", "it states -1 bitmaps"),
        ("d0d3396401000000", "it ends before bitmap 0 of 1"),
        ("d0d3396401000000140000003a30", "bitmap 0 of 1 does not have 20 bytes"),
        ("d0d3396401000000ffffffff", "bitmap 0 of 1 does not have -1 bytes"),
    ],
)
def test_data_that_is_no_vector_is_refused(data: str, reason: str) -> None:
    with pytest.raises(CorruptDeletionVectorError) as raised:
        decode(bytes.fromhex(data), path="'x.bin'")

    assert raised.value.sentence() == corrupt(reason)


@pytest.mark.parametrize("name", SYNTHETIC)
def test_data_cut_anywhere_is_refused(name: str) -> None:
    whole = bytes.fromhex(SYNTHETIC[name][0])

    for length in range(len(whole)):
        with pytest.raises(CorruptDeletionVectorError):
            decode(whole[:length])


def test_buckets_out_of_order_are_refused() -> None:
    def bucket(key: str) -> str:
        return f"{key}0000003a3000000100000000000000100000000500"

    with pytest.raises(CorruptDeletionVectorError):
        decode(bytes.fromhex(f"d1d339640200000000000000{bucket('01')}{bucket('00')}"))


def test_a_bucket_whose_key_has_its_top_bit_set_is_refused() -> None:
    data = "d1d339640100000000000000000000803a3000000100000000000000100000000500"

    with pytest.raises(CorruptDeletionVectorError) as raised:
        decode(bytes.fromhex(data), path="'x.bin'")

    assert raised.value.sentence() == corrupt(
        "its bitmap is broken: row index 9223372036854775813 is larger than 9223372030412324864"
    )


def test_a_frame_cut_short_is_refused() -> None:
    block = vector_frame(b"abcdef")

    with pytest.raises(CorruptDeletionVectorError) as raised:
        frame_data(block[:-1], 6, path="'x.bin'")
    assert raised.value.sentence() == corrupt("the file ends after 13 of its 14 bytes")

    with pytest.raises(CorruptDeletionVectorError) as raised:
        frame_data(b"", 6, path="'x.bin'")
    assert raised.value.sentence() == corrupt("the file ends before it")


def test_a_wrong_size_wins_over_a_short_file() -> None:
    with pytest.raises(DeletionVectorSizeMismatchError) as raised:
        frame_data(vector_frame(b"abcdef"), 7, path="'x.bin'")

    assert raised.value.sentence() == (
        f"the deletion vector in 'x.bin' is 6 bytes long, but its descriptor says 7"
        f"\nhint: {RESTORE_HINT}"
    )
