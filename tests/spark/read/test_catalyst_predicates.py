"""Filters of Spark as predicates: what Python cannot express is left to Spark."""

from __future__ import annotations

import msgspec
import pytest

from truckee.protocol.predicates import (
    UNKNOWN,
    Column,
    Comparison,
    IsNotNull,
    Or,
    Predicate,
    may_be_true,
)
from truckee.spark.read.catalyst_predicates import predicate_of
from values import simple_schema

_SCHEMA = simple_schema("id long", "day date", "at timestamp_ntz", "t timestamp")
_CATALYST = "org.apache.spark.sql.catalyst.expressions"


def _above(column: str, kind: str, literal: str, zone: str = "UTC") -> Predicate:
    """Return the predicate of `column > literal`, as Spark writes the filter down."""
    nodes = [
        {"class": f"{_CATALYST}.GreaterThan", "num-children": 2, "left": 0, "right": 1},
        {"class": f"{_CATALYST}.AttributeReference", "num-children": 0, "name": column},
        {"class": f"{_CATALYST}.Literal", "num-children": 0, "value": literal, "dataType": kind},
    ]
    return predicate_of([msgspec.json.encode(nodes).decode()], _SCHEMA, zone)


def test_a_comparison_with_a_number_is_a_predicate() -> None:
    assert _above("id", "long", "7") == Comparison(">", Column(("id",)), 7)


@pytest.mark.parametrize(
    ("column", "kind", "literal", "zone"),
    [
        ("day", "date", "+12345-01-01", "UTC"),
        ("day", "date", "-0044-03-15", "UTC"),
        ("at", "timestamp_ntz", "400000000000000000", "UTC"),
        ("at", "timestamp_ntz", "-100000000000000000", "UTC"),
        ("t", "timestamp", "9999-12-31 23:59:59", "America/New_York"),
    ],
)
def test_a_year_that_python_lacks_prunes_nothing(
    column: str, kind: str, literal: str, zone: str
) -> None:
    assert _above(column, kind, literal, zone) == UNKNOWN


def _chain(kinds: list[str]) -> str:
    """Return a filter as Spark writes it: a chain of these, each with `id > 7` to its right."""
    leaf = [
        {"class": f"{_CATALYST}.GreaterThan", "num-children": 2},
        {"class": f"{_CATALYST}.AttributeReference", "num-children": 0, "name": "id"},
        {"class": f"{_CATALYST}.Literal", "num-children": 0, "value": "7", "dataType": "long"},
    ]
    nodes = [{"class": f"{_CATALYST}.{kind}", "num-children": 2} for kind in kinds]
    return msgspec.json.encode([*nodes, *leaf * (len(kinds) + 1)]).decode()


def test_a_long_chain_of_one_kind_is_one_predicate() -> None:
    found = predicate_of([_chain(["Or"] * 5000)], _SCHEMA, "UTC")

    assert found == Or((Comparison(">", Column(("id",)), 7),) * 5001)


def test_a_filter_that_is_too_deep_keeps_every_file() -> None:
    found = predicate_of([_chain(["Or", "And"] * 2500)], _SCHEMA, "UTC")

    assert may_be_true(found, {"id": 8})
    assert not may_be_true(found, {"id": 6})


@pytest.mark.parametrize(
    ("name", "nullable", "is_column"),
    [("file_size", True, True), ("file_size", False, False), ("base_row_id", True, False)],
)
def test_a_filter_on_a_field_of_metadata_is_not_one_on_a_column_of_its_name(
    name: str, nullable: bool, is_column: bool
) -> None:
    attribute = {"class": f"{_CATALYST}.AttributeReference", "num-children": 0, "name": name}
    nodes = [
        {"class": f"{_CATALYST}.IsNotNull", "num-children": 1, "child": 0},
        {**attribute, "nullable": nullable},
    ]
    schema = simple_schema(f"{name} long")

    found = predicate_of([msgspec.json.encode(nodes).decode()], schema, "UTC")

    assert found == (IsNotNull(Column((name,))) if is_column else UNKNOWN)
