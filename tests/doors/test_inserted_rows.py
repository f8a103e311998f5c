"""Rows of an INSERT: which values go to which fields."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from session_settings import set_as
from truckee.doors.enable import enable
from truckee.errors.commands.write import FieldCountError

pytestmark = pytest.mark.spark


def test_fields_go_by_place_unless_the_rows_fit_as_they_are(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    turned = "named_struct('y', 1, 'x', 2) AS s, array(named_struct('y', 3, 'x', 4)) AS l"
    pair = "STRUCT<x: INT, y: INT>"
    run(f"CREATE TABLE {table} (id INT, s {pair}, l ARRAY<{pair}>) USING delta")

    run(f"INSERT INTO {table} VALUES (1, struct(1, 2), array(struct(3, 4)))")
    run(f"INSERT INTO {table} SELECT 2 AS id, {turned}")
    run(f"INSERT INTO {table} SELECT 3 AS other, {turned}")
    run(f"INSERT INTO {table} SELECT 4L AS id, {turned}")
    run(f"INSERT INTO {table} BY NAME SELECT struct('1', 2) AS s, 5 AS id")
    run(f"INSERT INTO {table} (id, s, l) SELECT 6 AS id, {turned}")
    with pytest.raises(FieldCountError) as refused:
        run(f"INSERT INTO {table} VALUES (7, struct(1), NULL)")

    found = run(f"SELECT id, s.x, s.y, l[0].x, l[0].y FROM {table} ORDER BY id").collect()
    assert [tuple(row) for row in found] == [
        (1, 1, 2, 3, 4),
        (2, 2, 1, 4, 3),
        (3, 1, 2, 3, 4),
        (4, 1, 2, 3, 4),
        (5, 1, 2, None, None),
        (6, 1, 2, 3, 4),
    ]
    assert refused.value.sentence() == (
        "the data has struct<col1:int> for s, which has fewer fields than struct<x:int,y:int>\n"
        "hint: give a value for every field, NULL for example"
    )


def test_a_dynamic_overwrite_keeps_partitions_without_new_rows(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (id INT, a INT, b INT) USING delta PARTITIONED BY (a, b)")
    run(f"INSERT INTO {table} VALUES (1, 1, 1), (2, 1, 2), (3, 2, 1)")

    with set_as(spark, {"spark.sql.sources.partitionOverwriteMode": "dynamic"}):
        run(f"INSERT OVERWRITE {table} PARTITION (a = 1, b) SELECT 10, 2")
        run(f"INSERT OVERWRITE {table} PARTITION (a = 2, b = 1) SELECT 20 WHERE false")

    found = run(f"SELECT * FROM {table} ORDER BY id").collect()
    assert [tuple(row) for row in found] == [(1, 1, 1), (3, 2, 1), (10, 1, 2)]
