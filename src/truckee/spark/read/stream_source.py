"""A stream in Python: Spark's own `Source`, whose batches are DataFrames of the native scan.

Spark has two kinds of sources. Sources of the public interface return rows, which a Python worker
would have to make. The older kind, used here, returns a DataFrame: a batch is read like any table,
by Spark's vectorized Parquet reader.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any, Protocol

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.types import StructType

from truckee.spark.jvm.bridge import Callback, compiled, gateway, java_list
from truckee.spark.jvm.jvm_errors import error_mark
from truckee.spark.schema_conversion import to_java

# How Spark calls the folder that it makes for a query without a checkpoint.
_TEMPORARY = re.compile(r"/temporary-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/?$")


class StreamSource(Protocol):
    """The questions to a running stream. Offsets are the JSON of a checkpoint."""

    def latest_offset(self, start: str | None, *, is_limited: bool) -> str | None:
        """Return where the next batch ends: `start` itself if there is nothing new."""
        ...

    def batch(self, start: str | None, end: str) -> DataFrame:
        """Return the rows between two offsets, the first excluded."""
        ...

    def prepare_for_available_now(self) -> None:
        """From now on, stop at the data that exists at this moment."""
        ...

    def commit(self, end: str) -> None:
        """Record that everything up to an offset is done."""
        ...


def streaming_frame(
    spark: SparkSession, name: str, schema: StructType, start: Callable[[str], StreamSource]
) -> DataFrame:
    """Return a streaming DataFrame.

    `start` is called each time that a query starts, with the source's folder in the checkpoint. If
    a source raises an error, the query fails with that error.
    """
    jvm = gateway(spark).jvm
    java_schema = to_java(spark, schema)
    output = jvm.org.apache.spark.sql.catalyst.types.DataTypeUtils.toAttributes(java_schema)
    session = spark._jsparkSession

    def create_source(_: str, checkpoint: str) -> Callback:
        return Callback(_Answers(spark, start(checkpoint)))

    sources = Callback(create_source)
    plan = compiled(spark, "TruckeeStream").relation(session, name, java_schema, output, sources)
    return _frame(spark, plan)


def java_source(spark: SparkSession, name: str, schema: StructType, source: StreamSource) -> Any:
    """Return what Spark's own `Source` is constructed from, for one run of a query."""
    found = [name, to_java(spark, schema), Callback(_Answers(spark, source))]
    return java_list(spark, found)


def worked_out(spark: SparkSession, batch: DataFrame) -> DataFrame:
    """Return the rows of a batch as a plan without operators.

    Spark would treat an aggregation in the plan of a batch as one over the whole stream, which
    needs a watermark and state. So it is computed before Spark sees the batch.
    """
    rows, schema = batch._jdf.queryExecution().toRdd(), batch._jdf.schema()
    return DataFrame(spark._jsparkSession.internalCreateDataFrame(rows, schema, True), spark)


def has_temporary_checkpoint(spark: SparkSession, query_id: str) -> bool:
    """Return whether Spark made up the checkpoint of a running query, and will delete it."""
    running = spark._jsparkSession.sharedState().activeStreamingQueries()
    query = running.get(gateway(spark).jvm.java.util.UUID.fromString(query_id))
    return query is not None and bool(_TEMPORARY.search(query.resolvedCheckpointRoot()))


def ending_with_its_error(
    function: Callable[[DataFrame, int], None],
) -> Callable[[DataFrame, int], None]:
    """Return a function for `foreachBatch`; if it raises, the query fails with its error."""

    def write(batch: DataFrame, number: int) -> None:
        try:
            function(batch, number)
        except BaseException as error:
            raise RuntimeError(error_mark(error)) from None

    return write


class _Answers:
    """The questions of `TruckeeStream.java`, by name."""

    def __init__(self, spark: SparkSession, source: StreamSource) -> None:
        self._spark = spark
        self._source = source

    def __call__(self, question: str, text: str) -> Any:
        first, _, second = text.partition("\n")
        match question:
            case "latestOffset":
                return self._source.latest_offset(second or None, is_limited=first == "limited")
            case "getBatch":
                return self._streaming(self._source.batch(first or None, second))
            case "prepareForTriggerAvailableNow":
                self._source.prepare_for_available_now()
            case "commit":
                self._source.commit(text)
        return None

    def _streaming(self, batch: DataFrame) -> Any:
        plan = batch._jdf.queryExecution().analyzed()
        return _frame(self._spark, compiled(self._spark, "TruckeeStream").streaming(plan))._jdf


def _frame(spark: SparkSession, plan: Any) -> DataFrame:
    dataset = getattr(gateway(spark).jvm, "org.apache.spark.sql.classic.Dataset")
    return DataFrame(dataset.ofRows(spark._jsparkSession, plan), spark)
