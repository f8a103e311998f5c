"""Values of another type are stored as `spark.sql.storeAssignmentPolicy` says."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from session_settings import set_as
from truckee.doors.enable import enable
from truckee.errors.commands.expressions import UpCastRefusedError

pytestmark = pytest.mark.spark

_POLICY = "spark.sql.storeAssignmentPolicy"


def _rows(spark: SparkSession, table: str) -> list[tuple[object, ...]]:
    return [tuple(row) for row in spark.sql(f"SELECT * FROM {table} ORDER BY id").collect()]


def test_legacy_stores_null_or_another_value_for_what_does_not_fit(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (id INT, n TINYINT, d DATE, l ARRAY<INT>) USING delta")

    with set_as(spark, {_POLICY: "LEGACY"}):
        run(f"INSERT INTO {table} VALUES (1, 300, 'no date', array('1', 'x'))")
        run(f"INSERT INTO {table} (id, n) VALUES (2, 'text'), (3, '7'), (4, '8')")
        run(f"UPDATE {table} SET n = 513, d = '2024-13-01' WHERE id = 3")
        run(
            f"MERGE INTO {table} t USING (SELECT 4 AS id, 258 AS n UNION ALL SELECT 5, 259) s "
            "ON t.id = s.id WHEN MATCHED THEN UPDATE SET n = s.n "
            "WHEN NOT MATCHED THEN INSERT (id, n) VALUES (s.id, s.n)"
        )
        run("SELECT 6 AS id, 260 AS n").writeTo(table).append()

    # 300, 513, 258, 259 and 260 keep their lowest byte.
    assert _rows(spark, table) == [
        (1, 44, None, [1, None]),
        (2, None, None, None),
        (3, 1, None, None),
        (4, 2, None, None),
        (5, 3, None, None),
        (6, 4, None, None),
    ]


@pytest.mark.parametrize(
    ("statement", "what", "found"),
    [
        ("INSERT INTO {t} VALUES (5L)", "the value of id in INSERT", "bigint"),
        ("UPDATE {t} SET id = '5'", "the value of `id` in UPDATE", "string"),
        (
            "MERGE INTO {t} t USING (SELECT 1L AS id) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET *",
            "the value of id in WHEN MATCHED THEN UPDATE",
            "bigint",
        ),
    ],
)
def test_strict_refuses_types_with_values_that_the_column_does_not_have(
    spark: SparkSession, tmp_path: Path, statement: str, what: str, found: str
) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (id INT) USING delta")
    run(f"INSERT INTO {table} VALUES (1)")

    with set_as(spark, {_POLICY: "STRICT"}), pytest.raises(UpCastRefusedError) as refused:
        run(statement.replace("{t}", table))

    assert refused.value.sentence() == (
        f"{what} has the type {found}, and the column is int, which "
        "spark.sql.storeAssignmentPolicy = STRICT does not cast\n"
        "hint: cast the value, or set the policy to ANSI"
    )
    assert _rows(spark, table) == [(1,)]


def test_strict_stores_types_whose_values_the_column_has(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (id BIGINT, s STRING) USING delta")

    with set_as(spark, {_POLICY: "STRICT"}):
        run(f"INSERT INTO {table} VALUES (1, 5)")
        run(f"UPDATE {table} SET id = 2")

    assert _rows(spark, table) == [(2, "5")]


def test_truth_values_and_numbers_are_cast_to_one_another(
    spark: SparkSession, tmp_path: Path
) -> None:
    run = enable(spark).sql
    table = f"delta.`{tmp_path / 't'}`"
    run(f"CREATE TABLE {table} (id INT, is_new BOOLEAN, n DECIMAL(3, 1)) USING delta")
    run(f"INSERT INTO {table} VALUES (1, 0, true), (2, NULL, NULL)")

    run(f"UPDATE {table} SET is_new = 1, n = is_new WHERE id = 1")
    run(
        f"MERGE INTO {table} t USING (SELECT 2 AS id, 7 AS is_new, true AS n) s ON t.id = s.id "
        "WHEN MATCHED THEN UPDATE SET *"
    )

    assert _rows(spark, table) == [(1, True, Decimal("0.0")), (2, True, Decimal("1.0"))]
