"""Ids and physical names of columns."""

from __future__ import annotations

import re

from truckee.commands.schema.column_mapping import with_column_mapping, without_column_mapping
from truckee.commands.table_plan import new_metadata
from truckee.protocol.schema import ArrayType, StructField, StructType, nested_fields, parse_schema
from values import simple_schema

SCHEMA = StructType(
    (
        *simple_schema("id long").fields,
        StructField("s", simple_schema("x long", "y string")),
        StructField("l", ArrayType(simple_schema("z date"))),
    )
)
NAME = {"delta.columnMapping.mode": "name"}


def marks(schema: StructType) -> list[tuple[str, int | None, str]]:
    return [
        (".".join(chain.path), chain.field.column_id, chain.field.physical_name)
        for chain in nested_fields(schema)
        if chain.path[-1] != "element"
    ]


def test_without_column_mapping_nothing_changes() -> None:
    metadata = new_metadata(SCHEMA)

    assert with_column_mapping(metadata) is metadata


def test_a_new_table_gets_names_that_say_nothing() -> None:
    metadata = with_column_mapping(new_metadata(SCHEMA, configuration=NAME))

    found = marks(parse_schema(metadata.schema_string))
    assert [(path, number) for path, number, _ in found] == [
        ("id", 1),
        ("s", 2),
        ("s.x", 3),
        ("s.y", 4),
        ("l", 5),
        ("l.element.z", 6),
    ]
    assert all(re.fullmatch(r"col-[0-9a-f-]{36}", name) for _, _, name in found)
    assert len({name for _, _, name in found}) == 6
    assert metadata.configuration["delta.columnMapping.maxColumnId"] == "6"


def test_a_table_that_has_files_keeps_the_names_they_have() -> None:
    metadata = with_column_mapping(new_metadata(SCHEMA, configuration=NAME), keep_names=True)

    assert marks(parse_schema(metadata.schema_string))[:3] == [
        ("id", 1, "id"),
        ("s", 2, "s"),
        ("s.x", 3, "x"),
    ]


def test_columns_that_have_an_id_keep_it_and_new_ones_get_the_next() -> None:
    metadata = with_column_mapping(new_metadata(SCHEMA, configuration=NAME), keep_names=True)
    grown = StructType(
        (*parse_schema(metadata.schema_string).fields, *simple_schema("n long").fields)
    )
    metadata = new_metadata(
        grown, configuration={**metadata.configuration, "delta.columnMapping.maxColumnId": "40"}
    )

    again = with_column_mapping(metadata)

    assert marks(parse_schema(again.schema_string))[0] == ("id", 1, "id")
    assert marks(parse_schema(again.schema_string))[-1][:2] == ("n", 41)
    assert again.configuration["delta.columnMapping.maxColumnId"] == "41"


def test_ids_and_names_can_be_forgotten() -> None:
    metadata = with_column_mapping(new_metadata(SCHEMA, configuration=NAME))

    assert without_column_mapping(parse_schema(metadata.schema_string)) == SCHEMA


def test_a_table_that_replaces_another_keeps_the_marks_of_columns_that_stay() -> None:
    old = with_column_mapping(new_metadata(SCHEMA, configuration=NAME))
    changed = StructType(
        (
            *simple_schema("id long").fields,
            StructField("s", simple_schema("x long", "new string")),
            *simple_schema("l long").fields,
        )
    )

    new = with_column_mapping(new_metadata(changed, configuration=NAME), replaced=old)

    before = {path: (number, name) for path, number, name in marks(parse_schema(old.schema_string))}
    after = {path: (number, name) for path, number, name in marks(parse_schema(new.schema_string))}
    assert after["id"] == before["id"]
    assert after["s.x"] == before["s.x"]
    assert [after[path][0] for path in ("s", "s.new", "l")] == [7, 8, 9]
    assert not {after[path][1] for path in ("s", "s.new", "l")} & {n for _, n in before.values()}
    assert new.configuration["delta.columnMapping.maxColumnId"] == "9"


def test_under_another_mode_all_columns_get_new_marks() -> None:
    old = with_column_mapping(new_metadata(simple_schema("id long"), configuration=NAME))
    by_id = {"delta.columnMapping.mode": "id"}

    new = with_column_mapping(
        new_metadata(simple_schema("id long"), configuration=by_id), replaced=old
    )

    ((_, number, name),) = marks(parse_schema(new.schema_string))
    assert number == 2
    assert name != marks(parse_schema(old.schema_string))[0][2]
