"""Conditions mean what they mean to Spark, row by row, in SQL's three values."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from conditions.rows import CONDITIONS, SCHEMA, all_rows
from truckee.arrow.where import truth
from truckee.conditions.row_tests import row_test
from truckee.errors import ConditionError

pytestmark = pytest.mark.spark

REFUSED = [
    "nonsense = 1",
    "flag = 1",
    "flag > 0.5",
    "day = 5",
    "s AND flag",
    "i",
    "st.z = 1",
    "i = ",
    "i 5",
    "= 5",
    "i IN ()",
    "i BETWEEN 5",
    "(i = 5",
    "i = 5)",
    "i > > 5",
    "bin = 5",
    "i = 'abc'",
    "day = 'abc'",
    "b = 200Y",
]


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("conditions") / "rows.parquet"
    pq.write_table(pa.Table.from_batches([all_rows()]), folder)
    return str(folder)


def test_every_condition_is_true_of_the_rows_that_spark_finds(
    spark: SparkSession, path: str
) -> None:
    frame = spark.read.parquet(path)
    found = {c: truth(row_test(c, SCHEMA), all_rows()).to_pylist() for c in CONDITIONS}

    wrong = []
    for start in range(0, len(CONDITIONS), 100):
        some = CONDITIONS[start : start + 100]
        named = [f"({c}) AS c{number}" for number, c in enumerate(some)]
        rows = frame.orderBy("id").selectExpr(*named).collect()
        for number, condition in enumerate(some):
            expected = [row[number] for row in rows]
            if found[condition] != expected:
                wrong.append((condition, found[condition], expected))
    assert wrong == []


@pytest.mark.parametrize("condition", REFUSED)
def test_what_spark_refuses_is_refused(spark: SparkSession, path: str, condition: str) -> None:
    with pytest.raises(Exception, match=r"\[[A-Z_]+[.\]]"):
        spark.read.parquet(path).where(condition).collect()

    with pytest.raises(ConditionError):
        truth(row_test(condition, SCHEMA), all_rows())
