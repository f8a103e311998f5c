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
    # The JVM lives for one command: what Java's second compiler makes would come too late for it.
    "spark.driver.defaultJavaOptions": "-XX:TieredStopAtLevel=1",
}


@contextmanager
def spark_session() -> Iterator[tuple[SparkSession, Status]]:
    """Give a local session, and a status line on stderr that says what is being done.

    Times are UTC, as everywhere on the command line. Meanwhile descriptor 2 leads to a temporary
    file: the JVM inherits it, and what it says of its modules and native libraries is of no use
    to those who asked for rows. It is shown if Spark does not start.
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
        # PySpark has opinions on the versions of libraries that are not used here.
        warnings.simplefilter("ignore")
        return session("truckee", **_SETTINGS)


@contextmanager
def _stderr_aside() -> Iterator[tuple[TextIO, IO[bytes]]]:
    """Give the real stderr, and the file that descriptor 2 leads to until the end."""
    sys.stderr.flush()
    real = os.dup(2)
    with tempfile.TemporaryFile() as aside, os.fdopen(real, "w", buffering=1) as terminal:
        os.dup2(aside.fileno(), 2)
        try:
            yield terminal, aside
        finally:
            sys.stderr.flush()
            os.dup2(real, 2)
