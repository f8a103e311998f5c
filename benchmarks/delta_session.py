"""A session of delta-spark, with its JARs by Maven: for benchmarks and interoperability tests.

It runs in an environment of its own (`requirements-delta.lock`), which holds no truckee.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

IVY = Path(__file__).resolve().parent.parent / ".cache" / "ivy"
DELTA_CONF = {
    "spark.sql.extensions": "io.delta.sql.DeltaSparkSessionExtension",
    "spark.sql.catalog.spark_catalog": "org.apache.spark.sql.delta.catalog.DeltaCatalog",
    "spark.jars.ivy": str(IVY),
}
# What Spark prints when Maven cannot be reached, or does not have the JARs.
NO_JARS = "unresolved dependency"


def delta_session(name: str, conf: Mapping[str, str]) -> Any:
    """Return a session that reads and writes Delta tables by delta-spark's own JARs."""
    from delta import configure_spark_with_delta_pip
    from pyspark.sql import SparkSession

    builder = SparkSession.builder.appName(name)
    for key, value in {**DELTA_CONF, **conf}.items():
        builder = builder.config(key, value)
    return configure_spark_with_delta_pip(builder).getOrCreate()
