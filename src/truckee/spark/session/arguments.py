"""Type checks for arguments of the public functions: a session, a path, a DataFrame."""

from __future__ import annotations

import os

from pyspark.sql import DataFrame, SparkSession

from truckee.errors.options import ArgumentTypeError
from truckee.errors.spark import RemoteSessionError
from truckee.options.arguments import PathLike as PathLike
from truckee.options.arguments import checked_path as checked_path
from truckee.options.arguments import package_and_type

_CONNECT = "pyspark.sql.connect."
# PySpark sets one of them before it starts a server for `remote("local")` in this process.
_CONNECT_MODES = ("SPARK_LOCAL_REMOTE", "SPARK_CONNECT_MODE_ENABLED")


def is_connect_process() -> bool:
    """Return whether PySpark's functions make columns of Spark Connect in this process.

    Then truckee cannot work for a classic session of the process, such as the one that PySpark
    starts below a server of its own.
    """
    return any(name in os.environ for name in _CONNECT_MODES)


def checked_session(given: object) -> SparkSession:
    """Return a classic session; ArgumentTypeError if something else was given, such as the path."""
    if is_of_connect(given, SparkSession):
        raise RemoteSessionError
    if isinstance(given, SparkSession):
        return given
    needs = "be a SparkSession, as in truckee.read(spark) or DeltaTable.forPath(spark, path)"
    raise ArgumentTypeError(what="the first argument", needs=needs, found=package_and_type(given))


def checked_frame(given: object, *, what: str) -> DataFrame:
    """Return a DataFrame of a classic session; ArgumentTypeError if something else was given."""
    if is_of_connect(given, DataFrame):
        raise RemoteSessionError
    if isinstance(given, DataFrame):
        return given
    needs = "be DataFrame"
    if type(given).__name__ in ("DataFrame", "Table", "list"):
        needs = "be a DataFrame of Spark, made with spark.createDataFrame(...)"
    raise ArgumentTypeError(what=what, needs=needs, found=package_and_type(given))


def is_of_connect(given: object, kind: type) -> bool:
    """Return whether an object is of a PySpark class's counterpart in Spark Connect."""
    theirs = type(given)
    return theirs.__module__.startswith(_CONNECT) and theirs.__name__ == kind.__name__
