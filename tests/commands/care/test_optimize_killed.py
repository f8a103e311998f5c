"""Rewrites that are killed at any moment leave a whole table, whose feed still tells its rows.

One kill shows that all is in order; `TRUCKEE_KILLS=20` is for the long run.
"""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dml_model import applied
from dml_tables import FEED, VECTORS, create_table, numbers
from truckee.log.files.commits import read_commits
from writing import rust_rows

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("killed_optimize.py")
ROUNDS = int(os.environ.get("TRUCKEE_KILLS", "1"))


# Invariant 36.
def test_a_rewrite_that_is_killed_at_any_moment_leaves_a_whole_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 50), properties=FEED | VECTORS)
    start = table.rows()
    dice = random.Random(11)

    for _ in range(ROUNDS):
        run_and_kill(table.path, dice)

        found = Counter(table.rows())
        assert applied(start, table.changes(1)) == found if table.version else True
        assert len(rust_rows(table.path)) == sum(found.values())
    for commit in read_commits(table.storage, 1):
        info = commit.commit_info
        if info is not None and info.operation in ("OPTIMIZE", "REORG"):
            assert not any(action.data_change for action in (*commit.adds, *commit.removes))


def run_and_kill(path: Path, dice: random.Random) -> None:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        before = commits(path)
        process.stdin.write(b"go\n")
        process.stdin.flush()
        wait_for(path, before + dice.randrange(1, 5), process)
        time.sleep(dice.uniform(0, 2))
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()


def commits(path: Path) -> int:
    return len(list((path / "_delta_log").glob("*[0-9].json")))


def wait_for(path: Path, count: int, process: subprocess.Popen[bytes]) -> None:
    end = time.monotonic() + 300
    while commits(path) < count and time.monotonic() < end:
        assert process.poll() is None
        time.sleep(0.05)
