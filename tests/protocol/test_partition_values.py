from __future__ import annotations

import math
import struct
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from truckee.errors import InvalidPartitionValueError
from truckee.protocol import partition_values
from truckee.protocol.schema import ArrayType, DataType, DecimalType, PrimitiveType, parse_type

UTC = timezone.utc
wall = datetime.fromisoformat


@pytest.mark.parametrize(
    ("type_name", "text", "value"),
    [
        ("byte", "-128", -128),
        ("long", "1234567890123456789", 1234567890123456789),
        ("float", "1.5", 1.5),
        ("double", "1.0E10", 1e10),
        ("double", "-Infinity", -math.inf),
        ("decimal(38,18)", "1.500000000000000000", Decimal("1.500000000000000000")),
        ("boolean", "true", True),
        ("boolean", "false", False),
        ("string", "a=b/c", "a=b/c"),
        ("binary", "\x01é", b"\x01\xc3\xa9"),
        ("date", "2024-01-02", date(2024, 1, 2)),
        (
            "timestamp",
            "2024-01-02T03:04:05.123456Z",
            datetime(2024, 1, 2, 3, 4, 5, 123456, UTC),
        ),
        ("timestamp_ntz", "2024-01-02 03:04:05.1", wall("2024-01-02T03:04:05.100000")),
        ("timestamp_ntz", "2024-01-02 03:04:05", wall("2024-01-02T03:04:05")),
    ],
)
def test_a_value_and_its_text_go_back_and_forth(type_name: str, text: str, value: Any) -> None:
    data_type = parse_type(type_name)

    assert partition_values.parse(text, data_type) == value
    assert partition_values.format(value, data_type) == text


@pytest.mark.parametrize(
    ("type_name", "text", "count"),
    [
        ("date", "+14645-06-30", 400_000_000_000_000_000 // 86_400_000_000),
        ("date", "-1199-02-15", -100_000_000_000_000_000 // 86_400_000_000),
        ("date", "0000-12-31", -719_163),
        ("timestamp", "+14645-06-30T15:06:40.000000Z", 400_000_000_000_000_000),
        ("timestamp_ntz", "-1199-02-15 14:13:20.000001", -99_999_999_999_999_999),
        ("timestamp_ntz", "9999-12-31 23:59:59.999999", 253_402_300_799_999_999),
    ],
)
def test_counts_have_years_that_python_lacks(type_name: str, text: str, count: int) -> None:
    data_type = parse_type(type_name)

    assert partition_values.counted(text, data_type) == count
    assert partition_values.format(count, data_type) == text


@pytest.mark.parametrize("type_name", ["string", "long", "date", "binary", "timestamp"])
def test_null_and_the_empty_text_are_null(type_name: str) -> None:
    data_type = parse_type(type_name)

    assert partition_values.parse(None, data_type) is None
    assert partition_values.parse("", data_type) is None
    assert partition_values.format(None, data_type) is None


def test_the_empty_string_cannot_be_told_from_null() -> None:
    assert partition_values.format("", PrimitiveType("string")) is None


@pytest.mark.parametrize(
    ("text", "zone", "hour"),
    [
        ("2024-07-01 12:00:00", "UTC", 12),
        ("2024-07-01 12:00:00", "Europe/Berlin", 10),
        ("2024-07-01 12:00:00", "+01:00", 11),
        ("2024-07-01 12:00:00", "America/Los_Angeles", 19),
        ("2024-07-01T12:00:00.000000Z", "Europe/Berlin", 12),
        ("2024-07-01T12:00:00-02:00", "Europe/Berlin", 14),
    ],
)
def test_a_timestamp_without_a_zone_is_in_that_of_the_session(
    text: str, zone: str, hour: int
) -> None:
    found = partition_values.parse(text, PrimitiveType("timestamp"), zone)

    assert found == datetime(2024, 7, 1, hour, tzinfo=UTC)


def test_a_clock_that_was_set_forward_is_read_as_java_reads_it() -> None:
    found = partition_values.parse(
        "2021-03-14 02:30:00", PrimitiveType("timestamp"), "America/Los_Angeles"
    )

    assert found == datetime(2021, 3, 14, 10, 30, tzinfo=UTC)


@pytest.mark.parametrize(
    ("type_name", "text"),
    [
        ("byte", "128"),
        ("long", "1.5"),
        ("boolean", "maybe"),
        ("date", "2021-02-30"),
        ("date", "yesterday"),
        ("timestamp", "2021-01-01 25:00:00"),
        ("timestamp", "2021-01-01 10:00:00 Nowhere/Land"),
        ("decimal(3,1)", "100.0"),
        ("decimal(3,1)", "x"),
        ("variant", "{}"),
    ],
)
def test_a_text_of_another_type_is_refused(type_name: str, text: str) -> None:
    data_type = parse_type(type_name)

    with pytest.raises(InvalidPartitionValueError):
        partition_values.parse(text, data_type)
    with pytest.raises(InvalidPartitionValueError):
        partition_values.typed_column(pa.array([text]), data_type)


def test_the_refusal_says_what_was_found_and_expected() -> None:
    with pytest.raises(InvalidPartitionValueError) as caught:
        partition_values.parse("x", PrimitiveType("long"))

    assert caught.value.code == "DELTA_PARTITION_COLUMN_CAST_FAILED"
    assert caught.value.sentence() == (
        "partition value 'x' cannot be read as bigint\n"
        "hint: the value in the log does not fit the type of the partition column"
    )


def test_nested_types_cannot_partition_a_table() -> None:
    with pytest.raises(InvalidPartitionValueError):
        partition_values.partition_arrow_type(ArrayType(PrimitiveType("long")))


def test_bytes_that_are_no_text_have_no_partition_value() -> None:
    with pytest.raises(InvalidPartitionValueError):
        partition_values.format(b"\xff", PrimitiveType("binary"))


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (1e10, "1.0E10"),
        (123456789.0, "1.23456789E8"),
        (0.001, "0.001"),
        (1e-4, "1.0E-4"),
        (10.0, "10.0"),
        (-0.0, "-0.0"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
    ],
)
def test_floats_are_spelled_as_java_spells_them(value: float, text: str) -> None:
    assert partition_values.format(value, PrimitiveType("double")) == text


def test_a_single_has_no_more_digits_than_it_needs() -> None:
    value = struct.unpack(">f", struct.pack(">f", 0.1))[0]

    assert partition_values.format(value, PrimitiveType("float")) == "0.1"


def test_a_column_is_typed_as_a_whole() -> None:
    texts = pa.chunked_array([["1", None, ""], ["7", "1"]])

    found = partition_values.typed_column(texts, PrimitiveType("integer"))

    assert found.type == pa.int32()
    assert found.to_pylist() == [1, None, None, 7, 1]


def test_a_column_holds_years_that_python_does_not() -> None:
    days = partition_values.typed_column(
        pa.array(["+12345-01-01", "0000-01-01"]), PrimitiveType("date")
    )
    micros = partition_values.typed_column(
        pa.array(["-0044-03-15 12:00:00"]), PrimitiveType("timestamp"), "Europe/Rome"
    )

    assert days.cast(pa.int32()).to_pylist() == [3789391, -719528]
    assert micros.cast(pa.int64()).to_pylist() == [-63549320400000000 + 3600000000 - 2996000000]


days = st.dates()
moments = st.datetimes(timezones=st.just(UTC))
walls = st.datetimes()
doubles = st.floats(allow_nan=False)
singles = st.floats(width=32, allow_nan=False)
typed = st.one_of(
    st.tuples(st.just("long"), st.integers(-(1 << 63), (1 << 63) - 1)),
    st.tuples(st.just("double"), doubles),
    st.tuples(st.just("float"), singles),
    st.tuples(st.just("boolean"), st.booleans()),
    st.tuples(st.just("string"), st.text(min_size=1)),
    st.tuples(st.just("binary"), st.text(min_size=1).map(str.encode)),
    st.tuples(st.just("date"), days),
    st.tuples(st.just("timestamp"), moments),
    st.tuples(st.just("timestamp_ntz"), walls),
    st.tuples(
        st.just("decimal(38,10)"),
        st.decimals(places=10, allow_nan=False, allow_infinity=False).filter(
            lambda d: abs(d) < Decimal(10) ** 28
        ),
    ),
)


@pytest.mark.property
@given(typed)
def test_parsing_undoes_formatting(pair: tuple[str, Any]) -> None:
    data_type, value = parse_type(pair[0]), pair[1]

    text = partition_values.format(value, data_type)

    assert text is not None
    assert partition_values.parse(text, data_type) == value
    assert _python(partition_values.typed_column(pa.array([text]), data_type)[0]) == value


def _python(scalar: pa.Scalar) -> Any:
    if not pa.types.is_temporal(scalar.type):
        return scalar.as_py()
    if pa.types.is_date(scalar.type):
        return date(1970, 1, 1) + timedelta(days=scalar.cast(pa.int32()).as_py())
    start = datetime(1970, 1, 1, tzinfo=UTC if scalar.type.tz else None)
    return start + timedelta(microseconds=scalar.cast(pa.int64()).as_py())


def test_decimals_have_all_digits_of_their_scale() -> None:
    data_type: DataType = DecimalType(10, 2)

    assert partition_values.format(Decimal(0), data_type) == "0.00"
    assert partition_values.format(Decimal("1E+3"), data_type) == "1000.00"
    assert partition_values.parse("1.005", data_type) == Decimal("1.01")
