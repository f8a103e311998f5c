"""JARs by Maven, fetched by the Ivy that comes with Spark into the cache that delta-spark's use."""

from __future__ import annotations

from pathlib import Path

import pytest
from py4j.protocol import Py4JJavaError
from pyspark.sql import SparkSession

from benchmarks.delta_session import IVY
from truckee.spark.jvm.bridge import gateway


def hadoop_version(spark: SparkSession) -> str:
    """Return the version of the Hadoop classes that come with Spark."""
    return str(gateway(spark).jvm.org.apache.hadoop.util.VersionInfo.getVersion())


def maven_jars(spark: SparkSession, coordinates: str) -> list[Path]:
    """Return the JARs of `group:name:version`; the test is skipped where they cannot be had.

    `?transitive=false` at the end leaves out what they depend on.
    """
    jvm = gateway(spark).jvm
    jvm.java.lang.System.setProperty("spark.jars.ivy", str(IVY))
    place = jvm.java.net.URI.create(f"ivy://{coordinates}")
    try:
        found = jvm.org.apache.spark.util.DependencyUtils.resolveMavenDependencies(place)
    except Py4JJavaError as error:
        pytest.skip(f"{coordinates} could not be had from Maven: {error.java_exception}")
    return [Path(str(found.apply(index))) for index in range(found.size())]
