"""What a table costs on a store: the requests that S3 sees, counted by the server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from s3_server import S3Server, s3_server
from staging import add, append, create_table, metadata
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import load_snapshot, update_snapshot
from truckee.protocol.paths import commit_path
from truckee.storage import open_storage

pytestmark = pytest.mark.slow

ROOT = "lake/orders"
LOG = f"{ROOT}/_delta_log"
CHECKPOINT = f"{LOG}/{10:020d}.checkpoint.parquet"


@pytest.fixture(scope="module")
def s3() -> Iterator[S3Server]:
    """A server with a table of thirteen versions, the tenth of which has a checkpoint."""
    with s3_server() as server:
        storage = open_storage(server.url(ROOT), server.options)
        create_table(storage, metadata())
        for number in range(1, 13):
            append(storage, add(f"file-{number}"))
        yield server


def key(version: int) -> str:
    return f"{ROOT}/{commit_path(version)}"


def test_opening_a_table_costs_one_listing_the_checkpoint_and_its_later_commits_once(
    s3: S3Server,
) -> None:
    storage = open_storage(s3.url(ROOT), s3.options)
    s3.requests()

    snapshot = load_snapshot(storage)
    opened = Counter(s3.requests())
    files = list(snapshot.files())
    listed = Counter(s3.requests())

    assert len(files) == 12
    assert opened.pop(f"HEAD {CHECKPOINT}", 0) <= 1
    assert 1 <= opened.pop(f"GET {CHECKPOINT}") <= 3
    assert opened == {
        "LIST": 1,
        f"GET {LOG}/_last_checkpoint": 1,
        f"GET {key(11)}": 1,
        f"GET {key(12)}": 1,
    }
    # No file of data is asked for: its size is what the log says.
    assert set(listed) <= {f"HEAD {CHECKPOINT}", f"GET {CHECKPOINT}"}


def test_a_snapshot_that_is_up_to_date_costs_one_listing(s3: S3Server) -> None:
    snapshot = load_snapshot(open_storage(s3.url(ROOT), s3.options))
    s3.requests()

    update_snapshot(snapshot)

    assert s3.requests() == ["LIST"]


def test_a_commit_costs_one_put_and_asks_for_no_file_that_it_adds(s3: S3Server) -> None:
    storage = open_storage(s3.url("lake/one"), s3.options)
    snapshot = create_table(storage, metadata())
    transaction = Transaction(storage, snapshot)
    transaction.stage(add("a"), add("b"))
    s3.requests()

    transaction.commit("WRITE")

    requests = s3.requests()
    commit = f"lake/one/{commit_path(1)}"
    assert requests.count(f"CREATE {commit}") == 1
    assert f"GET {commit}" not in requests
    assert not [r for r in requests if r.endswith(("/a", "/b"))]
