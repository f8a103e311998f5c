from __future__ import annotations

import pytest

from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    parse_type,
)
from truckee.protocol.schema_compatibility import (
    ColumnMappingChange,
    MappedSchema,
    can_read,
    column_mapping_change,
)
from values import simple_schema

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")


def test_a_reader_may_have_more_columns_than_older_data() -> None:
    assert can_read(simple_schema("id long", "x string"), simple_schema("id long"))
    assert not can_read(simple_schema("id long"), simple_schema("id long", "x string"))


def test_newer_data_may_have_more_columns_than_the_reader() -> None:
    reader, data = simple_schema("id long"), simple_schema("id long", "x string")

    assert can_read(reader, data, data_is_newer=True)
    assert not can_read(data, reader, data_is_newer=True)


def test_a_reader_may_have_wider_types_where_that_is_allowed() -> None:
    reader, data = simple_schema("id long", "d double"), simple_schema("id integer", "d float")

    assert can_read(reader, data, widening=True)
    assert not can_read(reader, data)
    assert not can_read(data, reader, widening=True)
    assert can_read(
        StructType((StructField("l", ArrayType(reader)),)),
        StructType((StructField("l", ArrayType(data)),)),
        widening=True,
    )


@pytest.mark.parametrize("data_is_newer", [False, True])
@pytest.mark.parametrize(
    ("reader", "data"),
    [
        ("id long", "id integer"),
        ("id long", "ID long"),
        ("d decimal(12,2)", "d decimal(10,2)"),
        ("id long not null", "id long"),
    ],
)
def test_other_types_names_and_stricter_readers_are_not_compatible(
    reader: str, data: str, data_is_newer: bool
) -> None:
    assert not can_read(simple_schema(reader), simple_schema(data), data_is_newer=data_is_newer)


@pytest.mark.parametrize("data_is_newer", [False, True])
def test_a_reader_that_allows_more_nulls_than_the_data_is_compatible(data_is_newer: bool) -> None:
    assert can_read(
        simple_schema("id long"), simple_schema("id long not null"), data_is_newer=data_is_newer
    )


def _column(data_type: DataType) -> StructType:
    return StructType((StructField("c", data_type),))


@pytest.mark.parametrize(
    ("nullable", "strict"),
    [
        (ArrayType(LONG, True), ArrayType(LONG, False)),
        (MapType(STRING, LONG, True), MapType(STRING, LONG, False)),
        (simple_schema("x long"), simple_schema("x long not null")),
        (ArrayType(simple_schema("x long")), ArrayType(simple_schema("x long not null"))),
    ],
)
def test_nulls_are_compared_at_every_depth(nullable: DataType, strict: DataType) -> None:
    assert can_read(_column(nullable), _column(strict))
    assert not can_read(_column(strict), _column(nullable))


def test_columns_may_be_added_at_every_depth() -> None:
    older, newer = simple_schema("x long"), simple_schema("x long", "y long")

    for wrap in (ArrayType, lambda inner: MapType(STRING, inner), lambda inner: inner):
        assert can_read(_column(wrap(newer)), _column(wrap(older)))
        assert not can_read(_column(wrap(older)), _column(wrap(newer)))


def test_a_void_column_may_become_any_type_but_not_the_other_way() -> None:
    void, array = _column(parse_type("void")), _column(ArrayType(LONG))

    assert can_read(array, void)
    assert not can_read(void, array)
    assert can_read(void, array, data_is_newer=True)


def mapped(*columns: tuple[str, str], mode: str = "name", by: tuple[str, ...] = ()) -> MappedSchema:
    fields = (
        StructField(name, LONG, metadata={"delta.columnMapping.physicalName": physical})
        for name, physical in columns
    )
    return MappedSchema(StructType(tuple(fields)), by, mode)


def test_a_column_that_was_added_is_no_change() -> None:
    old, new = mapped(("id", "c1")), mapped(("id", "c1"), ("x", "c2"))

    assert column_mapping_change(old, new) is None


def test_a_new_name_for_a_physical_column_is_a_rename() -> None:
    old, new = mapped(("id", "c1"), ("v", "c2")), mapped(("id", "c1"), ("value", "c2"))

    assert column_mapping_change(old, new) == (ColumnMappingChange.RENAMED, "v")


def test_a_physical_column_that_is_gone_is_a_drop_even_if_its_name_lives_on() -> None:
    old, new = mapped(("id", "c1"), ("v", "c2")), mapped(("id", "c1"), ("v", "c3"))

    assert column_mapping_change(old, new) == (ColumnMappingChange.DROPPED, "v")


def test_a_rename_within_a_struct_is_found() -> None:
    def nested(name: str) -> MappedSchema:
        inner = mapped((name, "c2")).schema
        metadata = {"delta.columnMapping.physicalName": "c1"}
        return MappedSchema(
            StructType((StructField("a", ArrayType(inner), metadata=metadata),)), (), "name"
        )

    assert column_mapping_change(nested("x"), nested("y")) == (
        ColumnMappingChange.RENAMED,
        "a.element.x",
    )


def test_another_partitioning_is_a_change_where_both_sides_are_mapped() -> None:
    columns = (("id", "c1"), ("p", "c2"))

    assert column_mapping_change(mapped(*columns), mapped(*columns, by=("p",))) == (
        ColumnMappingChange.REPARTITIONED,
        "",
    )


def test_switching_column_mapping_on_keeps_columns_and_off_does_not() -> None:
    plain = MappedSchema(simple_schema("id long", "v long"))
    upgraded = mapped(("id", "id"), ("v", "v"))

    assert column_mapping_change(plain, upgraded) is None
    assert column_mapping_change(upgraded, plain) == (ColumnMappingChange.UNMAPPED, "the table")
    assert column_mapping_change(plain, mapped(("id", "id"), ("w", "v"))) == (
        ColumnMappingChange.RENAMED,
        "v",
    )


def test_without_column_mapping_nothing_is_found() -> None:
    old = MappedSchema(simple_schema("id long", "v long"))
    new = MappedSchema(simple_schema("id long"), ("id",))

    assert column_mapping_change(old, new) is None
