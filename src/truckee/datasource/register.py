"""Registration of the formats, for sessions that have not found them by themselves."""

from __future__ import annotations

from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession

from truckee.datasource.source import DeltaSource, TruckeeSource


def register(spark: SparkSession) -> None:
    """Make `format("truckee")` known to a session, classic or of Spark Connect.

    The name `delta` is registered too, unless a JAR of Delta Lake has it already. If truckee is
    installed as a package, Spark finds both names by itself.
    """
    spark.dataSource.register(TruckeeSource)
    try:
        spark.dataSource.register(DeltaSource)
    except AnalysisException as error:
        if error.getCondition() != "DATA_SOURCE_ALREADY_EXISTS":
            raise
