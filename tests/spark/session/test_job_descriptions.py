"""Jobs of commands have a description that a user understands, and leave the user's own alone."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from truckee import DeltaTable, write

DESCRIPTION = "spark.job.description"
PROPERTIES = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def descriptions(spark: SparkSession, command: Callable[[], object]) -> list[str]:
    """Return the descriptions of the jobs that a command starts, in order, each once."""
    store = spark.sparkContext._jsc.sc().statusStore()
    bus = spark.sparkContext._jsc.sc().listenerBus()
    bus.waitUntilEmpty()
    jobs = store.jobsList(None)
    known = {jobs.apply(at).jobId() for at in range(jobs.size())}
    command()
    bus.waitUntilEmpty()
    jobs = store.jobsList(None)
    new = [jobs.apply(at) for at in range(jobs.size()) if jobs.apply(at).jobId() not in known]
    texts = [job.description().getOrElse(None) for job in sorted(new, key=lambda job: job.jobId())]
    return list(dict.fromkeys(texts))


# Invariant 50.
def test_every_job_of_a_command_tells_the_command_the_table_and_the_step(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "lake" / "orders")
    rows = spark.range(100).selectExpr("id", "id % 7 AS n").coalesce(1)
    write(rows).options(**PROPERTIES).save(path)
    table = DeltaTable.forPath(spark, path)
    source = spark.range(90, 110).selectExpr("id", "-1 AS n")
    merge = (
        table.alias("t")
        .merge(source.alias("s"), "t.id = s.id")
        .whenMatchedUpdateAll()
        .whenNotMatchedInsertAll()
    )
    found = {
        "append": descriptions(spark, lambda: write(rows).mode("append").save(path)),
        "delete": descriptions(spark, lambda: table.delete("n = 3")),
        "update": descriptions(spark, lambda: table.update("n = 4", {"n": "0"})),
        "merge": descriptions(spark, merge.execute),
        "optimize": descriptions(spark, lambda: table.optimize().executeCompaction()),
    }

    assert found == {
        "append": ["WRITE lake/orders: writing files"],
        "delete": ["DELETE lake/orders: finding rows"],
        "update": ["UPDATE lake/orders: finding rows", "UPDATE lake/orders: writing files"],
        "merge": [
            "MERGE lake/orders: reading the source",
            "MERGE lake/orders: finding rows",
            "MERGE lake/orders: writing files",
        ],
        "optimize": ["OPTIMIZE lake/orders: writing files"],
    }


def test_the_users_own_description_is_there_again_after_a_command(
    spark: SparkSession, tmp_path: Path
) -> None:
    context = spark.sparkContext
    path = str(tmp_path / "orders")
    context.setJobDescription("the nightly run")
    try:
        write(spark.range(5)).save(path)
        after_success = context.getLocalProperty(DESCRIPTION)
        failing = spark.range(5).selectExpr("if(id < 3, id, raise_error('no')) AS id")
        with pytest.raises(PySparkException):
            write(failing).mode("append").save(path)
        after_failure = context.getLocalProperty(DESCRIPTION)
    finally:
        context.setLocalProperty(DESCRIPTION, None)

    assert after_success == after_failure == "the nightly run"
