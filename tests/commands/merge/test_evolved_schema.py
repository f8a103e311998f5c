"""The schema of a table after a MERGE with schema evolution: no Spark."""

from __future__ import annotations

import pytest

from truckee.commands.merge.clauses import Clause, ClauseKind, Does
from truckee.commands.merge.resolution import evolved_schema
from truckee.protocol.schema import StructField, StructType
from values import simple_schema

TABLE = simple_schema("id integer", StructField("s", simple_schema("a integer")), "v integer")
SOURCE = simple_schema(
    "ID integer",
    StructField("S", simple_schema("b integer", "A integer", "c integer")),
    "Extra string",
    "v long",
)


def evolved(*clauses: Clause, widening: bool = False) -> StructType:
    return evolved_schema(TABLE, SOURCE, clauses, table="/t", alias="t", widening=widening)


def update(*columns: str) -> Clause:
    return Clause(ClauseKind.MATCHED, Does.UPDATE, values=dict.fromkeys(columns, "1"))


@pytest.mark.parametrize("does", [Does.UPDATE, Does.INSERT])
def test_a_star_brings_all_columns_and_fields(does: Does) -> None:
    kind = ClauseKind.MATCHED if does is Does.UPDATE else ClauseKind.NOT_MATCHED

    assert evolved(Clause(kind, does)) == simple_schema(
        "id integer",
        StructField("s", simple_schema("a integer", "b integer", "c integer")),
        "v integer",
        "Extra string",
    )


@pytest.mark.parametrize("column", ["s.b", "t.s.b", "S.`B`"])
def test_an_assignment_to_a_field_brings_the_field_alone(column: str) -> None:
    assert evolved(update(column)) == simple_schema(
        "id integer", StructField("s", simple_schema("a integer", "b integer")), "v integer"
    )


@pytest.mark.parametrize("column", ["s", "t.s"])
def test_an_assignment_to_a_struct_brings_all_its_fields(column: str) -> None:
    assert evolved(update(column)).fields[1].type == simple_schema(
        "a integer", "b integer", "c integer"
    )


def test_a_new_column_is_spelled_as_in_the_source() -> None:
    assert evolved(update("EXTRA")).names == ("id", "s", "v", "Extra")


def test_rows_without_a_source_bring_nothing() -> None:
    clause = Clause(ClauseKind.NOT_MATCHED_BY_SOURCE, Does.UPDATE, values={"extra": "'gone'"})

    assert evolved(clause) == TABLE


def test_columns_that_get_values_become_wider_where_the_table_lets_them() -> None:
    assert evolved(update("v"), widening=True).fields[2].type == SOURCE.fields[3].type
    assert evolved(update("v")) == evolved(update("id"), widening=True) == TABLE


def test_a_value_may_have_another_type_than_the_sources_column() -> None:
    source = simple_schema("id integer", "v string")

    schema = evolved_schema(TABLE, source, [update("v")], table="/t")

    assert schema == TABLE
