"""Many processes on one table: the versions have no gap, and nothing that was promised is lost."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from committing import Acknowledged, run_writers
from s3_server import S3Server, s3_server
from staging import add, append, create_table, metadata, paths
from truckee.log.files.commits import read_commits
from truckee.log.files.segment import list_commits
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checksum import verify_checksum
from truckee.storage import LocalStorage, Storage, open_storage

WRITERS = 8
COMMITS = int(os.environ.get("TRUCKEE_LOCAL_COMMITS", "8"))
# The emulated store serves one request at a time, so that each commit waits for all the others'.
S3_COMMITS = int(os.environ.get("TRUCKEE_S3_COMMITS", "3"))


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    with s3_server() as server:
        yield server


def check_nothing_lost(storage: Storage, acknowledged: list[Acknowledged]) -> None:
    total = len(acknowledged)
    commits = list(read_commits(storage, 0))
    assert [commit.version for commit in commits] == list(range(total + 1))
    added = {commit.version: [add.path for add in commit.adds] for commit in commits[1:]}
    assert added == {version: [path] for version, path in acknowledged}
    assert paths(load_snapshot(storage)) == sorted(path for _, path in acknowledged)


APPEARING = """
import os, sys
os.makedirs(sys.argv[1], exist_ok=True)
for version in range(3000):
    staged = f"{sys.argv[1]}/.{version}.tmp"
    open(staged, "wb").close()
    os.link(staged, f"{sys.argv[1]}/{version:020d}.json")
    os.unlink(staged)
"""


def test_commits_that_come_while_the_log_is_listed_leave_no_gap(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    log = str(tmp_path / "_delta_log")

    with subprocess.Popen([sys.executable, "-c", APPEARING, log]) as writer:
        while writer.poll() is None:
            versions = list(list_commits(storage, 0))
            assert versions == list(range(len(versions)))


# Invariant 3.
@pytest.mark.slow
def test_writers_on_one_local_table_make_consecutive_versions(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    create_table(storage)

    acknowledged = run_writers(WRITERS, commits=COMMITS, url=str(tmp_path))

    assert len(acknowledged) == WRITERS * COMMITS
    check_nothing_lost(storage, acknowledged)


@pytest.mark.slow
def test_checksums_and_checkpoints_of_a_race_are_right(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    create_table(storage, metadata(properties={"delta.checkpointInterval": "2"}))

    acknowledged = run_writers(4, commits=10, url=str(tmp_path))

    check_nothing_lost(storage, acknowledged)
    for version in range(1, len(acknowledged) + 1):
        snapshot = load_snapshot(storage, version)
        assert verify_checksum(snapshot)
        assert (snapshot.version, snapshot.num_files) == (version, version)


@pytest.mark.slow
def test_writers_on_one_s3_table_make_consecutive_versions(s3: S3Server) -> None:
    url = s3.url("tables/raced")
    storage = open_storage(url, s3.options)
    create_table(storage)

    acknowledged = run_writers(WRITERS, commits=S3_COMMITS, url=url, options=s3.options)

    assert len(acknowledged) == WRITERS * S3_COMMITS
    check_nothing_lost(storage, acknowledged)


@pytest.mark.parametrize("lost", [1, 2])
def test_commit_whose_answer_the_store_lost_is_made_once(s3: S3Server, lost: int) -> None:
    storage = open_storage(s3.url(f"tables/lost-{lost}"), s3.options)
    create_table(storage)

    s3.lose_answers(lost)
    version = append(storage, add("mine"))

    assert version == 1
    assert load_snapshot(storage).version == 1
    assert paths(load_snapshot(storage)) == ["mine"]
