"""Columns that a table may and may not have."""

from __future__ import annotations

import pytest

from truckee.commands.schema.column_rules import (
    check_columns,
    checked_clustering_columns,
    checked_partition_columns,
)
from truckee.errors.base import DeltaError
from truckee.errors.columns import (
    AllColumnsPartitionedError,
    ClusteringColumnError,
    ClusteringCountError,
    ClusteringTypeError,
    InvalidColumnNamesError,
    NoColumnsError,
    PartitionColumnNotFoundError,
    PartitionColumnTypeError,
    UnsupportedTypesError,
)
from truckee.errors.commands.alter import ColumnNotFoundError
from truckee.errors.protocol import DuplicateClusteringColumnsError, DuplicateColumnsError
from truckee.protocol.properties import TableProperties
from truckee.protocol.schema import ArrayType, PrimitiveType, StructField, StructType
from values import simple_schema

TABLE = simple_schema("id long", "Day date", "name string")
FLAG = StructField("f", PrimitiveType("boolean"))


def refusal(kind: type[DeltaError], schema: StructType, mode: str = "none") -> str:
    with pytest.raises(kind) as caught:
        check_columns(schema, mapping_mode=mode, table="/t")
    return caught.value.sentence()


def test_ordinary_columns_are_fine() -> None:
    check_columns(TABLE, mapping_mode="none", table="/t")


def test_a_table_needs_a_column() -> None:
    assert refusal(NoColumnsError, StructType()) == (
        "the table /t cannot be created without columns\nhint: add one with addColumn"
    )


def test_names_that_differ_in_case_only_are_the_same() -> None:
    with pytest.raises(DuplicateColumnsError):
        check_columns(simple_schema("id long", "ID integer"), mapping_mode="name", table="/t")


def test_types_without_a_place_in_a_table_are_named_with_their_columns() -> None:
    schema = StructType(
        (
            *simple_schema("a void", "b interval year to month", "c long").fields,
            StructField("d", ArrayType(PrimitiveType("void"))),
            StructField("e", PrimitiveType("string"), True, {"__COLLATIONS": {"e": "icu.UNICODE"}}),
        )
    )

    assert refusal(UnsupportedTypesError, schema) == (
        "a table cannot store columns of these types: b interval year to month, "
        "d.element void, e string with a collation\n"
        "hint: cast them to another type, or leave them out"
    )


def test_unusual_characters_in_names_need_column_mapping() -> None:
    schema = StructType(
        (
            StructField("a b", PrimitiveType("long")),
            StructField("s", StructType((StructField("x=y", PrimitiveType("long")),))),
        )
    )

    check_columns(schema, mapping_mode="name", table="/t")
    assert refusal(InvalidColumnNamesError, schema) == (
        "the column names [a b, s.x=y] contain characters out of ' ,;{}()\\n\\t=', which "
        "need column mapping\n"
        "hint: rename the columns, or set the table property 'delta.columnMapping.mode' to "
        "'name'"
    )


def test_partition_columns_are_spelled_as_the_schema_spells_them() -> None:
    assert checked_partition_columns(TABLE, ["DAY", "id"]) == ("Day", "id")


def test_a_partition_column_that_is_none_is_refused() -> None:
    with pytest.raises(PartitionColumnNotFoundError) as caught:
        checked_partition_columns(TABLE, ["month"])

    assert caught.value.sentence() == (
        "partition column month is not one of the columns [id, Day, name]\n"
        "hint: name columns of the data"
    )


def test_a_table_is_not_partitioned_by_arrays() -> None:
    schema = StructType((*TABLE.fields, StructField("l", ArrayType(PrimitiveType("long")))))

    with pytest.raises(PartitionColumnTypeError) as caught:
        checked_partition_columns(schema, ["l"])

    assert caught.value.sentence() == (
        "column l has the type array<bigint>, which a partition column cannot have\n"
        "hint: partition by a date, a number or a string"
    )


def test_a_column_must_be_left_for_the_files() -> None:
    with pytest.raises(AllColumnsPartitionedError) as caught:
        checked_partition_columns(TABLE, ["name", "id", "day"])

    assert caught.value.sentence() == (
        "all columns are partition columns: [name, id, Day]\n"
        "hint: leave at least one column for the data files"
    )


def test_a_partition_column_is_named_once() -> None:
    with pytest.raises(DuplicateColumnsError):
        checked_partition_columns(TABLE, ["id", "ID"])


def clustered(*names: tuple[str, ...], partitions: tuple[str, ...] = ()) -> object:
    return checked_clustering_columns(
        TABLE,
        names,
        partition_columns=partitions,
        properties=TableProperties({"delta.dataSkippingNumIndexedCols": "2"}),
    )


def test_clustering_columns_go_by_their_physical_paths() -> None:
    assert clustered(("day",), ("id",)) == (("Day",), ("id",))


@pytest.mark.parametrize(
    ("names", "partitions", "message"),
    [
        ([("name",)], (), "the table cannot be clustered by name: the column has no statistics"),
        ([("id",)], ("name",), "the table cannot be clustered by id: it is partitioned"),
    ],
)
def test_columns_that_cannot_be_clustered_by(
    names: list[tuple[str, ...]], partitions: tuple[str, ...], message: str
) -> None:
    with pytest.raises(ClusteringColumnError) as caught:
        clustered(*names, partitions=partitions)

    assert caught.value.sentence() == (
        f"{message}\n"
        "hint: cluster by at most four columns that have statistics, of an unpartitioned table"
    )


def test_columns_that_no_table_can_be_clustered_by() -> None:
    schema = StructType(
        (
            *simple_schema(*(f"{name} long" for name in "abcde")).fields,
            StructField("s", TABLE),
            FLAG,
        )
    )

    def code(kind: type[DeltaError], *names: str) -> str:
        # Once PySpark is there, what is raised is a subclass, so only its kind is compared.
        with pytest.raises(kind) as caught:
            checked_clustering_columns(
                schema,
                [(name,) for name in names],
                partition_columns=(),
                properties=TableProperties({}),
            )
        return caught.value.code

    assert code(ColumnNotFoundError, "nix") == "DELTA_COLUMN_NOT_FOUND_IN_SCHEMA"
    twice = code(DuplicateClusteringColumnsError, "a", "A")
    assert twice == "DELTA_DUPLICATE_COLUMNS_FOUND.CLUSTER_BY"
    for column in "s", "f":
        found = code(ClusteringTypeError, column)
        assert found == "DELTA_CLUSTERING_COLUMNS_DATATYPE_NOT_SUPPORTED"
    assert code(ClusteringCountError, *"abcde") == "DELTA_CLUSTER_BY_INVALID_NUM_COLUMNS"
