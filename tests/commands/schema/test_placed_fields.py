"""Fields that go by their places."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from truckee.commands.schema.placed_fields import fits_as_it_is, placed_type
from truckee.protocol.schema import (
    VOID,
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
)
from values import simple_schema

TABLE = simple_schema("x integer", "y integer")
EVERYWHERE = pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: inner,
        lambda inner: ArrayType(inner),
        lambda inner: MapType(inner, PrimitiveType("string")),
        lambda inner: MapType(PrimitiveType("string"), inner),
        lambda inner: StructType((StructField("s", inner),)),
    ],
    ids=["struct", "element", "key", "value", "nested"],
)
Wrap = Callable[[DataType], DataType]


@EVERYWHERE
@pytest.mark.parametrize(
    ("data", "fits"),
    [
        (("x integer", "y integer"), True),
        (("y integer", "x integer"), True),
        (("y integer", "z integer", "x integer"), True),
        (("x integer",), False),
        (("X integer", "y integer"), False),
        (("x long", "y integer"), False),
        (("col1 integer", "col2 integer"), False),
    ],
)
def test_data_fits_by_names_and_types(wrap: Wrap, data: tuple[str, ...], fits: bool) -> None:
    assert fits_as_it_is(wrap(simple_schema(*data)), wrap(TABLE)) is fits


@EVERYWHERE
def test_fields_get_the_names_and_types_of_their_places(wrap: Wrap) -> None:
    data = wrap(simple_schema("y string", "x integer"))

    assert placed_type(data, wrap(TABLE), keeps_types=False) == wrap(TABLE)
    named = wrap(simple_schema("x string", "y integer"))
    assert placed_type(data, wrap(TABLE), keeps_types=True) == named


def test_numbers_are_left_to_the_writer() -> None:
    data = simple_schema("a long", "b decimal(5,1)")

    named = simple_schema("x long", "y decimal(5,1)")
    assert placed_type(data, TABLE, keeps_types=False) == named


@EVERYWHERE
def test_more_fields_stay_behind_and_fewer_are_refused(wrap: Wrap) -> None:
    more = wrap(simple_schema("a integer", "b integer", "c string not null"))
    fewer = wrap(simple_schema("a integer"))

    assert placed_type(more, wrap(TABLE), keeps_types=False) == wrap(
        simple_schema("x integer", "y integer", "c string")
    )
    assert placed_type(fewer, wrap(TABLE), keeps_types=False) is None


def test_null_has_the_type_of_its_place() -> None:
    data = StructType((StructField("a", VOID), *simple_schema("b integer").fields))

    assert placed_type(data, TABLE, keeps_types=True) == TABLE
