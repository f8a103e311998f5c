"""Variants are decoded as Spark decodes them, and bytes that are no variants are told."""

from __future__ import annotations

import json
from decimal import Decimal
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.sql.variant_utils import VariantUtils

from truckee.arrow.columns import as_type
from truckee.arrow.compare.row_comparison import comparable_array
from truckee.arrow.texts import json_text, json_value
from truckee.arrow.variants import VARIANT, Simple, variant_value
from truckee.protocol.schema import PrimitiveType

NO_NAMES = b"\x01\x00\x00"

# 255 times the same element, which is an array of 255 times the same null.
MANY = (b"\x03\xff" + bytes(256)) * 2 + b"\x00"

JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**30), 10**30)
    | st.text(max_size=70)
    | st.decimals(-(10**20), 10**20, places=3).map(float),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.text("abü☃", max_size=3), inner, max_size=4)
    ),
    max_leaves=12,
)


def encoded(text: str) -> dict[str, bytes]:
    """Return a JSON text as PySpark encodes it."""
    value, metadata = VariantUtils.parse_json(text)
    return {"value": value, "metadata": metadata}


def shown(value: bytes, metadata: bytes = NO_NAMES) -> str:
    return json_text(json_value({"value": value, "metadata": metadata}, VARIANT))


@given(JSON_VALUES)
def test_json_comes_back_from_what_pyspark_encodes(value: Any) -> None:
    found = json_value(encoded(json.dumps(value)), VARIANT)

    again = json.loads(json_text(found), parse_float=Decimal)
    assert again == json.loads(json.dumps(value), parse_float=Decimal)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (b"\x00", "null"),
        (b"\x04", "true"),
        (b"\x0c\xff", "-1"),
        (b"\x10\x00\x01", "256"),
        (b"\x1c\x00\x00\x00\x00\x00\x00\xf8\x7f", '"NaN"'),
        (b"\x1c\x00\x00\x00\x00\x00\x00\xf8\x3f", "1.5"),
        (b"\x38\xcd\xcc\xcc\x3d", "0.1"),
        (b"\x20\x02\x6e\x00\x00\x00", "1.1"),
        (b"\x20\x02\x10\x27\x00\x00", "100"),
        (b"\x2c\x01\x00\x00\x00", '"1970-01-02"'),
        (b"\x30\x40\x42\x0f\x00\x00\x00\x00\x00", '"1970-01-01 00:00:01+00:00"'),
        (b"\x34\x01\x00\x00\x00\x00\x00\x00\x00", '"1970-01-01 00:00:00.000001"'),
        (b"\x44\x40\x42\x0f\x00\x00\x00\x00\x00", '"00:00:01"'),
        (b"\x48\x01\x00\x00\x00\x00\x00\x00\x00", '"1970-01-01 00:00:00.000000001+00:00"'),
        (b"\x3c\x02\x00\x00\x00\x00\xff", '"AP8="'),
        (b"\x40\x01\x00\x00\x00a", '"a"'),
        (b"\x05a", '"a"'),
        (b"\x50" + UUID(int=1).bytes, '"00000000-0000-0000-0000-000000000001"'),
    ],
)
def test_each_simple_value_is_shown_as_in_the_json_of_spark(value: bytes, text: str) -> None:
    assert shown(value) == text


@pytest.mark.parametrize(
    ("value", "metadata", "why"),
    [
        (b"\x05", NO_NAMES, "cut off"),
        (b"", NO_NAMES, "more values than bytes"),
        (b"\x10\x01", NO_NAMES, "not a variant"),
        (b"\xfc", NO_NAMES, "type 63"),
        (b"\x00", b"\x02\x00\x00", "version is 2"),
        (b"\x00", b"\x01\x05\x00", "names are cut off"),
        (b"\x02\x01\x00\x00\x01\x00", NO_NAMES, "not a variant"),
        (b"\x03\x02\x00\x00", NO_NAMES, "cut off"),
        (MANY, NO_NAMES, "more values than bytes"),
        (b"\x20\x63\x01\x00\x00\x00", NO_NAMES, "too many digits"),
    ],
)
def test_bytes_that_are_no_variant_are_told(value: bytes, metadata: bytes, why: str) -> None:
    with pytest.raises(ValueError, match=why):
        variant_value(value, metadata, lambda leaf: leaf)


def test_a_struct_that_only_looks_like_a_variant_is_shown_as_a_struct() -> None:
    assert shown(b"\xff", b"\x00") == '{"value":"/w==","metadata":"AA=="}'


def test_equal_variants_are_equal_however_they_are_encoded() -> None:
    one, other = encoded('{"a": 1, "b": [2.50]}'), encoded('{"b": [2.5], "a": 1}')
    assert one != other
    wide = {"value": b"\x18\x01\x00\x00\x00\x00\x00\x00\x00", "metadata": NO_NAMES}
    texts = comparable_array(pa.array([one, other, encoded("1"), wide, None], VARIANT)).to_pylist()

    assert texts[0] == texts[1]
    assert texts[2] == texts[3]
    assert texts[4] is None


def test_values_of_other_types_are_not_equal_though_their_json_is() -> None:
    day = b"\x2c\x00\x00\x00\x00"
    text = b"\x291970-01-01"
    lists = [b"\x03\x01\x00" + bytes([len(value)]) + value for value in (day, text)]
    values = [{"value": value, "metadata": NO_NAMES} for value in (day, text, *lists)]
    assert shown(day) == shown(text)
    assert shown(lists[0]) == shown(lists[1])

    assert len(set(comparable_array(pa.array(values, VARIANT)).to_pylist())) == 4


def test_leaves_keep_their_kind() -> None:
    found = variant_value(*encoded('{"n": 1, "t": "x"}').values(), lambda leaf: leaf)

    assert found == {"n": Simple("int", 1), "t": Simple("string", "x")}


def test_shredded_variants_are_not_taken_for_whole_ones() -> None:
    kind = pa.struct([*VARIANT, pa.field("typed_value", pa.int64())])
    values = pa.array([{"value": b"\x00", "metadata": NO_NAMES, "typed_value": 1}], kind)

    with pytest.raises(pa.ArrowInvalid, match="shredded"):
        as_type(values, PrimitiveType("variant"), "none")
