"""Several drivers writing at once, and one that is killed while it writes."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee.log.snapshot import load_snapshot
from truckee.protocol.paths import decode_path
from truckee.storage import LocalStorage
from truckee.writer import write
from writing import data_files, last_version, rust_rows

pytestmark = pytest.mark.slow

LONG = os.environ.get("TRUCKEE_APPEND_SECONDS")
PROCESSES = 4 if LONG else 2
SECONDS = float(LONG or 2)

DRIVER = """
    import sys, time
    from truckee.writer import write
    from truckee.spark.session.session import session

    path, name, seconds = sys.argv[1], sys.argv[2], float(sys.argv[3])
    spark = session(master="local[1]", **{"spark.driver.memory": "700m"})
"""
APPENDER = (
    DRIVER
    + """
    print("ready", flush=True)
    sys.stdin.readline()
    end, number = time.monotonic() + seconds, 0
    while time.monotonic() < end:
        rows = spark.range(number, number + 10, 1, 1).selectExpr("id", f"'{name}' as who")
        write(rows).mode("append").save(path)
        number += 10
        print(number, flush=True)
"""
)
VICTIM = (
    DRIVER
    + """
    from pyspark.sql import functions as sf

    slow = sf.udf(lambda number: time.sleep(0.02) or number, "long")
    rows = spark.range(0, 100_000, 1, 4).select(slow("id").alias("id"), sf.lit(name).alias("who"))
    print("ready", flush=True)
    write(rows).mode("append").option("maxRecordsPerFile", 20).save(path)
"""
)


def start(script: str, path: Path, name: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(script), str(path), name, str(SECONDS)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        start_new_session=True,
    )


def read_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    return process.stdout.readline().strip()


def test_every_row_that_was_acknowledged_is_there_once(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.sql("select 0L as id, 'first' as who")).save(str(tmp_path))
    names = [f"writer-{number}" for number in range(PROCESSES)]
    processes = [start(APPENDER, tmp_path, name) for name in names]
    for process in processes:
        assert read_line(process) == "ready"

    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    outputs = [process.communicate(timeout=120 + 2 * SECONDS)[0] for process in processes]

    assert [process.returncode for process in processes] == [0] * PROCESSES
    acknowledged = {
        name: int(output.split()[-1]) for name, output in zip(names, outputs, strict=True)
    }
    found = [(row["who"], row["id"]) for row in rust_rows(tmp_path) if row["who"] != "first"]
    expected = [(name, number) for name in names for number in range(acknowledged[name])]
    assert sorted(found) == expected
    assert last_version(tmp_path) == sum(acknowledged.values()) // 10


def test_a_killed_driver_leaves_the_table_unharmed(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.sql("select 1L as id, 'before' as who")).save(str(tmp_path))
    before = data_files(tmp_path)
    with start(VICTIM, tmp_path, "victim") as victim:
        assert read_line(victim) == "ready"
        deadline = time.monotonic() + 60
        while data_files(tmp_path) == before and time.monotonic() < deadline:
            time.sleep(0.05)

        os.killpg(victim.pid, signal.SIGKILL)

    assert data_files(tmp_path) > before
    assert rust_rows(tmp_path) == [{"id": 1, "who": "before"}]
    write(spark.sql("select 2L as id, 'after' as who")).mode("append").save(str(tmp_path))
    named = {decode_path(file.path) for file in load_snapshot(LocalStorage(str(tmp_path))).files()}
    assert {row["id"] for row in rust_rows(tmp_path)} == {1, 2}
    assert named <= data_files(tmp_path)
    assert data_files(tmp_path) - before - named, "the killed write left files no version names"
