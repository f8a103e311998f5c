"""Deleted and inserted rows compared, by whole rows and by an identity."""

from __future__ import annotations

from typing import Any

import pytest
from pyspark.sql import DataFrame, SparkSession

from truckee.errors import KeysNotUniqueError
from truckee.spark.read.row_pairing import paired_rows, uncancelled_rows


def changes(spark: SparkSession, schema: str, *rows: tuple[Any, ...]) -> DataFrame:
    return spark.createDataFrame(list(rows), f"{schema}, _change_type string")


def shown(frame: DataFrame) -> list[tuple[Any, ...]]:
    return sorted((tuple(row) for row in frame.collect()), key=str)


def test_as_many_copies_cancel_as_both_sides_have(spark: SparkSession) -> None:
    rows = [("r", "delete")] * 3 + [("r", "insert")] * 4 + [("q", "delete")] * 2 + [("s", "insert")]

    found = uncancelled_rows(changes(spark, "name string", *rows), ["name"])

    assert shown(found) == [("q", "delete"), ("q", "delete"), ("r", "insert"), ("s", "insert")]


def test_rows_are_equal_as_spark_groups_them(spark: SparkSession) -> None:
    rows = [
        (None, float("nan"), {"a": 1, "b": 2}, "delete"),
        (None, float("nan"), {"b": 2, "a": 1}, "insert"),
        (1, -0.0, {}, "delete"),
        (1, 0.0, {}, "insert"),
        (2, 0.5, {"a": 1}, "delete"),
        (2, 0.5, {"a": 2}, "insert"),
    ]
    frame = changes(spark, "i int, d double, m map<string, int>", *rows)

    found = uncancelled_rows(frame, ["i", "d", "m"])

    assert shown(found) == [(2, 0.5, {"a": 1}, "delete"), (2, 0.5, {"a": 2}, "insert")]


def test_variants_and_collated_texts(spark: SparkSession) -> None:
    frame = spark.sql(
        """
        SELECT parse_json(j) AS v, t COLLATE UTF8_LCASE AS t, _change_type FROM VALUES
          ('{"a":1}', 'x', 'delete'), ('{"a": 1}', 'x', 'insert'),
          ('{"a":1}', 'y', 'delete'), ('{"a":1}', 'Y', 'insert') AS rows(j, t, _change_type)
        """
    )

    found = uncancelled_rows(frame, ["v", "t"]).selectExpr("to_json(v)", "t", "_change_type")

    assert shown(found) == [('{"a":1}', "Y", "insert"), ('{"a":1}', "y", "delete")]


def test_variants_of_other_types_differ_though_their_json_is_the_same(spark: SparkSession) -> None:
    frame = spark.sql(
        """
        SELECT cast(array(cast(DATE'2024-01-01' AS VARIANT), parse_json('1')) AS VARIANT) AS v,
          'delete' AS _change_type
        UNION ALL SELECT parse_json('["2024-01-01", 1]'), 'insert'
        UNION ALL SELECT to_variant_object(named_struct('b', 0.0D, 'a', 2L)), 'delete'
        UNION ALL SELECT to_variant_object(named_struct('a', 2S, 'b', -0.0D)), 'insert'
        """
    )

    found = uncancelled_rows(frame, ["v"]).selectExpr("to_json(v)", "_change_type")

    assert shown(found) == [('["2024-01-01",1]', "delete"), ('["2024-01-01",1]', "insert")]


def test_rows_are_compared_within_a_version_only(spark: SparkSession) -> None:
    frame = changes(
        spark, "name string, _commit_version long", ("r", 1, "insert"), ("r", 2, "delete")
    )

    found = uncancelled_rows(frame, ["name"], within=["_commit_version"])

    assert shown(found) == [("r", "delete", 2), ("r", "insert", 1)]


def test_rows_of_one_identity_are_images_of_an_update(spark: SparkSession) -> None:
    rows = [
        (1, "a", "delete"),
        (1, "b", "insert"),
        (None, "a", "delete"),
        (None, "c", "insert"),
        (2, "same", "delete"),
        (2, "same", "insert"),
        (3, "gone", "delete"),
        (4, "new", "insert"),
    ]

    found = paired_rows(
        changes(spark, "id int, name string", *rows), ["id", "name"], identity=["id"]
    )

    assert shown(found) == sorted(
        [
            (1, "a", "update_preimage"),
            (1, "b", "update_postimage"),
            (None, "a", "update_preimage"),
            (None, "c", "update_postimage"),
            (3, "gone", "delete"),
            (4, "new", "insert"),
        ],
        key=str,
    )


def test_a_row_version_tells_copies_from_updates(spark: SparkSession) -> None:
    rows = [
        (1, "a", 1, "delete"),
        (1, "a", 1, "insert"),
        (2, "b", 1, "delete"),
        (2, "b", 2, "insert"),
        (3, "c", None, "delete"),
        (3, "c", None, "insert"),
    ]
    frame = changes(spark, "id int, name string, at long", *rows)

    found = paired_rows(
        frame, ["id", "name"], identity=["id"], row_version="at", drop_unchanged=False
    )

    assert shown(found) == [
        (2, "b", "update_postimage"),
        (2, "b", "update_preimage"),
        (3, "c", "update_postimage"),
        (3, "c", "update_preimage"),
    ]


def test_an_identity_that_is_not_unique(spark: SparkSession) -> None:
    rows = [(7, "a", "delete"), (7, "b", "insert"), (7, "c", "insert")]
    found = paired_rows(
        changes(spark, "id int, name string", *rows),
        ["id", "name"],
        identity=["id"],
        where=("of version 3", "of version 5"),
    )

    with pytest.raises(KeysNotUniqueError) as raised:
        found.collect()

    assert str(raised.value) == (
        '[DELTA_KEYS_NOT_UNIQUE] id does not identify a row: 2 rows of version 5 have {"id":7}\n'
        "hint: name more columns as keys, or none; with row tracking, row ids identify rows by "
        "themselves"
    )
