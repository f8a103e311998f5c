"""What a driver said is done is done, though the driver is killed the next moment.

`TRUCKEE_DRIVER_KILLS` says how often; each time the next driver goes on where the last one ended.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from dml_tables import VECTORS, create_table
from truckee.care.health.findings import Severity

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = Path(__file__).with_name("killed_driver.py")
KILLS = int(os.environ.get("TRUCKEE_DRIVER_KILLS", "1"))


class Driver:
    """A driver in a process of its own, which waits until it may begin."""

    def __init__(self, path: Path, first: int) -> None:
        self.process = subprocess.Popen(
            [sys.executable, str(SCRIPT), str(path), str(first)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            start_new_session=True,
        )

    def run_and_kill(self, seconds: float) -> list[tuple[str, int]]:
        """Let it work for about so long after its first change; return what it said is done."""
        with self.process as process:
            assert process.stdin is not None
            assert process.stdout is not None
            assert process.stdout.readline() == "ready\n"
            process.stdin.write("\n")
            process.stdin.flush()
            lines = [process.stdout.readline()]
            time.sleep(seconds)
            # The JVM is a child in the same group: neither has a chance to finish.
            os.killpg(process.pid, signal.SIGKILL)
            lines += process.stdout.readlines()
        return [(kind, int(number)) for kind, number in map(str.split, lines)]


# Invariant 66.
def test_changes_that_a_killed_driver_acknowledged_are_in_the_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = tmp_path / "t"
    rows = spark.sql("SELECT 0 AS id, 'nobody' AS what")
    create_table(spark, path, rows, properties=VECTORS)
    dice = random.Random(11)

    acknowledged = unsaid = 0
    for kill in range(KILLS):
        before = truckee.open(str(path)).version
        first = 1000 * (kill + 1)
        done = Driver(path, first).run_and_kill(dice.uniform(0.2, 4.0))

        table = truckee.open(str(path))
        made = table.version - before
        acknowledged, unsaid = acknowledged + len(done), unsaid + made - len(changes(done, first))
        # One more change may have been made, that the driver did not live to report.
        assert state(path, before + len(changes(done, first))) == expected(
            done, state(path, before)
        )
        assert made - len(changes(done, first)) in (0, 1)
        assert all(each.severity is not Severity.ERROR for each in table.doctor().findings)
    print(f"{KILLS} kills, {acknowledged} changes acknowledged, {unsaid} made and not reported")


def changes(done: list[tuple[str, int]], first: int) -> list[tuple[str, int]]:
    """Those that make a commit: a delete of a row that was never there makes none."""
    return [(kind, n) for kind, n in done if kind != "delete" or n - 2 >= first]


def state(path: Path, version: int) -> dict[int, str]:
    rows = truckee.open(str(path)).to_arrow(version=version).to_pylist()
    found = {row["id"]: row["what"] for row in rows}
    assert len(found) == len(rows)
    return found


def expected(done: list[tuple[str, int]], before: dict[int, str]) -> dict[int, str]:
    rows = dict(before)
    for kind, number in done:
        if kind == "insert":
            rows[number] = "insert"
        elif kind == "update":
            rows[0] = f"update {number}"
        elif kind == "merge":
            rows[number] = "merge"
        else:
            rows.pop(number - 2, None)
    return rows
