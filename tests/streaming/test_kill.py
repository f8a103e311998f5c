"""A query that is killed again and again: in the end, every change was written on exactly once.

The query changes its lane and its limits from one start to the next, since the lanes share their
checkpoints and the way in which a sink knows a batch. A few kills are enough to see that
all is in order; `TRUCKEE_KILLS=20` takes some minutes.
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
from uuid import uuid4

import pyarrow.parquet as pq
import pytest

from feed_histories import Change, History, Row, Shape
from truckee.log.snapshot import load_snapshot
from truckee.storage.local import LocalStorage

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = Path(__file__).with_name("killed_query.py")
KILLS = int(os.environ.get("TRUCKEE_KILLS", "2"))
LANES = ("fast", "slow")


# Invariant 18.
def test_a_query_that_is_killed_at_any_moment_writes_each_change_once(tmp_path: Path) -> None:
    source = history(tmp_path / "source", commits=5 + 4 * KILLS)
    dice = random.Random(7)

    waiting = Query(tmp_path)
    for kill in range(KILLS):
        # The next one gets ready while this one runs.
        query, waiting = waiting, Query(tmp_path)
        query.run_and_kill(LANES[kill % 2], dice)
    waiting.run_to_its_end("fast")

    found = changes_in(tmp_path / "copy")
    assert found == source.feed(0, source.last)
    assert applied(found) == source.rows(source.last)


def history(path: Path, *, commits: int) -> History:
    """A table whose rows come, change and go, with change files and with vectors."""
    made = History(path, Shape("none", partitioned=False))
    for step in range(commits):
        if step % 3 == 0:
            made.append([Row(1000 * step + n, f"p{n}", None) for n in range(5)])
        elif step % 3 == 1:
            made.update(lambda row, chosen=step: row.id % 7 == chosen % 7, by_vector=step % 2 == 0)
        else:
            made.delete_by_vector(lambda row, doomed=step: row.id % 5 == doomed % 5)
    return made


class Query:
    """A process with a session, which waits to be told to run the query."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._errors = folder / f"{uuid4().hex}.err"
        with self._errors.open("wb") as errors:
            self._process = subprocess.Popen(
                [sys.executable, str(SCRIPT), str(folder)],
                stdin=subprocess.PIPE,
                stderr=errors,
                env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
                start_new_session=True,
            )

    def run_and_kill(self, lane: str, dice: random.Random) -> None:
        """Run the query, and kill it somewhere in its first batches."""
        before = self._planned_batches()
        try:
            self._start(f"{lane} 1\n")
            while self._planned_batches() <= before:
                self._check_runs()
                time.sleep(0.005)
            time.sleep(dice.uniform(0.0, 1.0))
            self._check_runs()
        finally:
            # Its JVM belongs to the same group.
            os.killpg(self._process.pid, signal.SIGKILL)
            self._process.wait()

    def run_to_its_end(self, lane: str) -> None:
        self._start(f"{lane} 5\n")
        assert self._process.wait(timeout=300) == 0, self._words()

    def _start(self, order: str) -> None:
        assert self._process.stdin is not None
        with self._process.stdin as stdin:
            stdin.write(order.encode())

    def _check_runs(self) -> None:
        assert self._process.poll() is None, f"the query has ended by itself: {self._words()}"

    def _planned_batches(self) -> int:
        return len(list((self._folder / "checkpoint" / "offsets").glob("[0-9]*")))

    def _words(self) -> str:
        return self._errors.read_text()[-3000:]


def changes_in(path: Path) -> Counter[Change]:
    """The rows of the second table, read without Spark."""
    found: Counter[Change] = Counter()
    for file in load_snapshot(LocalStorage(str(path))).files():
        for row in pq.read_table(path / file.path).to_pylist():
            changed = Row(row["id"], row["part"], None)
            found[Change(row["version"], row["change"], changed)] += 1
    return found


def applied(changes: Counter[Change]) -> Counter[Row]:
    """The rows of a table that has had these changes."""
    rows: Counter[Row] = Counter()
    for change, times in changes.items():
        came = change.type in ("insert", "update_postimage")
        rows[change.row] += times if came else -times
    return +rows
