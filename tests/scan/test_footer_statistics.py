"""Statistics out of Parquet footers, with no JVM in sight."""

from __future__ import annotations

import json
from datetime import date, datetime, timezone
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from staging import configuration
from truckee.protocol.schema import ArrayType, MapType, PrimitiveType, StructField, StructType
from truckee.protocol.stats import encode_stats
from truckee.scan.footer_statistics import (
    file_stats,
    footer_columns,
    indexed_columns,
    read_footers,
)
from truckee.storage import LocalStorage
from values import simple_schema


def stats_of(
    tmp_path: Path,
    schema: StructType,
    table: pa.Table,
    *,
    row_group_size: int | None = None,
    partition_columns: tuple[str, ...] = (),
    **properties: str,
) -> dict[str, Any]:
    pq.write_table(table, tmp_path / "f.parquet", row_group_size=row_group_size)
    known = {f"delta.{name}": value for name, value in properties.items()}
    columns = indexed_columns(configuration(schema, partition_columns, properties=known))
    (footer,) = read_footers(LocalStorage(str(tmp_path)), ["f.parquet"], columns)
    found: dict[str, Any] = json.loads(
        encode_stats(file_stats(footer, columns, prefix_length=32, tight_bounds=None))
    )
    return found


def test_bounds_and_nulls_of_every_type(tmp_path: Path) -> None:
    micros = pa.timestamp("us", tz="UTC")
    before = datetime(1969, 12, 31, 23, 59, 59, 999_999, tzinfo=timezone.utc)
    after = datetime(2024, 1, 2, 3, 4, 5, 678_901, tzinfo=timezone.utc)
    schema = simple_schema(
        "b byte",
        "i integer",
        "l long",
        "f float",
        "d double",
        "n decimal(10,2)",
        "s string",
        "x binary",
        "t boolean",
        "day date",
        "ts timestamp",
        "ntz timestamp_ntz",
    )
    table = pa.table(
        {
            "b": pa.array([-1, 2, None], pa.int8()),
            "i": pa.array([-1, 2, None], pa.int32()),
            "l": pa.array([-1, 1 << 62, None], pa.int64()),
            "f": pa.array([-1.5, 2.5, None], pa.float32()),
            "d": pa.array([-1.5, 2.5, None], pa.float64()),
            "n": pa.array([Decimal("-1.50"), Decimal("2.25"), None], pa.decimal128(10, 2)),
            "s": pa.array(["a", "é", None]),
            "x": pa.array([b"a", b"b", None]),
            "t": pa.array([True, False, None]),
            "day": pa.array([date(1969, 12, 31), date(2024, 1, 2), None]),
            "ts": pa.array([before, after, None], micros),
            "ntz": pa.array([before.replace(tzinfo=None), None, None], pa.timestamp("us")),
        }
    )

    found = stats_of(tmp_path, schema, table)

    assert found["numRecords"] == 3
    assert found["minValues"] == {
        "b": -1,
        "i": -1,
        "l": -1,
        "f": -1.5,
        "d": -1.5,
        "n": -1.5,
        "s": "a",
        "day": "1969-12-31",
        "ts": "1969-12-31T23:59:59.999Z",
        "ntz": "1969-12-31T23:59:59.999",
    }
    assert found["maxValues"] == {
        "b": 2,
        "i": 2,
        "l": 1 << 62,
        "f": 2.5,
        "d": 2.5,
        "n": 2.25,
        "s": "é",
        "day": "2024-01-02",
        "ts": "2024-01-02T03:04:05.678Z",
        "ntz": "1969-12-31T23:59:59.999",
    }
    assert found["nullCount"] == {**dict.fromkeys(schema.names, 1), "ntz": 2}


def test_row_groups_are_taken_together(tmp_path: Path) -> None:
    table = pa.table({"i": pa.array([5, 9, None, None, -3, 7], pa.int64())})

    found = stats_of(tmp_path, simple_schema("i long"), table, row_group_size=2)

    assert found == {
        "numRecords": 6,
        "minValues": {"i": -3},
        "maxValues": {"i": 9},
        "nullCount": {"i": 2},
    }


def test_a_column_of_nulls_has_no_bounds(tmp_path: Path) -> None:
    table = pa.table({"i": pa.array([None, None], pa.int64())})

    found = stats_of(tmp_path, simple_schema("i long"), table)

    assert found == {"numRecords": 2, "nullCount": {"i": 2}}


def test_fields_of_structs_are_nested_and_arrays_and_maps_have_counts_at_most(
    tmp_path: Path,
) -> None:
    inner = simple_schema("x long", "y string")
    schema = StructType(
        (
            StructField("s", inner),
            StructField("l", ArrayType(inner)),
            StructField("empty", ArrayType(PrimitiveType("long"))),
            StructField("m", MapType(PrimitiveType("string"), PrimitiveType("long"))),
            StructField("last", PrimitiveType("long")),
        )
    )
    struct = pa.struct([("x", pa.int64()), ("y", pa.string())])
    table = pa.table(
        {
            "s": pa.array([{"x": 1, "y": "a"}, None], struct),
            "l": pa.array([[{"x": 1, "y": "a"}], [{"x": 2, "y": "b"}]], pa.list_(struct)),
            "empty": pa.array([[], [1]], pa.list_(pa.int64())),
            "m": pa.array([[("k", 1)], [("k", 2)]], pa.map_(pa.string(), pa.int64())),
            "last": pa.array([7, 8]),
        }
    )

    found = stats_of(tmp_path, schema, table)

    assert found == {
        "numRecords": 2,
        "minValues": {"s": {"x": 1, "y": "a"}, "last": 7},
        "maxValues": {"s": {"x": 1, "y": "a"}, "last": 8},
        "nullCount": {"s": {"x": 1, "y": 1}, "l": 0, "m": 0, "last": 0},
    }


def test_long_texts_are_cut_so_that_they_stay_bounds(tmp_path: Path) -> None:
    table = pa.table({"s": ["a" * 40, "z" * 40]})

    found = stats_of(tmp_path, simple_schema("s string"), table)

    assert found["minValues"] == {"s": "a" * 32}
    assert found["maxValues"] == {"s": "z" * 32 + "\x7f"}


def test_infinities_are_left_out(tmp_path: Path) -> None:
    table = pa.table({"d": [float("-inf"), 1.0]})

    found = stats_of(tmp_path, simple_schema("d double"), table)

    assert found == {"numRecords": 2, "maxValues": {"d": 1.0}, "nullCount": {"d": 0}}


def test_years_that_python_cannot_hold_are_left_out(tmp_path: Path) -> None:
    days = pa.array([-1_000_000, 0], pa.int32()).cast(pa.date32())

    found = stats_of(tmp_path, simple_schema("day date"), pa.table({"day": days}))

    assert found == {
        "numRecords": 2,
        "maxValues": {"day": "1970-01-01"},
        "nullCount": {"day": 0},
    }


def test_which_columns_are_indexed_is_for_properties_to_say(tmp_path: Path) -> None:
    schema = simple_schema("p long", "a long", "b long", "c long")
    table = pa.table({"a": [1], "b": [2], "c": [3]})

    first = stats_of(
        tmp_path, schema, table, partition_columns=("p",), dataSkippingNumIndexedCols="2"
    )
    named = stats_of(
        tmp_path, schema, table, partition_columns=("p",), dataSkippingStatsColumns="c"
    )
    none = stats_of(
        tmp_path, schema, table, partition_columns=("p",), dataSkippingNumIndexedCols="0"
    )

    assert first["minValues"] == {"a": 1, "b": 2}
    assert named["minValues"] == {"c": 3}
    assert none == {"numRecords": 1}


def test_a_column_is_found_by_its_place_whatever_its_name() -> None:
    schema = StructType(
        (
            StructField("a.b", PrimitiveType("long")),
            StructField("a", simple_schema("b long")),
        )
    )

    columns = footer_columns(schema)

    assert [(column.path, column.first) for column in columns.values()] == [
        (("a.b",), 0),
        (("a", "b"), 1),
    ]
