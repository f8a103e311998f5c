"""What Spark did for a query, told from its plan."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pyspark.sql import DataFrame


def files_read(frame: DataFrame) -> list[int]:
    """Run a query, and return how many files each of its scans read."""
    frame.collect()
    return [scan.metrics().apply("numFiles").value() for scan in _scans(frame)]


def rows_scanned(frame: DataFrame) -> int:
    """Run a query, and return how many rows came out of its scans, before any filter of Spark's."""
    frame.collect()
    return sum(scan.metrics().apply("numOutputRows").value() for scan in _scans(frame))


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
