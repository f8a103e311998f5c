"""`truckee serve` in a process of its own, and clients of it that have no JVM."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from step_scripts import script_environment

SERVER_TOKEN = "a-token"


@contextmanager
def running_server(folder: Path) -> Iterator[str]:
    """Run a server whose tables are in a folder, and give its URL."""
    settings = {
        "spark.sql.warehouse.dir": folder / "lake",
        "spark.master": "local[2]",
        "spark.sql.shuffle.partitions": 2,
        "spark.connect.authenticate.token": SERVER_TOKEN,
    }
    conf = [f"--conf={name}={value}" for name, value in settings.items()]
    server = subprocess.Popen(
        [sys.executable, "-m", "truckee", "serve", "--port", "0", *conf],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=script_environment(),
        cwd=folder,
    )
    assert server.stdout is not None
    found = server.stdout.readline().strip()
    try:
        if not found:
            pytest.fail(server.communicate(timeout=60)[1][-4000:])
        yield found
    finally:
        server.send_signal(signal.SIGINT)
        server.communicate(timeout=60)
    assert server.returncode == 0


def client_outcome(script: Path, url: str, folder: Path) -> dict[str, Any]:
    """Run a client, for which there is no Java, and return what it printed last, as JSON."""
    done = subprocess.run(
        [sys.executable, str(script), f"{url}/;token={SERVER_TOKEN}", str(folder)],
        env={**script_environment(), "JAVA_HOME": str(folder / "no-java")},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-4000:]
    found: dict[str, Any] = json.loads(done.stdout.rpartition("found:")[2])
    return found
