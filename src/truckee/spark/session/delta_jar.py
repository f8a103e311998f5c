"""Is Delta's own JAR on the class path of a session?"""

from __future__ import annotations

from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

_DELTA_CLASS = "org.apache.spark.sql.delta.DeltaLog"


def delta_jar(spark: SparkSession) -> str | None:
    """Return where the JVM would load Delta's classes from, None if it has none."""
    jvm = spark.sparkContext._gateway.jvm  # type: ignore[union-attr]
    loader = jvm.java.lang.Thread.currentThread().getContextClassLoader()
    try:
        found = loader.loadClass(_DELTA_CLASS)
    except Py4JJavaError:
        return None
    source = found.getProtectionDomain().getCodeSource()
    return "an unknown place" if source is None else str(source.getLocation().toString())
