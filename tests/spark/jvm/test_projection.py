"""Many columns in one call of the JVM."""

from __future__ import annotations

from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from pyspark.sql.types import IntegerType, StringType

from truckee.spark.jvm.projection import Given, Named, Sql, selected


def test_columns_by_name_keep_what_is_not_asked_for(spark: SparkSession) -> None:
    noted = F.lit(7).cast("int").alias("b", metadata={"note": "kept"})
    rows = spark.range(2).select("id", noted)

    found = selected(rows, [Named("b"), Named("id", "a"), Named("b", "c", StringType())])

    assert [tuple(row) for row in found.collect()] == [(7, 0, "7"), (7, 1, "7")]
    assert found.columns == ["b", "a", "c"]
    assert found.schema["b"].metadata == {"note": "kept"}
    assert found.schema["b"].dataType == IntegerType()


def test_metadata_takes_the_place_of_what_was_there(spark: SparkSession) -> None:
    rows = spark.range(1).select(F.col("id").alias("id", metadata={"note": "gone"}))

    found = selected(
        rows,
        [
            Named("id", "a", metadata={}),
            Named("id", "b", metadata={"key": {"nested": [1, 2]}, "text": "ü"}),
            Given(F.lit(1), "c", {"number": 5}),
        ],
    )

    assert [field.metadata for field in found.schema.fields] == [
        {},
        {"key": {"nested": [1, 2]}, "text": "ü"},
        {"number": 5},
    ]


def test_names_may_have_any_character(spark: SparkSession) -> None:
    names = ["a.b", "a`b", 'say "hi"', "tab\there", "nul\0here", "naïve ✓", "select", "*"]
    rows = spark.range(1).toDF("n").select(*(F.lit(i).alias(name) for i, name in enumerate(names)))

    found = selected(rows, [Named(name, f"{name}!") for name in names])

    assert found.columns == [f"{name}!" for name in names]
    assert list(found.collect()[0]) == list(range(len(names)))


def test_values_in_sql_and_as_columns_stand_among_the_others(spark: SparkSession) -> None:
    is_odd = F.col("id") % 2 == 1

    found = selected(
        spark.range(3),
        [
            Sql("id * 10", "ten"),
            Given(F.col("id") + 1, "next", when=is_odd),
            Named("id"),
            Given(F.lit("x"), "mark", when=is_odd),
        ],
    )

    rows = [tuple(row) for row in found.collect()]
    assert rows == [(0, None, 0, None), (10, 2, 1, "x"), (20, None, 2, None)]


def test_one_of_two_columns_of_a_name_is_told_by_the_frame_it_is_of(spark: SparkSession) -> None:
    left, right = spark.range(1, 3), spark.range(2, 4)

    both = left.join(right, left["id"] + 1 == right["id"])
    found = selected(both, [Given(right["id"], "right"), Given(left["id"], "left")])

    assert sorted(tuple(row) for row in found.collect()) == [(2, 1), (3, 2)]
