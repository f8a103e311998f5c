"""What Spark did for a query, read from its plan."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any
from uuid import uuid4

from pyspark.sql import DataFrame, SparkSession


def files_read(frame: DataFrame) -> list[int]:
    """Run a query, and return how many files each of its scans read."""
    frame.collect()
    return [scan.metrics().apply("numFiles").value() for scan in _scans(frame)]


def rows_scanned(frame: DataFrame) -> int:
    """Run a query, and return how many rows came out of its scans, before any filter of Spark's."""
    frame.collect()
    return sum(scan.metrics().apply("numOutputRows").value() for scan in _scans(frame))


def records_read(spark: SparkSession, run: Callable[[], object]) -> int:
    """Run something, and return how many rows its jobs read, from files and from what is kept."""
    return sum(int(stage.inputRecords()) for stage in _stages(spark, run))


def bytes_read(spark: SparkSession, run: Callable[[], object]) -> int:
    """Run something, and return how many bytes its tasks read, as the file system counted them."""
    return sum(int(stage.inputBytes()) for stage in _stages(spark, run))


def _stages(spark: SparkSession, run: Callable[[], object]) -> list[Any]:
    """Run something, and return what Spark's status store has about the stages of its jobs."""
    context = spark.sparkContext
    group = uuid4().hex
    context.setJobGroup(group, "counted")
    try:
        run()
    finally:
        context.setLocalProperty("spark.jobGroup.id", None)  # type: ignore[arg-type]
    tracker, store = context.statusTracker(), context._jsc.sc().statusStore()
    jobs = [tracker.getJobInfo(job) for job in tracker.getJobIdsForGroup(group)]
    stages = {stage for job in jobs if job is not None for stage in job.stageIds}
    # Nothing is known of a stage whose result existed already.
    ran = [stage for stage in stages if tracker.getStageInfo(stage) is not None]
    return [store.lastStageAttempt(stage) for stage in ran]


def size_in_bytes(frame: DataFrame) -> int:
    """Return how large Spark's optimizer takes a frame to be."""
    return int(frame._jdf.queryExecution().optimizedPlan().stats().sizeInBytes())


def plan_text(frame: DataFrame, mode: str = "simple") -> str:
    """Return what `explain()` shows in some mode."""
    jvm = frame.sparkSession.sparkContext._jvm
    assert jvm is not None
    modes = jvm.org.apache.spark.sql.execution.ExplainMode
    return str(frame._jdf.queryExecution().explainString(modes.fromString(mode)))


def rows(frame: DataFrame) -> list[Any]:
    """Return the rows in order; those of one column as plain values."""
    found = [tuple(row) for row in frame.collect()]
    ordered = sorted(found, key=lambda row: [(value is None, str(value)) for value in row])
    if len(frame.columns) > 1:
        return ordered
    values = [value for (value,) in ordered]
    return sorted(values, key=lambda value: (value is None, value if value is not None else 0))


def _scans(frame: DataFrame) -> Iterator[Any]:
    leaves = frame._jdf.queryExecution().executedPlan().collectLeaves()
    for position in range(leaves.size()):
        leaf = leaves.apply(position)
        if leaf.metrics().contains("numFiles"):
            yield leaf
