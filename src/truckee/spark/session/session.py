"""A Spark session that works: Java found, workers on this interpreter, no chatter."""

from __future__ import annotations

import os
import sys
from importlib import resources

from pyspark import SparkContext
from pyspark.sql import SparkSession

from truckee.spark.session.java import ensure_java

# What a session gets unless its builder says otherwise.
_DEFAULTS = {
    "spark.ui.showConsoleProgress": "false",
}
_LOCAL_DEFAULTS = {
    # A laptop's host name often resolves to nothing, or to an address of a network it has left.
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "localhost",
    "spark.ui.enabled": "false",
    "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 2)),
}
_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Return the builder with what truckee needs added, and nothing of the caller's changed.

    A session that runs already is taken as it is.
    """
    if _is_running():
        return builder
    ensure_java()
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    os.environ.setdefault("PYSPARK_DRIVER_PYTHON", sys.executable)
    given = builder._options
    defaults = dict(_DEFAULTS)
    if given.get("spark.master", "local").startswith("local"):
        defaults |= _LOCAL_DEFAULTS
    for key, value in defaults.items():
        if key not in given:
            builder = builder.config(key, value)
    # Not the extra ones, which are the caller's, and stand behind these in the command.
    quiet = resources.files("truckee.spark") / "log4j2-quiet.properties"
    own = f"-Dlog4j2.configurationFile=file:{quiet}"
    theirs = given.get(_JAVA_OPTIONS, own)
    return builder.config(_JAVA_OPTIONS, theirs if own in theirs else f"{own} {theirs}")


def session(app_name: str = "truckee", **conf: object) -> SparkSession:
    """Return the running Spark session, or start a local one.

    Settings are Spark's own, by keyword: `session(**{"spark.sql.shuffle.partitions": 4})`;
    `master` stands for `spark.master`. Of a session that runs already, only those change that are
    given here and that can still be changed.
    """
    settings = {"spark.master": conf.pop("master", "local[*]"), "spark.app.name": app_name, **conf}
    if _is_running():
        settings = conf
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    return configure(builder).getOrCreate()


def _is_running() -> bool:
    """Whether there is a session already, whose settings are not ours to make."""
    return SparkContext._active_spark_context is not None
