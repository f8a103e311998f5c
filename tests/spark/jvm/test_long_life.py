"""A session that lives long holds no more than one that has just begun to work.

`TRUCKEE_LIFE` says how many operations and micro-batches: `1500,500`. Then both lives are followed
by a minute of rest, after which Spark's own pools of threads have shrunk, and all is compared.
Otherwise they are short, and only what does not take a minute to shrink is compared.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).with_name("long_life.py")
LIFE = os.environ.get("TRUCKEE_LIFE")
OPERATIONS, BATCHES = (LIFE or "0,4").split(",")
REST = "65" if LIFE else "1"
# The JVM loads and compiles as it lives; and it keeps some threads and files for what comes next.
SLOW_TO_SHRINK = ("threads of the JVM", "descriptors of the JVM", "megabytes of heap")
ROOM = {"megabytes of heap": 64, "threads of the JVM": 8, "descriptors of the JVM": 12}


# Invariant 32.
@pytest.mark.spark
@pytest.mark.slow
def test_what_a_session_holds_is_what_it_held_before_a_long_life(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), OPERATIONS, BATCHES, REST],
        capture_output=True,
        text=True,
        check=False,
        timeout=3600,
    )

    assert done.returncode == 0, done.stderr[-4000:]
    before, after, life = map(json.loads, done.stdout.splitlines())
    print(before, after, life, sep="\n")
    assert life["batches"] == int(BATCHES)
    grown = {
        name: (before[name], after[name])
        for name in before
        if (LIFE or name not in SLOW_TO_SHRINK) and after[name] > before[name] + ROOM.get(name, 0)
    }
    assert grown == {}
