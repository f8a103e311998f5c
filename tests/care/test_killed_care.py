"""Vacuum, restore and clone, killed at random moments: the table is whole each time.

`TRUCKEE_CARE_KILLS=30` kills each of them thirty times.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from deltalake import DeltaTable as RustTable

from care.folders import Folder
from data_tables import vector
from truckee.care.health.presence import absent, needed_paths
from truckee.commands.care.clone import CloneRequest, clone_table
from truckee.errors.log import NotADeltaTableError
from truckee.log.files.commits import read_commits
from truckee.log.replay import FileKey, file_key
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.paths import decode_path
from truckee.storage.local import LocalStorage

pytestmark = pytest.mark.slow

KILLS = int(os.environ.get("TRUCKEE_CARE_KILLS", "3"))
SCRIPT = Path(__file__).with_name("killed.py")
LONGEST = 0.5


class Killer:
    """Starts commands, and kills each of them in the middle."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._moments = random.Random(11)

    def kill(self, what: str, *arguments: object) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        seconds = self._moments.uniform(0, LONGEST)
        print(what, seconds, *arguments, file=self._process.stdin, flush=True)
        assert self._process.stdout.readline() == "killed\n"


@contextmanager
def killer() -> Iterator[Killer]:
    process = subprocess.Popen(
        [sys.executable, str(SCRIPT)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
    )
    try:
        yield Killer(process)
    finally:
        process.kill()
        process.communicate()


def table_with_files(path: Path, number: int) -> Folder:
    """A table of many files; in version 2, half of them are gone and one has lost rows."""
    table = Folder(path, **{"delta.enableDeletionVectors": "true"})
    names = [f"f{n}" for n in range(number)]
    table.write(*names, days=20)
    table.commit(*map(table.add, names), days=20)
    table.commit(
        *(table.remove(name, days=10) for name in names[::2]),
        table.remove(names[1], days=10),
        table.add(names[1], deletion_vector=vector(3)),
        days=10,
    )
    return table


def check_whole(snapshot: Snapshot) -> None:
    """The table opens, here and in deltalake, all its files are there, and its log has no gap."""
    assert absent(snapshot.storage, needed_paths(snapshot.files())) == []
    theirs = RustTable(snapshot.storage.root)
    assert theirs.version() == snapshot.version
    assert len(theirs.file_uris()) == snapshot.num_files
    versions = [commit.version for commit in read_commits(snapshot.storage, 0)]
    assert versions == list(range(snapshot.version + 1))


def keys(table: Folder, version: int | None = None) -> set[FileKey]:
    return {file_key(file) for file in load_snapshot(table.storage, version).files()}


# Invariant 41.
def test_a_vacuum_that_is_killed_leaves_a_whole_table(tmp_path: Path) -> None:
    table = table_with_files(tmp_path / "t", 200)
    live = keys(table)
    left = len(table.left())

    with killer() as deadly:
        for turn in range(KILLS):
            table.write(*(f"orphan-{turn}-{n}" for n in range(300)), days=20)
            deadly.kill("vacuum", table.path)

            check_whole(load_snapshot(table.storage))
            assert keys(table) == live

    assert len(table.left()) < left + 300 * KILLS


def test_a_restore_that_is_killed_is_done_or_not(tmp_path: Path) -> None:
    table = table_with_files(tmp_path / "t", 200)
    states = [keys(table, 1), keys(table, 2)]

    with killer() as deadly:
        for _ in range(KILLS):
            deadly.kill("restore", table.path, 1, 2)

            check_whole(load_snapshot(table.storage))
            assert keys(table) in states

    for version in range(2, load_snapshot(table.storage).version + 1):
        assert keys(table, version) in states


def test_a_clone_that_is_killed_is_finished_by_the_next(tmp_path: Path) -> None:
    table = table_with_files(tmp_path / "t", 100)
    source = load_snapshot(table.storage)

    with killer() as deadly:
        for turn in range(KILLS):
            target = LocalStorage(str(tmp_path / f"copy{turn}"))
            deadly.kill("clone", table.path, target.root)

            try:
                load_snapshot(target)
            except NotADeltaTableError:
                clone_table(source, target, CloneRequest())
            found = load_snapshot(target)
            check_whole(found)
            assert {decode_path(file.path) for file in found.files()} == {
                decode_path(file.path) for file in source.files()
            }
