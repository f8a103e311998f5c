"""What a table is, parsed once and carried as one value."""

from __future__ import annotations

import pickle
from pathlib import Path

from msgspec.structs import replace

import truckee
from builders import history
from staging import configuration, metadata
from truckee.protocol import column_metadata
from truckee.protocol.actions import Protocol
from truckee.protocol.table_configuration import TableConfiguration
from values import simple_schema

SCHEMA = simple_schema("Day date", "id long")


def test_a_snapshot_parses_its_configuration_once() -> None:
    snapshot = history().add("a").snapshot()

    assert snapshot.configuration is snapshot.configuration
    assert snapshot.configuration.schema is snapshot.schema
    assert snapshot.configuration.properties is snapshot.properties
    assert "deletionVectors" in snapshot.configuration.features


def test_partition_fields_are_found_in_any_case_and_named_as_files_name_them() -> None:
    table = configuration(SCHEMA, ["day"])

    assert [field.name for field in table.partition_fields] == ["Day"]
    assert table.stored_name(table.partition_fields[0]) == "Day"


def test_a_commit_changes_only_what_it_names() -> None:
    table = configuration(SCHEMA)
    newer = Protocol(min_reader_version=1, min_writer_version=4)

    assert table.after(None, None) is table
    assert table.after(None, newer).metadata is table.metadata
    assert "changeDataFeed" in table.after(None, newer).features
    assert table.after(metadata("x long"), None).schema == simple_schema("x long")
    assert table.with_schema(simple_schema("y long")).schema == simple_schema("y long")


def test_metadata_without_a_schema_has_no_columns_yet() -> None:
    table = configuration(SCHEMA)
    empty = TableConfiguration(replace(table.metadata, schema_string=None), table.protocol)

    assert not empty.has_schema
    assert empty.schema.fields == ()


def test_it_travels_without_what_was_parsed() -> None:
    table = configuration(SCHEMA, ["Day"], mode="name")
    size = len(pickle.dumps(table))

    assert table.schema.names == ("Day", "id")
    assert table.column_mapping_mode == "name"
    assert len(pickle.dumps(table)) == size
    assert pickle.loads(pickle.dumps(table)) == table


def test_keys_of_column_metadata_are_spelled_in_one_module() -> None:
    keys = [value for name, value in vars(column_metadata).items() if name.endswith("_KEY")]
    home = Path(column_metadata.__file__)
    others = [path for path in Path(truckee.__file__).parent.rglob("*.py") if path != home]

    retyped = [
        (path.name, key)
        for path in others
        for key in keys
        if key != column_metadata.COMMENT_KEY and f'"{key}"' in path.read_text()
    ]

    assert retyped == []
