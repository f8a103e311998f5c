"""The whole of `format("truckee")` over Spark Connect, with a real server."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = [pytest.mark.spark, pytest.mark.slow]

SCRIPT = Path(__file__).with_name("connect_session.py")


def test_reads_writes_feeds_and_streams_of_a_remote_session(tmp_path: Path) -> None:
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}

    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path)],
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
        env=environment,
    )

    assert done.returncode == 0, done.stderr[-4000:]
    found = json.loads(done.stdout.rpartition("found:")[2])
    first, both = list(range(6)), [*range(6), *range(10, 16)]
    assert found == {
        "session": "pyspark.sql.connect.session",
        "rows": both,
        "first": first,
        "feed": 6,
        "copy": both,
        "kept": both,
        "refused": ["TRUCKEE_REMOTE_SESSION"] * 4,
        "by name": ["NoPathToReadError"] * 2 + ["NoPathToWriteError"] * 2,
        "beside": "TRUCKEE_REMOTE_SESSION",
    }
