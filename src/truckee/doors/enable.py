"""truckee.enable: a session that knows Delta's SQL and the format `delta`."""

from __future__ import annotations

from pyspark.sql import SparkSession

from truckee.commands.catalog import before_names
from truckee.doors.answers import answer
from truckee.errors.spark import DeltaJarPresentError, RemoteSessionError
from truckee.spark.session.arguments import checked_session, is_connect_process
from truckee.spark.session.doors import open_doors
from truckee.spark.session.session import after_start
from truckee.spark.session.session import configure as configure
from truckee.spark.session.session import session as session


def enable(spark: SparkSession) -> SparkSession:
    """Enable Delta's SQL and `format("delta")` in a session and those derived from it; return it.

    Calling it twice is fine. Raises `DeltaJarPresentError` if Delta's own JAR is on the class path,
    since the name then belongs to it, and `RemoteSessionError` in a process that PySpark has
    switched to Spark Connect.
    """
    if is_connect_process():
        raise RemoteSessionError
    open_doors(checked_session(spark), answer)
    return spark


def _enable_where_free(spark: SparkSession) -> None:
    """Enable a session, unless Delta's own JAR is there."""
    try:
        enable(spark)
    except DeltaJarPresentError:
        return


def enable_on_first_use() -> None:
    """Enable sessions when truckee starts them or enters a table into their catalog."""
    before_names(_enable_where_free)
    after_start(_enable_where_free)


enable_on_first_use()
