from __future__ import annotations

import json
import math
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import CorpusTable, corpus_tables
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import ArrayType, PrimitiveType, StructField, StructType, parse_type
from truckee.protocol.stats import (
    FileStats,
    bound_value,
    encode_stats,
    has_bounds,
    lower_bound,
    parse_stats,
    stats_columns,
    upper_bound,
    with_wide_bounds,
)
from values import simple_schema

STRING = PrimitiveType("string")


def test_statistics_go_back_and_forth() -> None:
    text = (
        '{"numRecords":3,"minValues":{"a":1,"s":{"x":"b"},"d":1.10},"maxValues":{"a":9,'
        '"s":{"x":"q"},"d":"NaN"},"nullCount":{"a":0,"s":{"x":1}},"tightBounds":true}'
    )

    stats = parse_stats(text)

    assert stats == FileStats(
        num_records=3,
        min_values={"a": 1, "s": {"x": "b"}, "d": Decimal("1.10")},
        max_values={"a": 9, "s": {"x": "q"}, "d": "NaN"},
        null_count={"a": 0, "s": {"x": 1}},
        tight_bounds=True,
    )
    assert stats is not None
    assert encode_stats(stats) == text


def test_decimals_keep_all_their_digits() -> None:
    digits = "12345678901234567890.123456789012345678"

    stats = parse_stats(f'{{"numRecords":1,"minValues":{{"d":{digits}}}}}')

    assert stats is not None
    assert stats.min_values == {"d": Decimal(digits)}
    assert digits in encode_stats(stats)


@pytest.mark.parametrize("text", [None, "", "{", "[]", "null", '{"numRecords":NaN}'])
def test_what_cannot_be_read_counts_as_absent(text: str | None) -> None:
    assert parse_stats(text) is None


def test_a_part_that_cannot_be_read_does_not_cost_the_rest() -> None:
    stats = parse_stats('{"numRecords":3,"minValues":null,"maxValues":7,"tightBounds":"no"}')

    assert stats == FileStats(num_records=3)
    assert stats is not None
    assert stats.are_tight


def test_a_column_that_was_null_in_all_rows_is_so_still_after_more_are_deleted() -> None:
    recomputed = FileStats(num_records=10, null_count={"c": 8, "s": {"x": 8, "y": 3}})

    wide = with_wide_bounds(recomputed, num_records=10, deleted_before=2)

    assert wide == FileStats(
        num_records=10, null_count={"c": 10, "s": {"x": 10, "y": 3}}, tight_bounds=False
    )


def test_a_first_deletion_vector_leaves_an_all_null_column_as_it_is() -> None:
    tight = FileStats(num_records=10, null_count={"c": 10, "d": 0}, tight_bounds=True)

    wide = with_wide_bounds(tight, num_records=10)

    assert wide.null_count == {"c": 10, "d": 0}
    assert not wide.are_tight


def test_bounds_that_are_wide_already_are_kept() -> None:
    wide = FileStats(num_records=10, null_count={"c": 8}, min_values={"c": 1}, tight_bounds=False)

    assert with_wide_bounds(wide, num_records=10, deleted_before=2) == wide


def test_a_file_without_statistics_gets_its_number_of_rows() -> None:
    assert encode_stats(with_wide_bounds(None, num_records=5)) == (
        '{"numRecords":5,"tightBounds":false}'
    )


def test_short_strings_are_bounds_themselves() -> None:
    text = "x" * 32

    assert lower_bound(text, STRING) == upper_bound(text, STRING) == text


def test_a_long_string_is_cut_and_its_upper_bound_raised() -> None:
    assert lower_bound("ab" * 20, STRING) == "ab" * 16
    assert upper_bound("ab" * 20, STRING) == "ab" * 16 + "\x7f"
    assert upper_bound("é" * 40, STRING) == "é" * 32 + "\U0010ffff"
    assert upper_bound("a" * 32 + "\x7fz", STRING) == "a" * 32 + "\U0010ffff"


def test_where_no_bound_is_possible_there_is_none() -> None:
    assert upper_bound("\U0010ffff" * 33, STRING) is None


def test_the_length_of_prefixes_can_be_set() -> None:
    assert lower_bound("abc", STRING, prefix_length=2) == "ab"
    assert upper_bound("abc", STRING, prefix_length=2) == "ab\x7f"


@pytest.mark.parametrize(
    ("value", "type_name", "bound"),
    [
        (7, "long", 7),
        (1.5, "double", 1.5),
        (math.nan, "double", "NaN"),
        (math.inf, "float", "Infinity"),
        (-math.inf, "float", "-Infinity"),
        (Decimal("1.10"), "decimal(4,2)", Decimal("1.10")),
        (date(2024, 1, 2), "date", "2024-01-02"),
        (
            datetime(2024, 1, 2, 3, 4, 5, 123999, timezone.utc),
            "timestamp",
            "2024-01-02T03:04:05.123Z",
        ),
        (
            datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))),
            "timestamp",
            "2024-01-02T01:04:05.000Z",
        ),
        (
            datetime.fromisoformat("2024-01-02T03:04:05.123999"),
            "timestamp_ntz",
            "2024-01-02T03:04:05.123",
        ),
        (True, "boolean", None),
        (b"x", "binary", None),
        (None, "long", None),
    ],
)
def test_bounds_are_written_as_the_protocol_spells_them(
    value: Any, type_name: str, bound: Any
) -> None:
    assert lower_bound(value, parse_type(type_name)) == bound
    assert upper_bound(value, parse_type(type_name)) == bound


@pytest.mark.parametrize(
    ("raw", "type_name", "value"),
    [
        (7, "integer", 7),
        (Decimal("7.5"), "integer", None),
        ("7", "integer", None),
        (True, "integer", None),
        (Decimal("1.5"), "double", 1.5),
        ("Infinity", "double", math.inf),
        ("big", "double", None),
        (Decimal("1.5"), "decimal(3,1)", Decimal("1.5")),
        ("1970-01-03", "date", 2),
        ("1970-01-01T00:00:01.000-01:00", "timestamp", 3_601_000_000),
        ("1970-01-01T00:00:01.000", "timestamp", None),
        ("1970-01-01T00:00:01.000", "timestamp_ntz", 1_000_000),
        ("soon", "timestamp", None),
        (1, "string", None),
        (None, "string", None),
        ("x", "binary", None),
    ],
)
def test_a_bound_of_another_kind_is_no_bound(raw: Any, type_name: str, value: Any) -> None:
    assert bound_value(raw, parse_type(type_name)) == value


def test_bounds_are_written_for_what_has_an_order() -> None:
    bounded = ["byte", "long", "double", "decimal(3,1)", "string", "date", "timestamp_ntz"]

    assert all(has_bounds(parse_type(name)) for name in bounded)
    assert not any(has_bounds(parse_type(n)) for n in ("boolean", "binary", "variant", "void"))
    assert not has_bounds(ArrayType(STRING))


def _paths(schema: StructType, by: str = "", **configuration: str) -> list[str]:
    properties = TableProperties({f"delta.{k}": v for k, v in configuration.items()})
    return [".".join(c.path) for c in stats_columns(schema, [by], properties)]


def test_statistics_are_kept_for_the_first_leaves_that_do_not_partition() -> None:
    inner = simple_schema("x long", "y long")
    schema = StructType((*simple_schema("p long", "a long").fields, StructField("s", inner)))

    assert _paths(schema, "P") == ["a", "s.x", "s.y"]
    assert _paths(schema, "p", dataSkippingNumIndexedCols="2") == ["a", "s.x"]
    assert _paths(schema, "p", dataSkippingNumIndexedCols="0") == []
    assert _paths(schema, dataSkippingNumIndexedCols="-1") == ["p", "a", "s.x", "s.y"]
    assert _paths(schema, dataSkippingStatsColumns="S, A") == ["a", "s.x", "s.y"]
    assert _paths(schema, dataSkippingStatsColumns="s.y,nothing") == ["s.y"]


def test_of_many_columns_only_32_have_statistics() -> None:
    schema = simple_schema(*(f"c{i} long" for i in range(40)))

    assert len(_paths(schema)) == 32


@pytest.mark.property
@given(st.text(), st.integers(0, 5))
def test_bounds_of_strings_are_never_on_the_wrong_side(text: str, length: int) -> None:
    lower = lower_bound(text, STRING, prefix_length=length)
    upper = upper_bound(text, STRING, prefix_length=length)

    assert lower <= text
    assert upper is None or text <= upper


scalars = st.integers(-(1 << 63), (1 << 63) - 1) | st.text() | st.just("NaN") | st.none()
bounds = st.dictionaries(st.text(), scalars | st.dictionaries(st.text(), scalars), max_size=3)
counts = st.dictionaries(st.text(), st.integers(0, 9), max_size=3)


@pytest.mark.property
@given(
    st.builds(
        FileStats,
        num_records=st.none() | st.integers(0, 9),
        min_values=bounds,
        max_values=bounds,
        null_count=counts,
        tight_bounds=st.none() | st.booleans(),
    )
)
def test_parsing_undoes_encoding(stats: FileStats) -> None:
    assert parse_stats(encode_stats(stats)) == stats


@pytest.mark.golden
@pytest.mark.parametrize("table", corpus_tables("stats", "dv", "types"), ids=str)
def test_statistics_of_the_corpus_come_back_as_they_were(table: CorpusTable) -> None:
    for commit in sorted(table.path.glob("_delta_log/*.json")):
        for line in commit.read_text(encoding="utf-8").splitlines():
            text = line.startswith('{"add"') and json.loads(line)["add"].get("stats")
            stats = parse_stats(text or None)
            if stats is None:
                assert text in (None, False, "", "null")
                continue
            again = json.loads(encode_stats(stats))
            known = {key: json.loads(text).get(key) for key in again}
            assert again == known
