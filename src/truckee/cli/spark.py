"""Spark for commands: prints a status line while it starts, and is quiet from then on."""

from __future__ import annotations

import os
import sys
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import IO, TYPE_CHECKING, TextIO

if TYPE_CHECKING:
    from pyspark.sql import SparkSession
    from rich.status import Status

_SETTINGS = {
    "spark.sql.session.timeZone": "UTC",
    # A command has a status line of its own.
    "spark.ui.showConsoleProgress": "false",
    # The JVM runs one command only, too short for Java's second compiler to pay off.
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}


@contextmanager
def spark_session() -> Iterator[tuple[SparkSession, Status]]:
    """Yield a local session, and a status line on stderr that says what is being done.

    Values of columns are in UTC, as everywhere on the command line. Meanwhile descriptor 2 is a
    temporary file. The JVM inherits it, and its messages about modules and native libraries do not
    help users. They are shown if Spark does not start.
    """
    from rich.console import Console

    with _stderr_aside() as (terminal, aside):
        console = Console(file=terminal, force_terminal=terminal.isatty(), highlight=False)
        with console.status("starting Spark") as status:
            try:
                spark = _started()
            except BaseException:
                aside.seek(0)
                terminal.write(aside.read().decode(errors="replace"))
                raise
            yield spark, status


def _started() -> SparkSession:
    from truckee.spark.session.session import session

    with warnings.catch_warnings():
        # PySpark warns about versions of libraries that are not used here.
        warnings.simplefilter("ignore")
        return session("truckee", **_SETTINGS)


@contextmanager
def _stderr_aside() -> Iterator[tuple[TextIO, IO[bytes]]]:
    """Yield the real stderr, and the file that descriptor 2 refers to meanwhile."""
    sys.stderr.flush()
    real = os.dup(2)
    with tempfile.TemporaryFile() as aside, os.fdopen(real, "w", buffering=1) as terminal:
        os.dup2(aside.fileno(), 2)
        try:
            yield terminal, aside
        finally:
            sys.stderr.flush()
            os.dup2(real, 2)
