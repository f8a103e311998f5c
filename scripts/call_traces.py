"""The modules that five calls cross, as ARCHITECTURE.md describes them.

`python -m scripts.call_traces` prints the number of modules and their names. A module is crossed if
one of its functions runs during the call. Each call was made before on the same table, so what
happens only once, such as imports, does not count.
"""

from __future__ import annotations

import contextlib
import io
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any

from pyspark.sql import SparkSession

import truckee
from truckee import DeltaTable
from truckee.cli.main import main as run_command
from truckee.spark.jvm import bridge

_PACKAGE = "truckee."


def call_traces(spark: SparkSession, folder: Path) -> dict[str, set[str]]:
    """Return the modules that each of the five calls crosses, as paths below the package."""
    path = str(folder / "t")
    table = _new_table(spark, path)
    numbers = iter(range(10, 100))

    def load() -> None:
        truckee.read(spark).load(path).where("id > 5").collect()

    def update() -> None:
        table.update(f"id = {next(numbers)}", {"v": "'b'"})

    def changes() -> None:
        table.changes(startingVersion=1, endingVersion=3).collect()

    def command() -> None:
        with contextlib.redirect_stdout(io.StringIO()):
            run_command(["changes", path, "--from", "1", "--to", "3", "--json"])

    calls = {"load": load, "update": update, "changes": changes, "command": command}
    traces = {name: _crossed(call) for name, call in calls.items()}
    return {**traces, "micro-batch": _micro_batch(spark, folder)}


def _new_table(spark: SparkSession, path: str) -> DeltaTable:
    """Return a table with the feed on, whose one file has a deletion vector."""
    writer = truckee.write(spark.range(0, 100, 1, 1).selectExpr("id", "'a' AS v"))
    writer.option("delta.enableChangeDataFeed", "true")
    writer.option("delta.enableDeletionVectors", "true").save(path)
    table = DeltaTable.forPath(spark, path)
    for number in (3, 4, 5):
        table.delete(f"id = {number}")
    return table


def _crossed(call: Callable[[], None]) -> set[str]:
    """Return what a call crosses the second time."""
    call()
    with _traced() as modules:
        call()
    return modules


def _micro_batch(spark: SparkSession, folder: Path) -> set[str]:
    """Return what one micro-batch of a running stream of the feed crosses.

    Only calls of the JVM into Python are traced, and an append makes none of its own.
    """
    path = str(folder / "stream")
    _new_table(spark, path)

    def append() -> None:
        truckee.write(spark.range(1).selectExpr("id", "'a' AS v")).mode("append").save(path)

    stream = truckee.readStream(spark).option("readChangeFeed", "true").load(path)
    writer = stream.writeStream.format("noop").option("checkpointLocation", str(folder / "c"))
    query = writer.trigger(processingTime="100 milliseconds").start()
    try:
        query.processAllAvailable()
        append()
        query.processAllAvailable()
        with _traced(only_callbacks=True) as modules:
            append()
            query.processAllAvailable()
    finally:
        query.stop()
    return modules


@contextlib.contextmanager
def _traced(*, only_callbacks: bool = False) -> Iterator[set[str]]:
    """Yield the modules whose functions run in the block: here, in new threads, in callbacks."""
    modules: set[str] = set()

    def note(frame: FrameType, event: str, _: Any) -> None:
        module = frame.f_globals.get("__name__", "")
        if event == "call" and module.startswith(_PACKAGE):
            modules.add(module.removeprefix(_PACKAGE).replace(".", "/") + ".py")

    answer = bridge._Answers.call

    def noted_answer(self: Any, *arguments: Any) -> Any:
        before = sys.getprofile()
        sys.setprofile(note)
        try:
            return answer(self, *arguments)
        finally:
            sys.setprofile(before)

    bridge._Answers.call = noted_answer  # type: ignore[method-assign]
    if not only_callbacks:
        threading.setprofile(note)
        sys.setprofile(note)
    try:
        yield modules
    finally:
        sys.setprofile(None)
        threading.setprofile(None)
        bridge._Answers.call = answer  # type: ignore[method-assign]


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as place:
        session = truckee.session(**{"spark.ui.showConsoleProgress": False})
        for name, crossed in call_traces(session, Path(place)).items():
            print(f"{name}: {len(crossed)} modules")
            for module in sorted(crossed):
                print(f"    {module}")
