"""Descriptions of truckee's jobs in Spark's web UI: `UPDATE lake/orders: finding rows`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from pyspark.sql import SparkSession

from truckee.log.running_command import running_command

_DESCRIPTION = "spark.job.description"


@contextmanager
def job_description(spark: SparkSession, step: str) -> Iterator[None]:
    """Describe the jobs that the body starts by the running command and `step`.

    Afterwards the previous description is restored, which may be the user's own.
    """
    context = spark.sparkContext
    command = running_command()
    before = context.getLocalProperty(_DESCRIPTION)
    context.setJobDescription(f"{'truckee' if command is None else command.title}: {step}")
    try:
        yield
    finally:
        if context._jsc is not None:
            context.setLocalProperty(_DESCRIPTION, before)  # type: ignore[arg-type]
