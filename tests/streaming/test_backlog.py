"""What a batch costs follows the commits that are new to it, not the backlog before or after it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from staging import add, append, create_table, metadata
from streaming.streams import batches, feed, stream
from truckee.errors.streaming import MissingCommitsError
from truckee.protocol.paths import commit_path
from truckee.storage import MemoryStorage
from truckee.storage.base import FileInfo
from truckee.streaming.offset import StreamOffset

FEED_ON = {"delta.enableChangeDataFeed": "true"}


class Counting(MemoryStorage):
    """Counts listings of the log and the commits that are read."""

    def __init__(self) -> None:
        super().__init__()
        self.listings = 0
        self.reads = 0

    def list_from(self, path: str) -> Iterator[FileInfo]:
        self.listings += 1
        return super().list_from(path)

    def read(self, path: str) -> bytes:
        self.reads += path.endswith(".json")
        return super().read(path)


def backlog(commits: int) -> Counting:
    storage = Counting()
    create_table(storage, metadata(properties=FEED_ON))
    for number in range(commits):
        append(storage, add(f"file-{number}"))
    return storage


# Invariant 49.
@pytest.mark.parametrize("kind", [stream, feed], ids=["table", "feed"])
def test_a_backlog_is_listed_once_and_each_of_its_commits_is_read_once(kind: type) -> None:
    storage = backlog(60)
    of = kind(storage, startingVersion=1, maxFilesPerTrigger=5)
    remaining = batches(of)
    first = next(remaining)
    storage.listings = storage.reads = 0

    found = [first, *remaining]

    assert [path for batch in found for path in batch.paths] == [f"file-{n}" for n in range(60)]
    assert len(found) == 12
    # The last batch and the empty answer after it look for what has come since.
    assert storage.listings <= 2
    assert storage.reads == 55


def test_a_batch_of_new_commits_costs_the_same_however_long_the_log_is() -> None:
    costs = []
    for length in (5, 50):
        storage = backlog(length)
        of = stream(storage, startingVersion=1)
        [batch] = batches(of)
        append(storage, add("new"))
        end = StreamOffset(table_id=of.table_id, version=batch.end[0])
        storage.listings = storage.reads = 0
        [new] = batches(of, end)
        assert new.paths == ["new"]
        costs.append((storage.listings, storage.reads))

    assert costs[0] == costs[1]
    assert costs[0][1] == 1


def test_commits_that_are_cleaned_up_after_they_were_listed_are_missed_aloud() -> None:
    storage = backlog(20)
    remaining = batches(stream(storage, startingVersion=1, maxFilesPerTrigger=5))
    next(remaining)
    for version in range(15):
        storage.delete(commit_path(version))

    with pytest.raises(MissingCommitsError) as raised:
        list(remaining)

    assert (raised.value.expected, raised.value.found) == (6, 15)
