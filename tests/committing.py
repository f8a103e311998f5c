"""Processes that commit: side by side, or until they are killed.

    run_writers(8, commits=50, url=url)               eight processes, started together
    with nursery(url) as nurse: nurse.kill(...)       one after another, each killed

Each process tells of every commit once it was acknowledged, as a line `<version> <path>`.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import count
from pathlib import Path
from typing import IO, NamedTuple

import pyarrow as pa

from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.protocol.actions import AddFile
from truckee.storage import open_storage


class Acknowledged(NamedTuple):
    """A commit that returned, and the file that it added."""

    version: int
    path: str


def run_writers(
    number: int, *, commits: int, url: str, options: Mapping[str, str] | None = None
) -> list[Acknowledged]:
    """Let processes commit at the same time, and return what they had acknowledged."""
    arguments = [url, json.dumps(dict(options or {})), str(commits)]
    processes = [_start("write", f"w{i}", *arguments) for i in range(number)]
    try:
        for process in processes:
            assert _output(process).readline() == b"ready\n"
        for process in processes:
            _input(process).write(b"go\n")
            _input(process).flush()
        outputs = [process.communicate()[0] for process in processes]
    finally:
        for process in processes:
            process.kill()
            process.wait()
    assert [process.returncode for process in processes] == [0] * number
    return [line for output in outputs for line in _parsed(output.decode())]


class Nursery:
    """Makes processes that commit without end, and kills each of them in the middle."""

    def __init__(self, process: subprocess.Popen[bytes]) -> None:
        self._process = process

    def kill(self, *, after_commits: int, and_seconds: float) -> list[Acknowledged]:
        """Return what a process had acknowledged when SIGKILL ended it.

        It comes this many seconds after this many commits, so in the middle of a later one.
        """
        _input(self._process).write(f"{after_commits} {and_seconds}\n".encode())
        _input(self._process).flush()
        lines = iter(_output(self._process).readline, b"killed\n")
        return _parsed(b"".join(lines).decode())


@contextmanager
def nursery(url: str) -> Iterator[Nursery]:
    """Start the process that others are forked from, so that these need not load anything."""
    process = _start("nurse", "w", url, "{}")
    try:
        yield Nursery(process)
    finally:
        process.kill()
        process.communicate()


def _start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, __file__, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )


def _input(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdin is not None
    return process.stdin


def _output(process: subprocess.Popen[bytes]) -> IO[bytes]:
    assert process.stdout is not None
    return process.stdout


def _parsed(output: str) -> list[Acknowledged]:
    pairs = (line.split(" ", 1) for line in output.splitlines())
    return [Acknowledged(int(version), path) for version, path in pairs]


# What runs in the processes themselves.


def appended(snapshot: Snapshot, path: str) -> Acknowledged:
    """Append one file to the table."""
    transaction = Transaction(snapshot.storage, snapshot)
    transaction.stage(
        AddFile(path=path, partition_values={}, size=1, modification_time=1, data_change=True)
    )
    return Acknowledged(transaction.commit("WRITE"), path)


def commit_many(name: str, url: str, options: str, numbers: Iterable[int]) -> None:
    """Commit one file after another, telling of each."""
    snapshot = load_snapshot(open_storage(url, json.loads(options)))
    for number in numbers:
        done = appended(snapshot, f"{name}-{number}")
        _tell(f"{done.version} {done.path}")
        snapshot = update_snapshot(snapshot)


def write(name: str, url: str, options: str, commits: str) -> None:
    """Commit this many times, after the signal to start."""
    _tell("ready")
    sys.stdin.readline()
    commit_many(name, url, options, range(int(commits)))


def nurse(name: str, url: str, options: str) -> None:
    """For each line of commits and seconds, fork a process that commits, and kill it then."""
    pa.scalar(0)  # loads what Arrow loads late, so that it need not be loaded in each process
    for number, line in enumerate(sys.stdin):
        commits, seconds = line.split()
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            os.dup2(sending, sys.stdout.fileno())
            commit_many(f"{name}-{number}", url, options, count())
        os.close(sending)
        with os.fdopen(receiving, "rb") as told:
            lines = [told.readline() for _ in range(int(commits))]
            time.sleep(float(seconds))
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
            sys.stdout.buffer.write(b"".join(lines) + told.read() + b"killed\n")
            sys.stdout.flush()


def _tell(line: str) -> None:
    os.write(sys.stdout.fileno(), f"{line}\n".encode())


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "src"))
    {"write": write, "nurse": nurse}[sys.argv[1]](*sys.argv[2:])
