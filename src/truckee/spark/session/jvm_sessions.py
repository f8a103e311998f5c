"""Sessions of the JVM as PySpark has them.

PySpark's constructor claims more than the object: `RDD.toDF` belongs to the session that was made
last, and a session that is made while there is none becomes the one of the class and the default
of the JVM. So sessions that Spark mentions to us are made without it.

Our own copies of a session (see `truckee.spark.write.session_copy`) never reach Python: in their
place stands the session that they are copies of.
"""

from __future__ import annotations

from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.profiler import AccumulatorProfilerCollector

from truckee.spark.jvm.classes import maker


class _Mentioned(SparkSession):
    """A session that the JVM has, as an object that claims nothing."""

    def __init__(self, sparkContext: SparkContext, jsparkSession: Any) -> None:
        self._sc = sparkContext
        self._jsc = sparkContext._jsc
        self._jvm = sparkContext._jvm
        self._jsparkSession = jsparkSession
        self._profiler_collector = AccumulatorProfilerCollector()


def session_of(java_session: Any) -> SparkSession:
    """Return a session of the JVM; for a copy of ours, the session that it is a copy of."""
    context = SparkContext._active_spark_context
    assert context is not None
    found = maker(context, "TruckeeSessions").users(java_session)
    known = SparkSession._instantiatedSession
    if known is not None and known._jsparkSession.equals(found):
        return known
    return _Mentioned(context, found)
