from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from corpus import CorpusTable, corpus_tables
from truckee.errors import DuplicateColumnsError, InvalidSchemaError
from truckee.protocol.schema import (
    ArrayType,
    DataType,
    DecimalType,
    MapType,
    PrimitiveType,
    StructField,
    StructType,
    UserDefinedType,
    check_distinct_names,
    find_column,
    leaf_columns,
    nested_fields,
    parse_schema,
    parse_type,
    physical_schema,
    type_text,
)
from values import simple_schema

LONG, STRING = PrimitiveType("long"), PrimitiveType("string")


def mapped(name: str, data_type: DataType, number: int) -> StructField:
    metadata = {
        "delta.columnMapping.id": number,
        "delta.columnMapping.physicalName": f"col-{number}",
    }
    return StructField(name, data_type, metadata=metadata)


def test_the_text_is_the_one_that_spark_writes() -> None:
    text = (
        '{"type":"struct","fields":['
        '{"name":"id","type":"long","nullable":false,"metadata":{}},'
        '{"name":"d","type":"decimal(10,2)","nullable":true,"metadata":{"comment":"é"}},'
        '{"name":"a","type":{"type":"array","elementType":"string","containsNull":true},'
        '"nullable":true,"metadata":{}},'
        '{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"struct",'
        '"fields":[{"name":"x","type":"timestamp_ntz","nullable":true,"metadata":{}}]},'
        '"valueContainsNull":false},"nullable":true,"metadata":{}}]}'
    )

    schema = parse_schema(text)

    assert schema.to_json() == text
    assert schema.fields[1].type == DecimalType(10, 2)
    assert type_text(schema) == (
        "struct<id:bigint,d:decimal(10,2),a:array<string>,m:map<string,struct<x:timestamp_ntz>>>"
    )


@pytest.mark.parametrize(
    "name", ["variant", "void", "interval day to second", "geometry(OGC:CRS84)", "char(3)", "new"]
)
def test_types_that_are_named_by_a_word_stay_that_word(name: str) -> None:
    schema = simple_schema(StructField("c", PrimitiveType(name)))

    assert parse_schema(schema.to_json()) == schema


def test_a_decimal_without_digits_is_spark_s_default() -> None:
    assert parse_type("decimal") == DecimalType(10, 0)
    assert parse_type("decimal(38, 18)") == DecimalType(38, 18)


def test_char_and_varchar_are_strings_with_a_note() -> None:
    field = StructField("c", STRING, metadata={"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"})

    assert field.char_varchar_type == "varchar(5)"
    assert StructField("c", STRING).char_varchar_type is None


def test_a_user_defined_type_is_read_as_what_it_is_made_of() -> None:
    udt = {"type": "udt", "class": "org.example.Point", "sqlType": "double"}
    column = {"name": "p", "type": udt, "nullable": True, "metadata": {}}
    text = json.dumps({"type": "struct", "fields": [column]})

    schema = parse_schema(text)

    assert json.loads(schema.to_json()) == json.loads(text)
    assert isinstance(schema.fields[0].type, UserDefinedType)
    assert physical_schema(schema, "none") == simple_schema("p double")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"type":"struct"', "Input data was truncated"),
        ('"long"', "its top level is not a struct"),
        (
            '{"type":"array","elementType":"long","containsNull":true}',
            "its top level is not a struct",
        ),
        ('{"type":"set"}', "type 'set' is not one of struct, array, map and udt"),
    ],
)
def test_what_is_no_schema_is_refused(text: str, why: str) -> None:
    with pytest.raises(InvalidSchemaError) as caught:
        parse_schema(text)

    assert caught.value.sentence() == (
        f"the table's schema cannot be read from {text!r}: {why}\n"
        "hint: restore the commit or checkpoint that holds this metaData action"
    )


def test_a_column_is_found_in_any_case_but_exactly_if_it_can_be() -> None:
    schema = simple_schema("Id long", "id string", "x long")

    assert schema.field("id") == StructField("id", STRING)
    assert schema.field("ID") == StructField("Id", LONG)
    assert schema.field("y") is None


def test_a_nested_column_is_found_by_its_path() -> None:
    inner = StructType((mapped("X", LONG, 2),))
    schema = StructType((mapped("s", inner, 1),))

    chain = find_column(schema, ["S", "x"])

    assert chain is not None
    assert (chain.path, chain.physical_path) == (("s", "X"), ("col-1", "col-2"))
    assert find_column(schema, ["s", "x", "y"]) is None


def test_leaves_are_what_is_left_when_structs_are_flattened() -> None:
    inner = simple_schema("x long", "y string")
    schema = StructType(
        (StructField("a", ArrayType(inner)), StructField("s", inner), StructField("z", LONG))
    )

    assert [chain.path for chain in leaf_columns(schema)] == [
        ("a",),
        ("s", "x"),
        ("s", "y"),
        ("z",),
    ]


def test_nested_fields_go_into_arrays_and_maps() -> None:
    schema = StructType(
        (
            StructField("a", ArrayType(simple_schema("x long"))),
            StructField("m", MapType(STRING, ArrayType(LONG))),
        )
    )

    assert [".".join(chain.path) for chain in nested_fields(schema)] == [
        "a",
        "a.element",
        "a.element.x",
        "m",
        "m.key",
        "m.value",
        "m.value.element",
    ]


def test_the_physical_schema_bears_physical_names_and_ids_at_every_depth() -> None:
    inner = StructType((mapped("x", LONG, 2),))
    schema = StructType((mapped("a", ArrayType(inner), 1),))

    physical = physical_schema(schema, "name")

    x = StructField("col-2", LONG, metadata={"parquet.field.id": 2})
    a = StructField("col-1", ArrayType(StructType((x,))), metadata={"parquet.field.id": 1})
    assert physical == StructType((a,))
    assert physical_schema(schema, "none") == StructType(
        (StructField("a", ArrayType(simple_schema("x long"))),)
    )


def test_names_that_differ_in_case_at_most_are_refused_at_every_depth() -> None:
    check_distinct_names(StructType((StructField("s", simple_schema("a long")), *LEAVES)))
    schema = StructType((StructField("s", simple_schema("a long", "A string")),))

    with pytest.raises(DuplicateColumnsError) as caught:
        check_distinct_names(schema)

    assert caught.value.sentence() == (
        "column s.A is found more than once in the schema, ignoring case\n"
        "hint: rename one of the columns"
    )


LEAVES = simple_schema("a long", "b string").fields

names = st.text(min_size=1, max_size=5)
metadata = st.dictionaries(
    names, st.none() | st.booleans() | st.integers(-(1 << 62), 1 << 62) | st.text(), max_size=2
)
atoms = st.sampled_from(
    ["string", "long", "date", "timestamp", "timestamp_ntz", "variant", "decimal(12,3)", "binary"]
).map(parse_type)


def _structs(types: st.SearchStrategy[DataType]) -> st.SearchStrategy[StructType]:
    fields = st.builds(StructField, names, types, st.booleans(), metadata)
    return st.lists(fields, max_size=3).map(lambda found: StructType(tuple(found)))


types: st.SearchStrategy[Any] = st.recursive(
    atoms,
    lambda inner: (
        st.builds(ArrayType, inner, st.booleans())
        | st.builds(MapType, inner, inner, st.booleans())
        | _structs(inner)
    ),
    max_leaves=8,
)


@pytest.mark.property
@given(_structs(types))
def test_parsing_undoes_writing(schema: StructType) -> None:
    assert parse_schema(schema.to_json()) == schema


def _schema_strings(table: CorpusTable) -> Iterator[str]:
    for commit in sorted(table.path.glob("_delta_log/*.json")):
        for line in commit.read_text(encoding="utf-8").splitlines():
            try:
                action = json.loads(line)
            except json.JSONDecodeError:
                continue
            metadata = isinstance(action, dict) and action.get("metaData")
            if metadata and metadata.get("schemaString"):
                yield metadata["schemaString"]


@pytest.mark.golden
@pytest.mark.parametrize("table", corpus_tables(), ids=str)
def test_every_schema_of_the_corpus_comes_back_as_it_was(table: CorpusTable) -> None:
    for text in _schema_strings(table):
        assert json.loads(parse_schema(text).to_json()) == json.loads(text)
