from __future__ import annotations

import json
import math
from datetime import date, datetime, timezone
from decimal import Decimal
from typing import Any

import pyarrow as pa
import pytest

from truckee.protocol.schema import parse_type
from truckee.scan.file_statistics import DataColumn, column_statistics, comparable_literal


def texts(*stats: Any) -> pa.ChunkedArray:
    found = [s if s is None or isinstance(s, str) else json.dumps(s) for s in stats]
    return pa.chunked_array([pa.array(found, pa.string())])


def data_column(name: str, type_name: str) -> DataColumn:
    return DataColumn(tuple(name.split(".")), parse_type(type_name))


def test_each_column_has_one_row_a_file() -> None:
    stats = texts(
        {"numRecords": 3, "minValues": {"a": 1}, "maxValues": {"a": 2}, "nullCount": {"a": 0}},
        None,
        "{broken",
        {"numRecords": 4, "minValues": {"b": 7}},
    )

    (found,) = column_statistics(stats, [data_column("a", "long")])

    assert found.lower.to_pylist() == [1, None, None, None]
    assert found.upper.to_pylist() == [2, None, None, None]
    assert found.null_count.to_pylist() == [0, None, None, None]
    assert found.num_records.to_pylist() == [3, None, None, 4]


def test_columns_are_found_by_any_name_and_at_any_depth() -> None:
    names = ("col-1.col-2", "col-1.ü x", "class")
    nested = {"col-1": {"col-2": 1, "ü x": 2}, "class": 3}
    columns = [data_column(name, "integer") for name in names]

    found = column_statistics(texts({"minValues": nested}), columns)

    assert [column.lower.to_pylist() for column in found] == [[1], [2], [3]]


def test_a_value_of_another_kind_costs_only_itself() -> None:
    stats = {"numRecords": 1, "minValues": {"a": "x", "b": 2, "c": {"d": 1}}}
    columns = [data_column(name, "long") for name in ("a", "b", "c", "e.f")]

    found = column_statistics(texts(stats), columns)

    assert [column.lower.to_pylist() for column in found] == [[None], [2], [None], [None]]
    assert found[0].num_records.to_pylist() == [1]


@pytest.mark.parametrize(
    ("type_name", "raw", "lower", "upper"),
    [
        ("long", (1 << 63) - 1, (1 << 63) - 1, (1 << 63) - 1),
        ("long", 1 << 63, None, None),
        ("boolean", True, 1, 1),
        ("double", "Infinity", math.inf, math.inf),
        ("double", "huge", None, None),
        ("date", "1970-01-02", 1, 1),
        ("date", "+12345-01-01", 3789391, 3789391),
        ("date", "tomorrow", None, None),
        ("timestamp", "1970-01-01T00:00:00.001Z", 1000, 2000),
        ("timestamp", "1970-01-01T01:00:00.001+01:00", 1000, 2000),
        ("timestamp", "1970-01-01T00:00:00.001", None, None),
        ("timestamp_ntz", "1970-01-01T00:00:00.001", 1000, 2000),
        ("timestamp_ntz", "1970-01-02", 86_400_000_000, 86_400_001_000),
        ("decimal(4,1)", 1.25, Decimal("1.2"), Decimal("1.3")),
        ("decimal(4,1)", 1e60, None, None),
        ("binary", "x", None, None),
    ],
)
def test_bounds_never_exclude_what_they_stand_for(
    type_name: str, raw: Any, lower: Any, upper: Any
) -> None:
    stats = {"minValues": {"a": raw}, "maxValues": {"a": raw}}

    (found,) = column_statistics(texts(stats), [data_column("a", type_name)])

    assert found.lower.to_pylist() == [lower]
    assert found.upper.to_pylist() == [upper]


def test_bounds_of_long_ago_leave_room_for_another_calendar() -> None:
    stats = {"minValues": {"a": "0100-01-01"}, "maxValues": {"a": "0100-01-01"}}

    (found,) = column_statistics(texts(stats), [data_column("a", "date")])

    written = (date(100, 1, 1) - date(1970, 1, 1)).days
    assert found.lower.to_pylist() == [written - 13]
    assert found.upper.to_pylist() == [written + 13]


def test_the_last_of_all_timestamps_stays_the_last() -> None:
    stats = {"maxValues": {"a": "294247-01-10T04:00:54.775Z"}}

    (found,) = column_statistics(texts(stats), [data_column("a", "timestamp")])

    assert found.upper.to_pylist() == [(1 << 63) - 1]


def test_counts_that_no_file_can_have_are_unknown() -> None:
    stats = {"numRecords": 1 << 63, "nullCount": {"a": 1 << 64}, "minValues": {"a": 1}}

    (found,) = column_statistics(texts(stats, {"numRecords": 2}), [data_column("a", "long")])

    assert found.num_records.to_pylist() == [None, 2]
    assert found.null_count.to_pylist() == [None, None]
    assert found.lower.to_pylist() == [1, None]


@pytest.mark.parametrize(
    ("value", "type_name", "expected"),
    [
        (1, "long", 1),
        (Decimal("1.0"), "long", 1),
        (1.5, "long", None),
        (math.nan, "long", None),
        (True, "long", None),
        (True, "boolean", 1),
        (0.1, "double", 0.1),
        (0.1, "float", None),
        (0.5, "float", 0.5),
        (Decimal("1.50"), "decimal(4,1)", Decimal("1.5")),
        (Decimal("1.55"), "decimal(4,1)", None),
        (Decimal("NaN"), "decimal(4,1)", None),
        (1.5, "decimal(4,1)", None),
        ("x", "string", "x"),
        (b"x", "string", None),
        (date(1970, 1, 2), "date", 1),
        (datetime(1970, 1, 2, tzinfo=timezone.utc), "date", None),
        (datetime(1970, 1, 1, 0, 0, 1, tzinfo=timezone.utc), "timestamp", 1_000_000),
        (datetime(1970, 1, 1, tzinfo=timezone.utc), "timestamp_ntz", None),
        (datetime.fromisoformat("1970-01-01T00:00:01"), "timestamp_ntz", 1_000_000),
        (b"x", "binary", None),
    ],
)
def test_a_literal_compares_only_if_it_is_exactly_of_the_type(
    value: Any, type_name: str, expected: Any
) -> None:
    literal = comparable_literal(value, parse_type(type_name))

    assert (None if literal is None else literal.as_py()) == expected
