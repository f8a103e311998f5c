"""Queries that are killed again and again: in the end, every change was written on exactly once."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

import truckee
from streaming.lake import append, batch_feed
from streaming.queries import counted
from truckee import DeltaTable

pytestmark = pytest.mark.slow

SCRIPT = Path(__file__).with_name("killed_query.py")
KILLS = int(os.environ.get("TRUCKEE_KILLS", "3"))
"""How many times each query is killed; 20 take some minutes."""


@pytest.mark.parametrize("lane", ["fast", "slow"])
def test_a_query_that_is_killed_at_any_moment_writes_each_change_once(
    spark: SparkSession, tmp_path: Path, lane: str
) -> None:
    source = tmp_path / "source"
    many_changes(spark, source)
    dice = random.Random(7)
    kills = 0

    while kills < KILLS and not ends_by_itself(tmp_path, lane, dice.uniform(0.0, 6.0)):
        kills += 1
    assert ends_by_itself(tmp_path, lane, None)

    copy = truckee.read(spark).load(str(tmp_path / "copy"))
    expected = batch_feed(spark, source)
    assert counted(copy.collect()) == counted(expected.collect())
    assert kills > 0


def many_changes(spark: SparkSession, path: Path) -> None:
    properties = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    append(spark, path, 0, 20, **properties)
    table = DeltaTable.forPath(spark, str(path))
    for step in range(6):
        append(spark, path, 100 * (step + 1), 5)
        table.update(f"id = {step}", {"value": f"'u{step}'"})
        table.delete(f"id = {10 + step}")


def ends_by_itself(folder: Path, lane: str, kill_after_s: float | None) -> bool:
    """Run the query; kill it so many seconds after it has started. Return whether it was done."""
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT), str(folder), lane],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        start_new_session=True,
    )
    assert process.stdout is not None
    timer = None
    for line in process.stdout:
        if line == "started\n" and kill_after_s is not None:
            # Its JVM and its workers belong to the same group.
            timer = threading.Timer(kill_after_s, os.killpg, (process.pid, signal.SIGKILL))
            timer.start()
        if line == "done\n":
            break
    if timer is not None:
        timer.cancel()
    was_done = process.wait(timeout=120) == 0
    process.stdout.close()
    return was_done
