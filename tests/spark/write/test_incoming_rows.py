"""A user's rows, made into rows of a table."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.errors import ArithmeticException
from pyspark.sql import DataFrame, SparkSession

from truckee.errors.commands.write import IdentityValueGivenError
from truckee.protocol.schema import ArrayType, PrimitiveType, StructField, StructType, parse_schema
from truckee.spark.schema_conversion import to_spark
from truckee.spark.write.incoming_rows import rows_to_write
from values import simple_schema

LONG = PrimitiveType("long")


def fitted(df: DataFrame, schema: StructType) -> list[dict[str, Any]]:
    rows = rows_to_write(df, schema).df
    assert rows.columns == list(schema.names)
    return [row.asDict(recursive=True) for row in rows.collect()]


def test_columns_are_matched_by_name_in_any_case_and_put_in_order(spark: SparkSession) -> None:
    frame = spark.sql("select 'x' as NAME, 1 as Id")

    assert fitted(frame, simple_schema("id long", "name string")) == [{"id": 1, "name": "x"}]


def test_case_does_not_matter_even_where_the_session_says_it_does(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.caseSensitive", "true")
    try:
        frame = spark.sql("select named_struct('Y', 2, 'X', 1) as S")
        table = StructType((StructField("s", simple_schema("x long", "y long")),))
        assert fitted(frame, table) == [{"s": {"x": 1, "y": 2}}]
    finally:
        spark.conf.set("spark.sql.caseSensitive", "false")


def test_fields_are_matched_at_every_depth_and_missing_ones_are_null(spark: SparkSession) -> None:
    frame = spark.sql("select array(named_struct('y', 2), null) as l")
    table = StructType((StructField("l", ArrayType(simple_schema("x string", "y long"))),))

    assert fitted(frame, table) == [{"l": [{"x": None, "y": 2}, None]}]


def test_a_number_that_does_not_fit_is_an_error(spark: SparkSession) -> None:
    spark.conf.set("spark.sql.ansi.enabled", "false")
    try:
        frame = spark.sql("select 300 as b")
        with pytest.raises(ArithmeticException, match="OVERFLOW"):
            fitted(frame, simple_schema("b byte"))
    finally:
        spark.conf.set("spark.sql.ansi.enabled", "true")


def test_names_with_unusual_characters(spark: SparkSession) -> None:
    table = StructType((StructField("a.b `c`", LONG), StructField("x y", LONG)))
    frame = spark.createDataFrame([(1, 2)], ["x y", "a.b `c`"])

    assert fitted(frame, table) == [{"a.b `c`": 2, "x y": 1}]


def test_missing_columns_get_their_default_or_null(spark: SparkSession) -> None:
    table = StructType(
        (
            StructField("id", LONG),
            StructField("d", PrimitiveType("date"), True, {"CURRENT_DEFAULT": "'2024-01-02'"}),
            StructField("n", LONG),
        )
    )

    (row,) = fitted(spark.sql("select 1 as id"), table)

    assert (str(row["d"]), row["n"]) == ("2024-01-02", None)


def test_a_generated_column_is_computed_from_the_others(spark: SparkSession) -> None:
    table = StructType(
        (
            StructField("g", LONG, True, {"delta.generationExpression": "ID * 2 + d"}),
            StructField("id", LONG),
            StructField("d", LONG, True, {"CURRENT_DEFAULT": "1"}),
        )
    )
    rows = rows_to_write(spark.sql("select 3 as id"), table)

    assert rows.computed == {"g"}
    assert [tuple(row) for row in rows.df.collect()] == [(7, 3, 1)]


def test_a_given_generated_column_is_taken_as_it_is(spark: SparkSession) -> None:
    table = StructType(
        (
            StructField("id", LONG),
            StructField("g", LONG, True, {"delta.generationExpression": "id * 2"}),
        )
    )
    rows = rows_to_write(spark.sql("select 3 as id, 5 as g"), table)

    assert rows.computed == frozenset()
    assert [tuple(row) for row in rows.df.collect()] == [(3, 5)]


def identity(start: int, step: int, *, last: int | None = None, by_default: bool = False) -> Any:
    marks: dict[str, Any] = {
        "delta.identity.start": start,
        "delta.identity.step": step,
        "delta.identity.allowExplicitInsert": by_default,
    }
    if last is not None:
        marks["delta.identity.highWaterMark"] = last
    return StructType((StructField("n", LONG, True, marks), StructField("id", LONG)))


@pytest.mark.parametrize(
    ("table", "first", "step"),
    [
        (identity(1, 1), 1, 1),
        (identity(100, -10), 100, -10),
        (identity(1, 5, last=41), 46, 5),
    ],
)
def test_identity_columns_number_rows_with_no_number_twice(
    spark: SparkSession, table: StructType, first: int, step: int
) -> None:
    frame = spark.range(0, 1000, 1, 7)

    numbers = [row["n"] for row in fitted(frame, table)]

    assert len(set(numbers)) == 1000
    assert all((number - first) % step == 0 and (number - first) // step >= 0 for number in numbers)
    assert max((number - first) // step for number in numbers) < 1007


def test_numbers_may_be_given_only_by_default(spark: SparkSession) -> None:
    frame = spark.sql("select 7L as n, 1L as id")

    assert fitted(frame, identity(1, 1, by_default=True)) == [{"n": 7, "id": 1}]
    with pytest.raises(IdentityValueGivenError) as caught:
        fitted(frame, identity(1, 1))
    assert caught.value.sentence() == (
        "column n is GENERATED ALWAYS AS IDENTITY, but the data has values for it\n"
        "hint: leave column n out of the data"
    )


def test_user_defined_types_are_held_as_what_they_are_made_of(spark: SparkSession) -> None:
    from pyspark.ml.linalg import Vectors, VectorUDT

    frame = spark.createDataFrame([(Vectors.dense([1.0, 2.0]),)], ["v"])
    table = StructType((StructField("v", parse_schema(VectorUDT.sqlType().json())),))

    (row,) = fitted(frame, table)

    assert row["v"]["values"] == [1.0, 2.0]
    assert to_spark(table).fields[0].dataType == VectorUDT.sqlType()
