"""A Spark session that works: Java is found, workers use this interpreter, logs are quiet."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from importlib import resources
from typing import Any

from pyspark import SparkContext
from pyspark.sql import SparkSession

from truckee.errors.caller_lines import warn_caller
from truckee.errors.options import ArgumentTypeError
from truckee.options.arguments import package_and_type
from truckee.options.delta_settings import UnusedSettingWarning
from truckee.spark.jvm.jvm_errors import leave_errors_to_exceptions
from truckee.spark.session.class_archive import JAVA_VARIABLES, archive_options
from truckee.spark.session.explicit_settings import conf_folder, explicit_settings, jvm_is_there
from truckee.spark.session.java import ensure_java
from truckee.spark.session.jvm_notes import without_java_notes

CATALOG_SETTING = "spark.sql.catalog.spark_catalog"
EXTENSIONS_SETTING = "spark.sql.extensions"
DELTA_CATALOG = "org.apache.spark.sql.delta.catalog.DeltaCatalog"
DELTA_EXTENSION = "io.delta.sql.DeltaSparkSessionExtension"

_JAVA_OPTIONS = "spark.driver.defaultJavaOptions"
_ALL_JAVA_OPTIONS = (_JAVA_OPTIONS, "spark.driver.extraJavaOptions")


_OF_SESSION = ("spark.sql.", "spark.databricks.", "spark.truckee.")

_started: list[Callable[[SparkSession], object]] = []


def after_start(prepare: Callable[[SparkSession], object]) -> None:
    """Register a function that prepares sessions started by `session` or `configure`."""
    if prepare not in _started:
        _started.append(prepare)


def configure(builder: SparkSession.Builder) -> SparkSession.Builder:
    """Return the builder with the settings that truckee needs; existing settings are not changed.

    The session that it starts knows Delta's SQL and the format `delta`. The two settings by which
    delta-spark does this are removed, since they name classes of a JAR.

    It finds Java (`JAVA_HOME`), which starts from an archive of Spark's classes if there is one
    (`spark.truckee.classArchive`). Unless log4j is configured, Spark logs errors only
    (`-Dlog4j2.configurationFile=...` in `spark.driver.defaultJavaOptions`), and PySpark does not
    log the errors that it raises. With a local master, workers run on this interpreter
    (`PYSPARK_PYTHON`). Settings from the builder, spark-submit, `spark-defaults.conf` or the
    environment are kept, and so are those of a running session.
    """
    if not hasattr(builder, "getOrCreate"):
        needs = "be a builder, as SparkSession.builder is; truckee.enable takes a running session"
        found = package_and_type(builder)
        raise ArgumentTypeError(what="the argument of configure", needs=needs, found=found)
    _prepare_when_started(builder)
    if _is_running() or jvm_is_there():
        return builder
    ensure_java()
    given = {**explicit_settings(), **builder._options}
    if given.get("spark.master", "local").startswith("local"):
        os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    options = _java_options(given)
    own = []
    if not any("log4j" in each for each in options) and not any(conf_folder().glob("log4j2.*")):
        quiet = resources.files("truckee.spark") / "log4j2-quiet.properties"
        own.append(f"-Dlog4j2.configurationFile=file:{quiet}")
        leave_errors_to_exceptions()
    own += archive_options(given, options)
    # The default options come before the caller's own in the command.
    own.append(str(given.get(_JAVA_OPTIONS, "")))
    joined = " ".join(filter(None, own))
    return builder.config(_JAVA_OPTIONS, joined) if joined else builder


def _prepare_when_started(builder: SparkSession.Builder) -> None:
    """Make this builder, and no other, call the functions given to `after_start`."""
    original = builder.getOrCreate
    if getattr(original, "prepares", False):
        return

    def start() -> SparkSession:
        if _is_running() or jvm_is_there():
            started = start_without_delta_classes(builder._options, original)
        else:
            with without_java_notes():
                started = start_without_delta_classes(builder._options, original)
        for prepare in _started:
            prepare(started)
        return started

    start.prepares = True  # type: ignore[attr-defined]
    builder.getOrCreate = start  # type: ignore[method-assign]


def start_without_delta_classes(
    options: dict[str, Any], start: Callable[[], SparkSession]
) -> SparkSession:
    """Start a session without the settings that name classes of delta-spark.

    Afterwards `spark.conf.get("spark.sql.extensions")` says what the options said: programs look
    there to find out whether a session knows Delta. If packages of delta-spark are requested,
    nothing is left out.
    """
    given = str(options.get(EXTENSIONS_SETTING, ""))
    _leave_out_delta_classes(options)
    kept = str(options.get(EXTENSIONS_SETTING, ""))
    started = start()
    is_classic = not type(started).__module__.startswith("pyspark.sql.connect")
    if given != kept and is_classic and started.conf.get(EXTENSIONS_SETTING, "") == kept:
        # Spark has loaded the extensions, so it refuses to change the setting by spark.conf.set.
        settings = started._jsparkSession.sessionState().conf()
        settings.setConfString(EXTENSIONS_SETTING, given)
    return started


def _leave_out_delta_classes(options: dict[str, Any]) -> None:
    jars = str(options.get("spark.jars", "")).split(",")
    packages = str(options.get("spark.jars.packages", "")).split(",")
    if any("delta" in jar.rpartition("/")[2] for jar in jars):
        return
    if any(package.strip().startswith("io.delta:") for package in packages):
        return
    if options.get(CATALOG_SETTING) == DELTA_CATALOG:
        del options[CATALOG_SETTING]
    names = str(options.get(EXTENSIONS_SETTING, "")).split(",")
    if DELTA_EXTENSION in names:
        names.remove(DELTA_EXTENSION)
        options[EXTENSIONS_SETTING] = ",".join(names)


def session(app_name: str = "truckee", **conf: object) -> SparkSession:
    """Return the running Spark session, or start one.

    Settings are Spark's own, by keyword: `session(**{"spark.sql.shuffle.partitions": 4})`;
    `master` stands for `spark.master`. In a session that already runs, only the settings given here
    change, and there is a warning of those that can no longer be changed.

    A session that is started gets what `configure` adds and these settings, unless a keyword,
    spark-submit, `spark-defaults.conf` or the environment say otherwise:

    | setting                        | value                 | when         |
    |--------------------------------|-----------------------|--------------|
    | `spark.master`                 | `local[*]`            | always       |
    | `spark.driver.bindAddress`     | `127.0.0.1`           | local master |
    | `spark.driver.host`            | `localhost`           | local master |
    | `spark.ui.enabled`             | `false`               | local master |
    | `spark.sql.shuffle.partitions` | the cores, at least 2 | local master |

    The addresses are set since a laptop's host name often points to a network that it has left.
    """
    settings = {_named(key): value for key, value in conf.items()}
    was_running = _is_running()
    if not was_running:
        said = explicit_settings()
        master = settings.setdefault("spark.master", said.get("spark.master", "local[*]"))
        settings.setdefault("spark.app.name", app_name)
        if str(master).startswith("local"):
            for key, default in _local_defaults().items():
                if key not in said:
                    settings.setdefault(key, default)
    builder = SparkSession.builder
    for key, value in settings.items():
        builder = builder.config(key, value)
    found = configure(builder).getOrCreate()
    if was_running:
        _warn_of_late(found, builder._options)
    return found


def _warn_of_late(spark: SparkSession, wanted: Mapping[str, str]) -> None:
    """Warn of settings that a running session does not take any more."""
    context = spark.sparkContext.getConf()
    for key, value in wanted.items():
        # Spark keeps whatever it is told in the session, so only its start shows what is in effect.
        is_of_session = key.startswith(_OF_SESSION)
        there = spark.conf.get(key, None) if is_of_session else context.get(key)
        if there != value:
            now = "is not set" if there is None else f"is {there}"
            text = f"setting {key} has no effect on the running session, where it {now}"
            warn_caller(f"{text}; stop that first", UnusedSettingWarning)


def _named(key: str) -> str:
    return "spark.master" if key == "master" else key


def _local_defaults() -> dict[str, str]:
    return {
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.driver.host": "localhost",
        "spark.ui.enabled": "false",
        "spark.sql.shuffle.partitions": str(max(2, os.cpu_count() or 2)),
    }


def _java_options(given: Mapping[str, str]) -> list[str]:
    """Return the options that the JVM gets from settings and from the environment."""
    options = [str(given.get(name, "")) for name in _ALL_JAVA_OPTIONS]
    return options + [os.environ.get(name, "") for name in JAVA_VARIABLES]


def _is_running() -> bool:
    """Whether a session already runs, whose settings we must not change."""
    return SparkContext._active_spark_context is not None
