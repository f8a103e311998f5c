"""Rewrites that are killed at any moment leave a whole table, whose feed still tells its rows.

One kill shows that all is in order; `TRUCKEE_CARE_KILLS=30` kills each command thirty times.
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
ROUNDS = int(os.environ.get("TRUCKEE_CARE_KILLS", "1"))
COMMANDS = ("purge", "compaction", "zorder") if ROUNDS > 1 else ("purge",)
LONGEST = 2.0


# Invariant 36.
@pytest.mark.parametrize("command", COMMANDS)
def test_a_rewrite_that_is_killed_at_any_moment_leaves_a_whole_table(
    spark: SparkSession, tmp_path: Path, command: str
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 50), properties=FEED | VECTORS)
    start = table.rows()
    dice = random.Random(11)

    for _ in range(ROUNDS):
        run_and_kill(table.path, command, dice.uniform(0, LONGEST))

        found = Counter(table.rows())
        assert applied(start, table.changes(1)) == found if table.version else True
        assert len(rust_rows(table.path)) == sum(found.values())
    for commit in read_commits(table.storage, 1):
        info = commit.commit_info
        if info is not None and info.operation in ("OPTIMIZE", "REORG"):
            assert not any(action.data_change for action in (*commit.adds, *commit.removes))


def run_and_kill(path: Path, command: str, seconds: float) -> None:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(path), command],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == b"ready\n"
        time.sleep(seconds)
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.communicate()
