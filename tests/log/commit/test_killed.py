"""Processes that are killed in the middle: the table opens, and keeps what was promised."""

from __future__ import annotations

import os
import random
from pathlib import Path

import pytest

from committing import Acknowledged, nursery
from staging import create_table, metadata, paths
from truckee.log.files.commits import read_commits
from truckee.log.snapshot import load_snapshot
from truckee.storage import LocalStorage

ROUNDS = int(os.environ.get("TRUCKEE_WRITER_KILLS", "12"))


# Invariant 4.
@pytest.mark.slow
def test_table_survives_writers_that_are_killed_at_any_moment(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    create_table(storage, metadata(properties={"delta.checkpointInterval": "3"}))
    moments = random.Random(7)
    acknowledged: list[Acknowledged] = []

    with nursery(str(tmp_path)) as nurse:
        for _ in range(ROUNDS):
            acknowledged += nurse.kill(
                after_commits=moments.randrange(4), and_seconds=moments.uniform(0, 0.04)
            )
            snapshot = load_snapshot(storage)
            assert {path for _, path in acknowledged} <= set(paths(snapshot))

    commits = list(read_commits(storage, 0))
    assert [commit.version for commit in commits] == list(range(snapshot.version + 1))
    added = {commit.version: [add.path for add in commit.adds] for commit in commits}
    assert all(added[version] == [path] for version, path in acknowledged)
    assert len(acknowledged) > ROUNDS
    # Some were killed when the commit was done, and before they could say so.
    assert snapshot.version > len(acknowledged)
