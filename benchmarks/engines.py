"""The engines, each in its own process, controlled through a pipe."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.case import Case, Params
from benchmarks.delta_session import NO_JARS
from benchmarks.memory import TreePeak

REPOSITORY = Path(__file__).resolve().parent.parent
CACHE = Path(__file__).resolve().parent / ".cache"
DELTA_PYTHON = REPOSITORY / ".venv-delta" / "bin" / "python"

# Another checkout of truckee, whose folder is in the environment: what a change costs or saves.
BEFORE = "truckee-before"
BEFORE_FOLDER = "TRUCKEE_BEFORE"
ENGINES = (
    "truckee",
    BEFORE,
    "truckee-rewrite",
    "spark-parquet",
    "pyarrow",
    "deltalake",
    "delta-spark",
)
START_LIMIT_S = 1800
RUN_LIMIT_S = 300
ERROR_LENGTH = 400


class EngineError(Exception):
    """An engine could not be started, or failed at a request."""


class EngineMissingError(EngineError):
    """An engine is left out of the run, for a reason outside of the case."""


@dataclass(frozen=True)
class Measurement:
    """One run of one engine."""

    seconds: float
    peak_mb: float
    answer: Any


class EngineProcess:
    """A worker of one engine for one case; a `with` block ends it."""

    def __init__(self, engine: str, case: Case, run_limit_s: int = RUN_LIMIT_S) -> None:
        self.engine = engine
        self._run_limit_s = run_limit_s
        CACHE.mkdir(exist_ok=True)
        self._log = CACHE / f"{case.name}-{engine}.log"
        library = Path(os.environ[BEFORE_FOLDER] if engine == BEFORE else REPOSITORY) / "src"
        environment = os.environ | {"PYTHONPATH": f"{REPOSITORY}:{library}"}
        environment.pop("SPARK_HOME", None)
        with self._log.open("w") as log:
            self._process = subprocess.Popen(
                [str(_python(engine)), "-m", "benchmarks.worker", engine, case.name],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
                cwd=REPOSITORY,
                env=environment,
                start_new_session=True,  # so that its JVM can be ended with it
            )
        try:
            self.version = self._hear(START_LIMIT_S)["version"]
        except EngineError as error:
            self.close()
            raise self._reason(error) from None

    def __enter__(self) -> EngineProcess:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def measure(self, params: Params) -> Measurement:
        """Return the time and peak memory of one run, after the untimed reset of the case."""
        self._ask("reset", params)
        with TreePeak(self._process.pid) as tree:
            reply = self._ask("run", params)
        return Measurement(reply["seconds"], max(tree.mb, reply["peak_mb"]), reply["answer"])

    def close(self) -> None:
        """End the worker."""
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(OSError):  # what was not yet written to a process that has ended
                pipe.close()
        try:
            self._process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            self._kill()

    def _kill(self) -> None:
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _ask(self, op: str, params: Params) -> dict[str, Any]:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"op": op, "params": params}) + "\n")
            self._process.stdin.flush()
        except OSError:
            raise EngineError(f"{self.engine} has ended before") from None
        return self._hear(self._run_limit_s)

    def _hear(self, limit_s: int) -> dict[str, Any]:
        assert self._process.stdout is not None
        ready, _, _ = select.select([self._process.stdout], [], [], limit_s)
        if not ready:
            self._kill()
            raise EngineError(f"{self.engine} did not answer in {limit_s} s")
        line = self._process.stdout.readline()
        if not line:
            raise EngineError(f"{self.engine} ended without an answer, see {self._log}")
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            last_line = reply["error"].strip().splitlines()[-1]
            raise EngineError(_shortened(last_line.replace(str(REPOSITORY), ".")))
        return reply

    def _reason(self, error: EngineError) -> EngineError:
        log = self._log.read_text(errors="replace")
        if NO_JARS in log:
            return EngineMissingError("its JARs could not be had from Maven")
        return error


def _shortened(message: str) -> str:
    """Return the start of a message: some engines name every file of the table in one line."""
    return message if len(message) <= ERROR_LENGTH else message[:ERROR_LENGTH] + " ..."


def prepare_engine(engine: str, case: Case) -> None:
    """Set up what an engine needs beyond this environment, or raise EngineMissingError."""
    if case.needs_spark and "JAVA_HOME" not in os.environ:
        os.environ["JAVA_HOME"] = _output_of("scripts/ensure_java.sh")
    if engine == BEFORE and BEFORE_FOLDER not in os.environ:
        raise EngineMissingError(f"{BEFORE_FOLDER} names no other checkout")
    if engine == "delta-spark":
        python = _output_of("scripts/find_python.sh")
        arguments = (python, ".venv-delta", "requirements-delta.lock")
        _output_of("scripts/make_venv.sh", *arguments)


def _python(engine: str) -> Path:
    return DELTA_PYTHON if engine == "delta-spark" else Path(sys.executable)


def _output_of(script: str, *arguments: str) -> str:
    done = subprocess.run(
        [str(REPOSITORY / script), *arguments],
        capture_output=True,
        text=True,
        check=False,
        cwd=REPOSITORY,
    )
    if done.returncode != 0:
        reason = (done.stderr.strip() or f"{script} failed").splitlines()[-1]
        raise EngineMissingError(reason)
    return done.stdout.strip()
