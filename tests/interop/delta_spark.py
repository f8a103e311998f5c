"""delta-spark, the other engine: in a process and an environment of its own."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.delta_session import NO_JARS

_REPOSITORY = Path(__file__).resolve().parent.parent.parent
_PYTHON = _REPOSITORY / ".venv-delta" / "bin" / "python"
_WORKER = Path(__file__).with_name("delta_worker.py")

_SQL = """
frame = spark.sql(arguments["text"])
result = [row.asDict(recursive=True) for row in frame.collect()]
"""
_WRITE = """
writer = spark.createDataFrame(
    [tuple(row) for row in arguments["rows"]], arguments["schema"]
).coalesce(1).write.format("delta").mode(arguments["mode"]).options(**arguments["options"])
if arguments["partition_by"]:
    writer = writer.partitionBy(*arguments["partition_by"])
writer.save(arguments["path"])
"""
_FORGET = "spark._jvm.org.apache.spark.sql.delta.DeltaLog.clearCache()"
_READ = """
frame = spark.read.format("delta").options(**arguments["options"]).load(arguments["path"])
result = [row.asDict(recursive=True) for row in frame.collect()]
"""


class DeltaSparkMissingError(Exception):
    """delta-spark cannot be run here."""


class DeltaSparkError(Exception):
    """What was asked of delta-spark raised in its process; the text is its traceback."""


class DeltaSpark:
    """A running delta-spark. Rows come back as dicts; what JSON cannot say, as text.

    `settings` are those of Spark, beside the ones that all these tests have.
    """

    def __init__(self, log: Path, settings: Mapping[str, str] | None = None) -> None:
        if not _PYTHON.exists():
            raise DeltaSparkMissingError("there is no .venv-delta; `make interop` makes it")
        self._log = log
        with log.open("w") as stderr:
            self._process = subprocess.Popen(
                [str(_PYTHON), str(_WORKER), json.dumps(dict(settings or {}))],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=True,
                env=_environment(),
                cwd=log.parent,  # Spark leaves folders where it is started
            )
        try:
            self.spark_version: str = self._hear()
        except BaseException:
            self.close()
            raise

    def sql(self, text: str) -> list[dict[str, Any]]:
        """Run one statement and return its rows; a table by path is delta.`/the/path`."""
        rows: list[dict[str, Any]] = self.run(_SQL, text=text)
        return rows

    def write(
        self,
        path: Path | str,
        rows: Sequence[Sequence[Any]],
        schema: str,
        *,
        mode: str = "append",
        partition_by: Sequence[str] = (),
        options: Mapping[str, str] | None = None,
    ) -> None:
        """Write rows as one file; `schema` is Spark's DDL, as in "id long, name string"."""
        self.run(
            _WRITE,
            path=str(path),
            rows=[list(row) for row in rows],
            schema=schema,
            mode=mode,
            partition_by=list(partition_by),
            options=dict(options or {}),
        )

    def read(self, path: Path | str, **options: object) -> list[dict[str, Any]]:
        """Return the rows of a table; options as delta-spark knows them, `versionAsOf=3`."""
        texts = {name: str(value) for name, value in options.items()}
        rows: list[dict[str, Any]] = self.run(_READ, path=str(path), options=texts)
        return rows

    def forget(self) -> None:
        """Forget all snapshots: one that was read before would stand for a table made anew."""
        self.run(_FORGET)

    def run(self, code: str, **arguments: Any) -> Any:
        """Run Python that sees `spark` and `arguments`, and return what it put in `result`."""
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps({"code": code, "arguments": arguments}) + "\n")
        self._process.stdin.flush()
        return self._hear()

    def close(self) -> None:
        """End the process."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            pipe.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _hear(self) -> Any:
        assert self._process.stdout is not None
        line = self._process.stdout.readline()
        if not line:
            said = self._log.read_text(errors="replace")
            if NO_JARS in said:
                raise DeltaSparkMissingError("its JARs could not be had from Maven")
            raise DeltaSparkError(f"the process ended without an answer:\n{said[-2000:]}")
        reply = json.loads(line)
        if "error" in reply:
            raise DeltaSparkError(reply["error"])
        return reply["result"]


def _environment() -> dict[str, str]:
    environment = os.environ | {"PYTHONPATH": str(_REPOSITORY)}
    for name in ("SPARK_HOME", "PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"):
        environment.pop(name, None)  # they may point into truckee's own environment
    return environment
