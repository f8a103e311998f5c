"""Several drivers that update different rows of one file for a while: all of them succeed.

`TRUCKEE_UPDATE_SECONDS` says for how long, with four drivers; otherwise there are two, and they
are soon done.
"""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dml_tables import FEED, VECTORS, create_table

pytestmark = pytest.mark.slow

LONG = os.environ.get("TRUCKEE_UPDATE_SECONDS")
PROCESSES = 4 if LONG else 2
SECONDS = float(LONG or 2)
UPDATER = """
    import sys, time
    from truckee.commands.dml.update import update
    from truckee.spark.session.session import session
    from truckee.storage import open_storage

    path, mine, processes = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    seconds = float(sys.argv[4])
    spark = session(master="local[1]", **{"spark.driver.memory": "700m",
                                          "spark.sql.shuffle.partitions": "1"})
    storage = open_storage(path)
    print("ready", flush=True)
    sys.stdin.readline()
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        update(spark, storage, f"id % {processes} = {mine}", {"v": "v + 1"})
        print("done", flush=True)
"""


def test_updates_of_different_rows_of_one_file_all_succeed(
    spark: SparkSession, tmp_path: Path
) -> None:
    rows = spark.range(0, 400, 1, 1).selectExpr("id", "0 v")
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS | FEED)
    processes = [_start(table.path, number) for number in range(PROCESSES)]
    try:
        for process in processes:
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
        outputs = _run_all(processes)
    finally:
        for process in processes:
            process.kill()
            process.wait()

    assert [process.returncode for process in processes] == [0] * PROCESSES, outputs
    counts = [output.count("done") for output, _ in outputs]
    assert min(counts) > 0
    assert table.rows() == [(number, counts[number % PROCESSES]) for number in range(400)]
    assert table.version == sum(counts)
    assert len(table.changes(1)) == 800 // PROCESSES * sum(counts)


def _start(path: Path, number: int) -> subprocess.Popen[str]:
    arguments = (str(path), str(number), str(PROCESSES), str(SECONDS))
    return subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(UPDATER), *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )


def _run_all(processes: list[subprocess.Popen[str]]) -> list[tuple[str, str]]:
    for process in processes:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    return [process.communicate(timeout=300) for process in processes]
