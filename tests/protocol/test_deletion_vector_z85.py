from __future__ import annotations

from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.errors.deletion_vectors import InvalidZ85Error
from truckee.protocol.deletion_vector import z85_decode, z85_encode


def test_the_published_vector_goes_both_ways() -> None:
    data = bytes.fromhex("864FD26FB559F75B")

    assert z85_encode(data) == "HelloWorld"
    assert z85_decode("HelloWorld") == data


def test_no_bytes_are_no_text() -> None:
    assert z85_encode(b"") == ""
    assert z85_decode("") == b""


def test_a_uuid_has_twenty_digits() -> None:
    uuid = UUID("61d16c75-6994-46b7-a15b-8b538852e50e")

    assert z85_encode(uuid.bytes) == "vBn[lx{q8@P<9BNH/isA"
    assert z85_decode("vBn[lx{q8@P<9BNH/isA") == uuid.bytes


@pytest.mark.property
@given(st.binary(max_size=64))
def test_decoding_gives_back_what_was_encoded_with_zeros_behind_it(data: bytes) -> None:
    padding = bytes(-len(data) % 4)

    assert z85_decode(z85_encode(data)) == data + padding


@pytest.mark.parametrize(
    ("text", "data"),
    [
        ("###30", "ff"),
        ("###00", "00"),
        ("##093", "0300"),
        ("##960", "ffff"),
        ("#rg28", "fec741"),
        ("#rr90", "ffffff"),
        ("HelloWorld##093", "864fd26fb559f75b0300"),
    ],
)
def test_the_tail_that_rust_writes_is_read(text: str, data: str) -> None:
    assert z85_decode(text).hex() == data


def test_the_tail_that_rust_writes_is_never_written() -> None:
    assert z85_encode(b"\x03\x00") == "0@@r3"
    assert z85_decode("0@@r3") == b"\x03\x00\x00\x00"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("Hell", "its length 4 is not a multiple of 5"),
        ("Hello Worl", "' ' is not one of its digits"),
        ("He;lo", "';' is not one of its digits"),
        ("Hell\u00f6", "'\u00f6' is not one of its digits"),
        ("%nSc1", "a group of five digits exceeds four bytes"),
        ("#W000", "a group of five digits exceeds four bytes"),
        ("####1", "a group of five digits exceeds four bytes"),
        ("##093Hello", "a group of five digits exceeds four bytes"),
    ],
)
def test_other_text_is_refused(text: str, reason: str) -> None:
    with pytest.raises(InvalidZ85Error) as raised:
        z85_decode(text)

    expected = f"the deletion vector has text that is not valid Z85: {text!r}: {reason}"
    assert raised.value.sentence() == expected
