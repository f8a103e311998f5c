"""The process that one engine runs in: a line of JSON in, a line of JSON out.

    python -m benchmarks.worker ENGINE CASE

It says that it is ready, with the engine's version, then answers each request `{"op", "params"}`.
Only the standard library is imported here: every engine brings its own environment.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import resource
import sys
import time
import traceback
from collections.abc import Mapping
from functools import cached_property
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any, TextIO

from benchmarks.case import Case, load_case
from benchmarks.delta_session import delta_session

DISTRIBUTIONS = {
    "truckee": ("truckee", "pyspark"),
    "truckee-before": ("truckee", "pyspark"),
    "truckee-rewrite": ("truckee", "pyspark"),
    "spark-parquet": ("pyspark",),
    "pyarrow": ("pyarrow",),
    "deltalake": ("deltalake",),
    "delta-spark": ("delta-spark", "pyspark"),
}
SPARK_CONF = {
    "spark.sql.warehouse.dir": str(Path(__file__).resolve().parent / ".cache" / "warehouse"),
    "spark.master": "local[2]",
    "spark.driver.memory": "4g",
    "spark.sql.shuffle.partitions": "4",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
}


class Context:
    """What an engine's function gets beside its parameters: above all a Spark session."""

    def __init__(self, engine: str, conf: Mapping[str, str]) -> None:
        self.engine = engine
        self._conf = {**SPARK_CONF, **conf}

    @cached_property
    def spark(self) -> Any:
        """The engine's Spark session, started on first use."""
        name = f"bench-{self.engine}"
        if self.engine == "delta-spark":
            return delta_session(name, self._conf)
        from pyspark.sql import SparkSession

        builder = SparkSession.builder.appName(name)
        for key, value in self._conf.items():
            builder = builder.config(key, value)
        if self.engine.startswith("truckee"):
            import truckee

            builder = truckee.configure(builder)
        return builder.getOrCreate()


def main() -> None:
    """Serve requests until stdin ends."""
    engine, name = sys.argv[1:]
    # Libraries and JVMs print to stdout, so the answers have their own channel.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    try:
        case = load_case(name)
        context = Context(engine, case.spark_conf)
        for module in case.imports.get(engine, ()):
            import_module(module)
        if case.needs_spark and engine != "deltalake":
            _ = context.spark
        _reply(replies, {"version": _version(engine, case)})
    except Exception:
        _reply(replies, {"error": traceback.format_exc()})
        return
    for line in sys.stdin:
        request = json.loads(line)
        try:
            _reply(replies, _answer(case, context, request))
        except Exception:
            _reply(replies, {"error": traceback.format_exc()})


def _answer(case: Case, context: Context, request: dict[str, Any]) -> dict[str, Any]:
    if request["op"] == "reset":
        if case.reset is not None:
            case.reset(context, request["params"])
        gc.collect()
        _forget_peak()
        return {}
    run = case.engines[context.engine]
    start = time.perf_counter()
    answer = run(context, request["params"])
    seconds = time.perf_counter() - start
    return {"seconds": seconds, "peak_mb": _own_peak_mb(), "answer": answer}


def _forget_peak() -> None:
    # If this is not possible, the peak of the whole process is reported, which is never less.
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")


def _own_peak_mb() -> float:
    """Return the peak of this process, or of the largest child that has ended, if that is more."""
    scale = 2**20 if sys.platform == "darwin" else 2**10
    own = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / scale
    for line in _status_lines():
        if line.startswith("VmHWM:"):
            own = int(line.split()[1]) / 2**10
    return max(own, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / scale)


def _status_lines() -> list[str]:
    status = Path("/proc/self/status")
    return status.read_text().splitlines() if status.exists() else []


def _version(engine: str, case: Case) -> str:
    own, *others = DISTRIBUTIONS[engine]
    brought = [f"{name} {version(name)}" for name in others if case.needs_spark]
    return ", ".join([version(own), *brought])


def _reply(replies: TextIO, message: dict[str, Any]) -> None:
    replies.write(json.dumps(message) + "\n")
    replies.flush()


if __name__ == "__main__":
    main()
