"""Growth curves: time and driver memory against the size of one thing.

    python -m benchmarks.curves --curve versions --scale full

A curve runs in a process of its own, with one Spark session and the 1 GB that Spark gives a driver
by default. Operations are first run on the smallest table, uncounted. Then each point is run up to
three times, fewer where a run takes long, from opening the table to the last row or to the commit.

Driver memory is what the JVM's heap holds after a collection, with the result of the operation
still referenced, and how far the peak of the Python process is above what it held after the
warm-up. Tasks run in the same JVM, but hold nothing when they are done.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.curve_tables import (
    ROWS_A_FILE,
    appended_versions,
    deleted_rows,
    files_with_vectors,
    kept,
    no_table,
    vector_versions,
)
from benchmarks.worker import Context

CACHE = Path(__file__).resolve().parent / ".cache"
RESULTS = Path(__file__).resolve().parent / "results" / "curves.json"
CONF = {
    "spark.driver.memory": "1g",
    "spark.sql.streaming.numRecentProgressUpdates": "1000",  # all batches of the longest backlog
}
FILES_A_BATCH = 200
_WARMUP = 3
_LONG_S = 10.0

Run = Callable[[Any, Any], Any]


@dataclass(frozen=True)
class Curve:
    """One thing that grows, and what is done with it; `make` writes the table of a point."""

    title: str
    unit: str
    make: Callable[[int, Path], dict[str, Any]]
    runs: Mapping[str, Run]
    points: Mapping[str, Sequence[int]]


@dataclass(frozen=True)
class Point:
    """What one operation took at one size."""

    curve: str
    operation: str
    x: int
    seconds: list[float]
    cpu_seconds: list[float]
    heap_mb: float
    python_mb: float


def _read(spark: Any, params: Any) -> Any:
    import truckee

    total = truckee.read(spark).load(params["table"]).agg({"id": "sum"})
    _check(total.collect()[0][0], params["sum"])
    return total


def _feed(spark: Any, params: Any) -> Any:
    import truckee

    options = {"readChangeFeed": "true", "startingVersion": params["start"]}
    feed = truckee.read(spark).options(**options).load(params["table"])
    count = feed.groupBy("_change_type").agg({"id": "count"})
    _check([tuple(row) for row in count.collect()], [("delete", params["changes"])])
    return count


def _delete(spark: Any, params: Any) -> Any:
    import truckee

    table = truckee.DeltaTable.forPath(spark, params["copy"])
    result = table.delete(params["condition"])
    _check(result.collect()[0][0], params["deleted"])
    return table


def _write(spark: Any, params: Any) -> Any:
    import truckee

    # A task writes a hundred files, so that tasks are not what is measured.
    tasks = max(1, params["files"] // 100)
    frame = spark.range(0, params["rows"], 1, tasks).selectExpr("id", "id * 2 AS x")
    truckee.write(frame).option("maxRecordsPerFile", ROWS_A_FILE).save(params["table"])
    return frame


def _stream(spark: Any, params: Any) -> Any:
    import truckee

    options = {
        "readChangeFeed": "true",
        "startingVersion": "0",
        "maxFilesPerTrigger": str(FILES_A_BATCH),
    }
    checkpoint = f"{params['table']}-checkpoint"
    shutil.rmtree(checkpoint, ignore_errors=True)
    frame = truckee.readStream(spark).options(**options).load(params["table"])
    writer = frame.writeStream.format("noop").option("checkpointLocation", checkpoint)
    query = writer.trigger(availableNow=True).start()
    query.awaitTermination()
    _check(sum(each["numInputRows"] for each in query.recentProgress), params["rows"])
    return query


_ON_TABLES = {"read": _read, "DELETE": _delete, "feed": _feed}
CURVES = {
    "vectors": Curve(
        "Files with deletion vectors",
        "files with vectors",
        files_with_vectors,
        _ON_TABLES,
        {"small": (100, 300), "full": (100, 300, 1_000, 3_000, 10_000, 20_000)},
    ),
    "deleted": Curve(
        "Deleted rows, of 200 million in ten files",
        "deleted rows",
        deleted_rows,
        _ON_TABLES,
        {"small": (10**5,), "full": (10**5, 10**6, 10**7, 10**8)},
    ),
    "versions": Curve(
        "Versions, each with a new vector of the same file, and no checkpoint",
        "versions",
        vector_versions,
        _ON_TABLES,
        {"small": (10, 100), "full": (10, 100, 1_000, 10_000, 33_000, 50_000)},
    ),
    "written": Curve(
        "Files written in one job",
        "files of 100 rows",
        no_table,
        {"write": _write},
        {"small": (10, 100), "full": (10, 100, 1_000, 5_000, 20_000)},
    ),
    "backlog": Curve(
        "Backlog of a stream, 200 files a batch",
        "commits of one file",
        appended_versions,
        {"stream": _stream},
        {"small": (10, 100), "full": (10, 100, 1_000, 5_000, 20_000)},
    ),
}


def main() -> int:
    arguments = _arguments()
    names = arguments.curve.split(",") if arguments.curve else list(CURVES)
    for name in names:
        if len(names) > 1:
            command = [sys.executable, "-m", "benchmarks.curves", "--curve", name]
            subprocess.run([*command, "--scale", arguments.scale], check=True)
        else:
            found = _measured(name, arguments.scale)
            if arguments.scale == "full":
                merge(found)
    return 0


def merge(points: Sequence[Point], path: Path = RESULTS) -> None:
    """Write the points to the file, in place of those of the same curves."""
    fresh = {point.curve for point in points}
    old = [point for point in load_points(path) if point.curve not in fresh]
    order = list(CURVES)
    merged = sorted([*old, *points], key=lambda point: order.index(point.curve))
    lines = ",\n".join("  " + json.dumps(asdict(point)) for point in merged)
    path.write_text(f"[\n{lines}\n]\n")


def load_points(path: Path = RESULTS) -> list[Point]:
    """Return the points of the last run of each curve."""
    return [Point(**fields) for fields in json.loads(path.read_text())] if path.exists() else []


def _measured(name: str, scale: str) -> list[Point]:
    curve = CURVES[name]
    params = {x: kept(name, curve.make, x, CACHE) for x in curve.points[scale]}
    spark = Context("truckee", CONF).spark
    smallest = params[min(params)]
    for run in curve.runs.values():
        for _ in range(_WARMUP):
            _run(run, spark, smallest)
    base_mb = _status_mb("VmRSS")
    return [
        _point(name, operation, x, spark, base_mb, params[x])
        for x in curve.points[scale]
        for operation in curve.runs
    ]


def _point(name: str, operation: str, x: int, spark: Any, base_mb: float, params: Any) -> Point:
    run = CURVES[name].runs[operation]
    seconds: list[float] = []
    cpu_seconds: list[float] = []
    heap_mb = 0.0
    with contextlib.suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    while len(seconds) < 3 and sum(seconds) < _LONG_S:
        took, worked, held_mb = _run(run, spark, params)
        seconds.append(round(took, 3))
        cpu_seconds.append(round(worked, 3))
        heap_mb = max(heap_mb, held_mb)
    python_mb = max(0.0, _status_mb("VmHWM") - base_mb)
    memory = (round(heap_mb, 1), round(python_mb, 1))
    point = Point(name, operation, x, seconds, cpu_seconds, *memory)
    sys.stdout.write(
        f"{name:9} {operation:7} {x:>11,} {min(seconds):8.2f} s"
        f"  cpu {min(cpu_seconds):8.2f} s"
        f"  heap {heap_mb:6.0f} MB  python +{python_mb:5.0f} MB\n"
    )
    sys.stdout.flush()
    return point


def _run(run: Run, spark: Any, params: Any) -> tuple[float, float, float]:
    """Run an operation on a table of its own if it changes one.

    Returns the seconds that passed, those of the processor, and what the heap holds after it.
    """
    own = dict(params)
    if run is _delete:
        source = Path(params.get("plain", params["table"]))
        own["copy"] = str(source.with_name("copy"))
        shutil.rmtree(own["copy"], ignore_errors=True)
        shutil.copytree(source, own["copy"], copy_function=os.link)
    if run is _write:
        shutil.rmtree(params["table"], ignore_errors=True)
    start, worked = time.perf_counter(), _cpu_s(spark)
    held = run(spark, own)
    seconds, worked = time.perf_counter() - start, _cpu_s(spark) - worked
    heap_mb = _heap_mb(spark)
    del held
    return seconds, worked, heap_mb


def _cpu_s(spark: Any) -> float:
    """Return the processor time of this process and of the JVM, tasks included."""
    pid = spark._jvm.java.lang.ProcessHandle.current().pid()
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return time.process_time() + sum(map(int, fields[11:13])) / os.sysconf("SC_CLK_TCK")


def _heap_mb(spark: Any) -> float:
    gc.collect()
    runtime = spark._jvm.java.lang.Runtime.getRuntime()
    spark._jvm.java.lang.System.gc()
    return float(runtime.totalMemory() - runtime.freeMemory()) / 2**20


def _status_mb(key: str) -> float:
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith(f"{key}:"):
            return int(line.split()[1]) / 2**10
    return 0.0


def _check(found: object, expected: object) -> None:
    if found != expected:
        raise SystemExit(f"found {found}, expected {expected}")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make curves", description=__doc__)
    parser.add_argument("--curve", help=f"some of {', '.join(CURVES)}")
    parser.add_argument("--scale", choices=("small", "full"), default="small")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
