"""Timestamps and dates that Python's own types cannot express: Spark's range of years is larger."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import truckee
from builders import PROTOCOL
from diff_tables import Table
from truckee.arrow.columns import arrow_schema
from truckee.arrow.texts import json_texts
from truckee.arrow.write import write_batches
from truckee.errors import KeysNotUniqueError
from truckee.protocol.actions import Metadata
from truckee.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from truckee.streaming.write_commit import commit_arrow_files
from truckee.streaming.write_plan import write_plan

_FAR = 400_000_000_000_000_000  # the year 14645, in microseconds since 1970
_BEFORE = -100_000_000_000_000_000  # the year -1199
_STAMP = PrimitiveType("timestamp")
_SCHEMA = StructType(
    (
        StructField("id", PrimitiveType("long")),
        StructField("at", _STAMP),
        StructField("day", PrimitiveType("date")),
        StructField("inner", StructType((StructField("at", _STAMP),))),
        StructField("list", ArrayType(_STAMP)),
        StructField("map", MapType(PrimitiveType("date"), _STAMP)),
    )
)


def _columns(*rows: tuple[int, int]) -> dict[str, Any]:
    """Return a row for each pair of an id and a time."""
    ids, micros = (list(values) for values in zip(*rows, strict=True))
    stamps = pa.array(micros, pa.timestamp("us", tz="UTC"))
    days = pa.array([value // 86_400_000_000 for value in micros], pa.date32())
    each = pa.array(range(len(rows) + 1), pa.int32())
    return {
        "id": ids,
        "at": stamps,
        "day": days,
        "inner": pa.StructArray.from_arrays([stamps], ["at"]),
        "list": pa.ListArray.from_arrays(each, stamps),
        "map": pa.MapArray.from_arrays(each, days, stamps),
    }


@pytest.fixture
def table(tmp_path: Path) -> truckee.LocalTable:
    """Three rows; then the file is rewritten: one row copied, one with another time, one gone."""
    made = Table(tmp_path / "t")
    made.history.stage(PROTOCOL, Metadata(id="t", schema_string=_SCHEMA.to_json()))
    made.add("a", _columns((1, _FAR), (2, _BEFORE), (3, _FAR))).then()
    made.history.remove("a")
    made.add("b", _columns((1, _FAR), (2, _BEFORE + 1))).then()
    return truckee.open(str(tmp_path / "t"))


def _told(rows: pa.Table) -> list[tuple[Any, ...]]:
    shown = rows.select(["id", "_change_type"]).append_column("at", rows["at"].cast(pa.int64()))
    return sorted(tuple(row.values()) for row in shown.to_pylist())


_CHANGES = [
    (2, "update_postimage", _BEFORE + 1),
    (2, "update_preimage", _BEFORE),
    (3, "delete", _FAR),
]


def test_diffs_compare_them(table: truckee.LocalTable) -> None:
    assert _told(table.diff(0, 1, ["id"]).to_arrow()) == _CHANGES


def test_derived_feeds_and_net_changes_compare_them(table: truckee.LocalTable) -> None:
    derived = table.changes(1, changeFeed="derived", keys="id")
    net = table.changes(0, changeFeed="derived", deduplicationMode="netChanges")

    assert _told(derived.to_arrow()) == _CHANGES
    assert _told(net.to_arrow()) == [(1, "insert", _FAR), (2, "insert", _BEFORE + 1)]


def test_histories_of_rows_compare_them(table: truckee.LocalTable) -> None:
    found = table.row_history("id = 2").to_arrow()

    assert _told(found) == [(2, "insert", _BEFORE), *_CHANGES[:2]]
    assert found["_changed_columns"].to_pylist()[1] == ["at", "inner", "list", "map"]


def test_an_error_shows_them_as_counts(table: truckee.LocalTable) -> None:
    with pytest.raises(KeysNotUniqueError) as raised:
        table.diff(0, 1, ["at"]).to_arrow()

    assert raised.value.example == f'{{"at":"{_FAR} microseconds since 1970Z"}}'


def test_nested_ones_are_shown_as_counts(table: truckee.LocalTable) -> None:
    rows = table.to_arrow(columns=["inner", "list", "map"], where="id = 1")

    [text] = json_texts(rows)

    far = f'"{_FAR} microseconds since 1970Z"'
    day = f'"{_FAR // 86_400_000_000 * 86_400_000_000} microseconds since 1970"'
    assert text == f'{{"inner":{{"at":{far}}},"list":[{far}],"map":{{{day}:{far}}}}}'


def test_partitions_are_written_and_compared_with_them(tmp_path: Path) -> None:
    schema = StructType((StructField("id", PrimitiveType("long")), _SCHEMA.fields[2]))
    for ids in ([1, 2], [1, 2, 3]):
        options = {"path": str(tmp_path / "t"), "partitionBy": "day"}
        planned = write_plan(options, schema, is_overwrite=len(ids) == 3)
        day = pa.array([_FAR // 86_400_000_000] * len(ids), pa.date32())
        rows = pa.record_batch([pa.array(ids, pa.int64()), day], schema=arrow_schema(schema))
        commit_arrow_files(planned, write_batches(planned.target, [rows]))

    table = truckee.open(str(tmp_path / "t"))

    assert table.files()["partition_values"].to_pylist() == [[("day", "+14645-06-30")]]
    assert table.to_arrow(where="day > DATE'2024-01-01'").num_rows == 3
    assert table.diff(0, 1).to_arrow()["id"].to_pylist() == [3]
