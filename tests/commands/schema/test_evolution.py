"""The schema of a table after a write."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from truckee.commands.schema.evolution import (
    can_store,
    lacks_fields,
    merged_schema,
    stored_schema,
)
from truckee.errors.commands.write import (
    MissingNotNullColumnError,
    SchemaMismatchError,
    TypeMismatchError,
)
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    parse_type,
)
from values import simple_schema

TABLE = simple_schema("id long", "name string", "day date")


def merged(table: StructType, data: StructType, *, add_columns: bool = False) -> StructType:
    return merged_schema(table, data, add_columns=add_columns, name="/t")


def test_data_with_the_same_columns_leaves_the_schema_alone() -> None:
    assert merged(TABLE, simple_schema("day date", "ID long", "Name string")) == TABLE


def test_columns_that_the_data_lacks_are_no_difference() -> None:
    assert merged(TABLE, simple_schema("id long")) == TABLE


def test_a_new_column_goes_behind_the_others_if_asked_for() -> None:
    data = simple_schema("extra double not null", "id long")

    schema = merged(TABLE, data, add_columns=True)

    assert schema == StructType((*TABLE.fields, StructField("extra", PrimitiveType("double"))))


def test_new_fields_are_added_at_every_depth() -> None:
    def nested(*inner: str) -> StructType:
        struct = simple_schema(*inner)
        return StructType(
            (
                StructField("s", struct),
                StructField("l", ArrayType(struct)),
                StructField("m", MapType(PrimitiveType("string"), struct)),
            )
        )

    schema = merged(nested("x long"), nested("y long", "X integer"), add_columns=True)

    assert schema == nested("x long", "y long")


@pytest.mark.parametrize(
    ("data", "table"),
    [
        ("double", "long"),
        ("float", "decimal(10,2)"),
        ("decimal(10,2)", "integer"),
        ("decimal(10,4)", "decimal(12,2)"),
        ("timestamp", "date"),
        ("timestamp_ntz", "date"),
        ("integer", "variant"),
        ("variant", "string"),
    ],
)
def test_what_would_be_cut_off_is_refused_unless_the_write_cuts_it_off(
    data: str, table: str
) -> None:
    one, other = (simple_schema(f"v {of}") for of in (table, data))

    with pytest.raises(TypeMismatchError, match="types differ"):
        merged_schema(one, other, add_columns=True, name="/t", cuts_off=False)

    assert merged(one, other) == one


@pytest.mark.parametrize(
    ("data", "table"),
    [
        ("long", "integer"),
        ("integer", "double"),
        ("double", "float"),
        ("decimal(12,2)", "decimal(10,4)"),
        ("decimal(10,4)", "double"),
        ("date", "timestamp"),
        ("timestamp", "string"),
        ("date", "date"),
    ],
)
def test_what_keeps_fractions_and_times_of_day_is_cast(data: str, table: str) -> None:
    one, other = (simple_schema(f"v {of}") for of in (table, data))

    assert merged_schema(one, other, add_columns=False, name="/t", cuts_off=False) == one


def test_a_misspelt_column_is_shown_with_the_one_that_was_meant() -> None:
    table = simple_schema("id long", "customer_name string", "amount double")

    with pytest.raises(SchemaMismatchError) as caught:
        merged(table, simple_schema("id long", "custmer_name string", "day date"))

    assert [each.problem for each in caught.value.differences] == [
        "not in the table; did you mean customer_name?",
        "not in the table",
    ]


def test_all_differences_are_shown_at_once() -> None:
    data = StructType(
        (
            *simple_schema("id string", "extra integer").fields,
            StructField("day", simple_schema("x long")),
        )
    )

    with pytest.raises(SchemaMismatchError) as caught:
        merged(TABLE, data)

    assert caught.value.sentence() == (
        "Failed to merge fields of the data with those of the Delta table /t\n"
        "\n"
        "  column  in the table  in the data\n"
        "  id      bigint        string            types differ\n"
        "  day     date          struct<x:bigint>  types differ\n"
        "  extra   -             int               not in the table\n"
        "\n"
        "hint: cast the columns whose types differ, or replace the table and its schema with "
        'mode("overwrite") and option("overwriteSchema", "true"); add the columns that are not in '
        'the table with option("mergeSchema", "true")'
    )


def test_a_column_that_may_not_be_null_cannot_be_left_out() -> None:
    table = simple_schema("id long not null", "name string")

    with pytest.raises(MissingNotNullColumnError) as caught:
        merged(table, simple_schema("name string"))

    assert caught.value.sentence() == (
        "column id of the table /t is NOT NULL, but is not in the data\n"
        "hint: add column id to the data"
    )


def test_a_not_null_column_with_a_default_can_be_left_out() -> None:
    field = StructField("id", PrimitiveType("long"), False, {"CURRENT_DEFAULT": "7"})
    table = StructType((field, *simple_schema("name string").fields))

    assert merged(table, simple_schema("name string")) == table


@pytest.mark.parametrize(
    ("data", "table"),
    [
        ("integer", "long"),
        ("long", "byte"),
        ("decimal(10,2)", "double"),
        ("double", "decimal(10,2)"),
        ("date", "timestamp"),
        ("timestamp", "date"),
        ("timestamp", "timestamp_ntz"),
        ("integer", "string"),
        ("boolean", "string"),
        ("binary", "string"),
        ("void", "binary"),
        ("decimal(10,2)", "variant"),
        ("variant", "date"),
        ("void", "variant"),
    ],
)
def test_types_that_insert_would_cast_can_be_stored(data: str, table: str) -> None:
    assert can_store(parse_type(data), parse_type(table))


@pytest.mark.parametrize(
    ("data", "table"),
    [
        ("string", "integer"),
        ("string", "date"),
        ("boolean", "integer"),
        ("integer", "boolean"),
        ("date", "long"),
        ("string", "binary"),
        ("integer", "timestamp"),
    ],
)
def test_types_that_insert_would_not_cast_cannot_be_stored(data: str, table: str) -> None:
    assert not can_store(parse_type(data), parse_type(table))


def test_structs_and_maps_do_not_become_variants_and_arrays_do() -> None:
    variant = PrimitiveType("variant")
    long = PrimitiveType("long")

    assert can_store(ArrayType(long), variant)
    assert not can_store(StructType((StructField("a", long),)), variant)
    assert not can_store(ArrayType(MapType(long, long)), variant)


def test_nothing_inside_of_a_struct_becomes_a_variant() -> None:
    table, data = (
        StructType((StructField("s", simple_schema(f"v {kind}")),)) for kind in ("variant", "long")
    )

    with pytest.raises(TypeMismatchError, match=r"s\.v"):
        merged(table, data)


def test_a_void_column_takes_the_type_of_the_first_data() -> None:
    table = simple_schema("id long", "x void")

    assert merged(table, simple_schema("x string"), add_columns=True) == simple_schema(
        "id long", "x string"
    )


def test_a_table_made_from_data_keeps_comments_and_forgets_what_other_tables_noted() -> None:
    metadata = {
        "comment": "the id",
        "delta.columnMapping.id": 4,
        "delta.generationExpression": "1",
        "CURRENT_DEFAULT": "2",
        "parquet.field.id": 4,
        "__CHAR_VARCHAR_TYPE_STRING": "varchar(3)",
        "__autoGeneratedAlias": True,
    }
    data = StructType(
        (StructField("id", ArrayType(PrimitiveType("string"), False), False, metadata),)
    )

    kept = {"comment": "the id", "__CHAR_VARCHAR_TYPE_STRING": "varchar(3)"}
    assert stored_schema(data) == StructType(
        (StructField("id", ArrayType(PrimitiveType("string"), True), True, kept),)
    )


def test_defaults_of_data_go_into_tables_that_have_defaults() -> None:
    default = {"CURRENT_DEFAULT": "8", "EXISTS_DEFAULT": "8"}
    data = StructType((StructField("n", PrimitiveType("long"), True, default),))

    assert stored_schema(data, has_defaults=True).fields[0].metadata == {"CURRENT_DEFAULT": "8"}
    assert stored_schema(data).fields[0].metadata == {}


@pytest.mark.parametrize(
    ("old", "new", "result"),
    [
        ("byte", "long", "long"),
        ("float", "double", "double"),
        ("decimal(10,2)", "decimal(12,2)", "decimal(12,2)"),
        ("date", "timestamp_ntz", "timestamp_ntz"),
        ("long", "integer", "long"),
        ("integer", "double", "double"),
        ("integer", "float", "integer"),
        ("long", "decimal(25,2)", "decimal(25,2)"),
        ("integer", "decimal(12,3)", "integer"),
        ("decimal(10,2)", "decimal(10,3)", "decimal(10,2)"),
    ],
)
def test_columns_become_wider_where_the_table_lets_them(old: str, new: str, result: str) -> None:
    table, data = simple_schema(f"c {old}"), simple_schema(f"c {new}")

    def type_after(*, widening: bool) -> object:
        schema = merged_schema(table, data, add_columns=True, name="/t", widening=widening)
        return schema.fields[0].type

    assert type_after(widening=True) == parse_type(result)
    assert type_after(widening=False) == parse_type(old)


@pytest.mark.parametrize(
    "wrap",
    [
        lambda inner: inner,
        lambda inner: ArrayType(inner),
        lambda inner: MapType(inner, PrimitiveType("string")),
        lambda inner: MapType(PrimitiveType("string"), inner),
        lambda inner: simple_schema("id long", StructField("s", inner)),
    ],
    ids=["struct", "element", "key", "value", "nested"],
)
def test_a_struct_lacks_the_fields_that_only_the_table_has(
    wrap: Callable[[DataType], DataType],
) -> None:
    one, both = simple_schema("a long"), simple_schema("b long", "A long")

    assert lacks_fields(wrap(one), wrap(both))
    assert not lacks_fields(wrap(both), wrap(one))


def test_elements_become_wider_as_columns_do() -> None:
    integer, long = PrimitiveType("integer"), PrimitiveType("long")
    table = StructType((StructField("l", ArrayType(integer)),))
    data = StructType((StructField("l", ArrayType(long)),))

    schema = merged_schema(table, data, add_columns=True, name="/t", widening=True)

    note = {"fromType": "integer", "toType": "long", "fieldPath": "element"}
    assert schema == StructType(
        (StructField("l", ArrayType(long), metadata={"delta.typeChanges": [note]}),)
    )


@pytest.mark.parametrize("is_overwrite", [False, True])
def test_an_overwrite_may_replace_the_columns(is_overwrite: bool) -> None:
    with pytest.raises(SchemaMismatchError) as caught:
        merged_schema(
            simple_schema("id long"),
            simple_schema("other long"),
            add_columns=False,
            name="/t",
            is_overwrite=is_overwrite,
        )

    also = ', or replace all columns with option("overwriteSchema", "true")' * is_overwrite
    assert caught.value.hint == (
        f'add the columns that are not in the table with option("mergeSchema", "true"){also}'
    )
