"""Edits of a schema."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec.structs import replace

from truckee.commands.schema.edits import (
    changed_column,
    column_at,
    moved_column,
    with_column,
    with_type,
    without_column,
)
from truckee.errors.commands.alter import (
    ColumnChangeError,
    ColumnExistsError,
    ColumnNotFoundError,
    OnlyColumnDropError,
)
from truckee.protocol.schema import (
    ArrayType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    parse_type,
    type_text,
)
from values import simple_schema

SCHEMA = StructType(
    (
        *simple_schema("id long", "name string").fields,
        StructField("s", simple_schema("x long", "y long")),
        StructField("l", ArrayType(simple_schema("x long"))),
        StructField("m", MapType(simple_schema("k long"), simple_schema("v long"))),
    )
)
NEW = StructField("new", PrimitiveType("date"))


@pytest.mark.parametrize(
    ("path", "position", "expected"),
    [
        (("new",), None, "id,name,s,l,m,new"),
        (("new",), "first", "new,id,name,s,l,m"),
        (("new",), "AFTER Id", "id,new,name,s,l,m"),
    ],
)
def test_a_column_is_added_where_it_was_asked_for(
    path: tuple[str, ...], position: str | None, expected: str
) -> None:
    assert ",".join(with_column(SCHEMA, path, NEW, position).names) == expected


@pytest.mark.parametrize(
    ("path", "column", "expected"),
    [
        (("S", "new"), "s", "struct<x:bigint,y:bigint,new:date>"),
        (("l", "element", "new"), "l", "array<struct<x:bigint,new:date>>"),
        (("m", "key", "new"), "m", "map<struct<k:bigint,new:date>,struct<v:bigint>>"),
        (("m", "value", "new"), "m", "map<struct<k:bigint>,struct<v:bigint,new:date>>"),
    ],
)
def test_a_field_is_added_inside_a_column(
    path: tuple[str, ...], column: str, expected: str
) -> None:
    field = with_column(SCHEMA, path, NEW).field(column)

    assert field is not None
    assert type_text(field.type) == expected


def test_a_name_that_is_taken_is_refused() -> None:
    with pytest.raises(ColumnExistsError) as caught:
        with_column(SCHEMA, ("s", "X"), replace(NEW, name="X"))

    assert caught.value.sentence() == (
        "the table already has a column s.X\n"
        "hint: choose another name; names are not case-sensitive"
    )


@pytest.mark.parametrize("path", [("nope", "new"), ("id", "new"), ("l", "new"), ("s", "q", "new")])
def test_there_must_be_a_struct_around_a_new_field(path: tuple[str, ...]) -> None:
    with pytest.raises(ColumnNotFoundError) as caught:
        with_column(SCHEMA, path, NEW)

    assert caught.value.sentence() == (
        f"the table has no column {'.'.join(path)}; it has [id, name, s, l, m]\n"
        "hint: name one of these, or a field of a struct as s.x"
    )


def test_a_position_beside_no_column_is_refused() -> None:
    with pytest.raises(ColumnChangeError) as caught:
        moved_column(SCHEMA, ("id",), "after nope")

    assert caught.value.sentence() == (
        "column id cannot be changed: there is no position 'after nope'\n"
        "hint: say 'first', or 'after' and the name of another column of the same struct"
    )


def test_a_column_is_renamed_moved_and_dropped() -> None:
    renamed = changed_column(SCHEMA, ("s", "x"), lambda field: replace(field, name="z"))
    moved = moved_column(renamed, ("S",), "first")
    dropped = without_column(moved, ("name",))

    assert dropped.names == ("s", "id", "l", "m")
    assert dropped.fields[0].type == simple_schema("z long", "y long")


def test_a_rename_to_another_columns_name_is_refused() -> None:
    with pytest.raises(ColumnExistsError):
        changed_column(SCHEMA, ("s", "x"), lambda field: replace(field, name="Y"))


def test_a_rename_may_change_case_only() -> None:
    renamed = changed_column(SCHEMA, ("id",), lambda field: replace(field, name="ID"))

    assert renamed.names[0] == "ID"


def test_the_last_field_stays() -> None:
    with pytest.raises(OnlyColumnDropError) as caught:
        without_column(SCHEMA, ("l", "element", "x"))

    assert caught.value.sentence() == (
        "column l.element.x cannot be changed: it is the only one that is left\n"
        "hint: drop the whole struct, or the table"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("byte", "short"),
        ("short", "integer"),
        ("integer", "long"),
        ("float", "double"),
        ("integer", "decimal(10,0)"),
        ("long", "decimal(22,2)"),
        ("decimal(10,2)", "decimal(12,3)"),
        ("date", "timestamp_ntz"),
    ],
)
def test_wider_types_are_noted(old: str, new: str) -> None:
    field = StructField("c", parse_type(old))

    changed = with_type(field, parse_type(new), widening=True)

    note = [{"fromType": old, "toType": new}]
    assert changed == StructField("c", parse_type(new), metadata={"delta.typeChanges": note})


@pytest.mark.parametrize(("old", "new"), [("byte", "short"), ("short", "integer")])
def test_types_that_files_hold_alike_need_no_type_widening(old: str, new: str) -> None:
    changed = with_type(StructField("c", parse_type(old)), parse_type(new), widening=False)

    assert changed == StructField("c", parse_type(new))


def test_elements_keys_and_values_are_noted_with_their_column() -> None:
    integer, long = parse_type("integer"), parse_type("long")
    holds = MapType(integer, ArrayType(integer))
    schema = StructType((StructField("s", StructType((StructField("m", holds),))),))

    def widen(field: StructField) -> StructField:
        return with_type(field, long, widening=True)

    once = changed_column(schema, ("s", "m", "key"), widen)
    twice = changed_column(once, ("S", "M", "VALUE", "ELEMENT"), widen)

    column = column_at(twice, ("s", "m"))
    assert column is not None
    assert column.type == MapType(long, ArrayType(long))
    assert column.metadata["delta.typeChanges"] == [
        {"fromType": "integer", "toType": "long", "fieldPath": "key"},
        {"fromType": "integer", "toType": "long", "fieldPath": "value.element"},
    ]
    assert column_at(twice, ("s", "m", "key")) == StructField("key", long)


@pytest.mark.parametrize(
    "change",
    [{"name": "x"}, {"nullable": False}, {"metadata": {"comment": "what it is"}}],
)
def test_elements_have_only_a_type(change: dict[str, Any]) -> None:
    schema = StructType((StructField("l", ArrayType(parse_type("integer"))),))

    with pytest.raises(ColumnChangeError) as caught:
        changed_column(schema, ("l", "element"), lambda field: replace(field, **change))

    assert caught.value.sentence() == (
        "column l.element cannot be changed: elements of arrays, and keys and values of maps, have "
        "only a type\nhint: change l instead"
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("long", "integer"),
        ("integer", "decimal(9,0)"),
        ("decimal(10,2)", "decimal(10,3)"),
        ("string", "long"),
    ],
)
def test_other_types_are_refused(old: str, new: str) -> None:
    with pytest.raises(ColumnChangeError) as caught:
        with_type(StructField("c", parse_type(old)), parse_type(new), widening=True)

    shown = [type_text(parse_type(name)) for name in (old, new)]
    assert caught.value.sentence() == (
        f"column c cannot be changed: {shown[0]} cannot become {shown[1]}\n"
        "hint: set the table property 'delta.enableTypeWidening' to 'true' for a wider type; for "
        "any other, rewrite the table with overwriteSchema"
    )


def test_a_wider_type_needs_the_feature() -> None:
    with pytest.raises(ColumnChangeError):
        with_type(StructField("c", parse_type("integer")), parse_type("long"), widening=False)
