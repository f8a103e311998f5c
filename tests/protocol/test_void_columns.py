"""Columns of type void: part of a table, and of none of its files."""

from __future__ import annotations

import pytest

from data_tables import metadata
from truckee.errors.columns import AllVoidColumnsError, AllVoidFieldsError
from truckee.protocol.actions import Protocol
from truckee.protocol.schema import (
    VOID,
    PrimitiveType,
    StructField,
    StructType,
    void_columns,
)
from truckee.protocol.table_configuration import TableConfiguration
from values import simple_schema

LONG = PrimitiveType("long")


def table(schema: StructType, *partitions: str) -> TableConfiguration:
    described = metadata("id long", partition_by=partitions)
    plain = TableConfiguration(described, Protocol(min_reader_version=1, min_writer_version=2))
    return plain.with_schema(schema)


def struct(*fields: tuple[str, PrimitiveType]) -> StructType:
    return StructType(tuple(StructField(name, kind) for name, kind in fields))


def test_a_table_without_void_columns_is_the_same() -> None:
    given = table(simple_schema("id long", "name string"))

    assert given.stored is given


def test_files_have_no_void_columns_at_any_depth() -> None:
    inner = StructField("s", struct(("a", LONG), ("b", VOID)))
    schema = StructType((*simple_schema("id long", "n void").fields, inner))

    assert [chain.path for chain in void_columns(schema)] == [("n",), ("s", "b")]
    assert table(schema).stored.schema == StructType(
        (StructField("id", LONG), StructField("s", struct(("a", LONG))))
    )


def test_a_file_needs_a_column_beside_its_partitions() -> None:
    with pytest.raises(AllVoidColumnsError):
        _ = table(simple_schema("n void")).stored
    with pytest.raises(AllVoidColumnsError):
        _ = table(simple_schema("p long", "n void"), "p").stored


def test_a_struct_needs_a_field() -> None:
    schema = StructType((StructField("id", LONG), StructField("s", struct(("b", VOID)))))

    with pytest.raises(AllVoidFieldsError) as caught:
        _ = table(schema).stored

    assert caught.value.sentence() == (
        "rows cannot be written with the struct s, all fields of which are of type VOID\n"
        "hint: give a field another type, or leave the struct out"
    )
