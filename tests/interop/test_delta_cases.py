"""delta-spark itself does what `tests/delta_cases` expects: the cases are right.

`TRUCKEE_ALL_CASES` runs all of them, not only those of `make test`.
"""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from delta_cases.form import Case
from delta_cases.running import (
    Copies,
    Outcome,
    before_last,
    differences,
    filled,
    in_order,
    is_named,
    made_at_times,
)
from delta_cases.suites import SUITES
from interop.delta_spark import DeltaSpark
from truckee.doors.enable import enable

pytestmark = pytest.mark.interop

ALL = bool(os.environ.get("TRUCKEE_ALL_CASES"))
BEFORE = """
for name, value in arguments["conf"].items():
    spark.conf.set(name, value)
for text in arguments["texts"]:
    spark.sql(text).collect()
"""
LAST = """
from pyspark.errors import PySparkException

def plain(value):
    if hasattr(value, "asDict"):
        return {name: plain(each) for name, each in value.asDict().items()}
    return [plain(each) for each in value] if isinstance(value, list) else value

try:
    if arguments["read"] is None:
        found = spark.sql(arguments["text"])
    else:
        found = spark.read.format("delta").options(**arguments["read"]).load(arguments["path"])
        found = found.drop("_commit_timestamp")
    result = {"rows": [[plain(value) for value in row] for row in found.collect()]}
except PySparkException as error:
    result = {"error": str(error.getCondition()), "text": str(error)}
except Exception as error:
    result = {"error": str(error).partition("[")[2].partition("]")[0], "text": str(error)}
"""
AFTER = """
for name in arguments["conf"]:
    spark.conf.unset(name)
for text in arguments["texts"]:
    spark.sql(text)
spark.catalog.dropTempView(arguments["name"] + "_w")
"""


@pytest.fixture(scope="module")
def copies(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Copies:
    return Copies(enable(spark), tmp_path_factory.mktemp("delta-cases"))


@pytest.mark.parametrize(
    "case",
    [
        pytest.param(case, id=f"{suite}: {case.fact}")
        for suite, module in SUITES.items()
        for case in module.CASES
        if ALL or case.quick
    ],
)
def test_delta_spark_does_what_a_case_expects(
    delta_spark: DeltaSpark, copies: Copies, case: Case
) -> None:
    if case.unlike_delta_spark:
        pytest.skip(case.unlike_delta_spark)
    way = case.ways[-1]
    path = copies.copy(case.table, way)
    name, texts = filled(case, path)

    outcome = _run(delta_spark, case, path, name, texts)

    assert differences(case, way, outcome) == {}


def _run(
    delta_spark: DeltaSpark, case: Case, path: Path, name: str, texts: tuple[str, ...]
) -> Outcome:
    conf = dict(case.conf)
    made = [f"CREATE TABLE {name} USING delta LOCATION '{path}'"] if is_named(name, texts) else []
    dropped = [f"DROP TABLE {name}"] if made else []
    try:
        delta_spark.run(BEFORE, conf=conf, texts=[*made, *before_last(case, texts)])
        made_at_times(case.times_ms, path)
        delta_spark.forget()
        outcome = Outcome(truckee.open(str(path)))
        read = None if case.read is None else dict(case.read)
        reply = delta_spark.run(LAST, read=read, path=str(path), text=texts[-1] if texts else "")
    finally:
        delta_spark.run(AFTER, conf=conf, texts=dropped, name=name)
    outcome.result = in_order(tuple(row) for row in reply.get("rows", []))
    outcome.error, outcome.text = reply.get("error", ""), reply.get("text", "")
    return outcome
