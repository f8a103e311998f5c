"""One version has one timestamp, whoever asks and wherever they start to read."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping

import pytest

from builders import history
from changes.tables import FEED_ON
from staging import metadata, plan_changes
from streaming.streams import batches, feed
from truckee.log.files.commits import FileTimes, read_commits
from truckee.log.files.history import commit_timestamps, version_as_of, version_at_or_after
from truckee.log.files.history import history as table_history
from truckee.log.snapshot import load_snapshot
from truckee.options.feed import feed_options
from truckee.protocol.actions import Metadata
from truckee.protocol.paths import commit_path
from truckee.report.activity import activities
from truckee.storage.base import FileInfo, Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage

COMMITS = 350
STARTS = (0, 1, 120, 249, 250, 348, 349)
FEED: Metadata = metadata(properties=FEED_ON)


@pytest.fixture(scope="module")
def burst(tmp_path_factory: pytest.TempPathFactory) -> LocalStorage:
    """A table whose commit files all have one time, as after a copy, but for one late one."""
    folder = tmp_path_factory.mktemp("burst")
    storage = LocalStorage(str(folder))
    table = history(storage).stage(FEED).then()
    for version in range(1, COMMITS):
        table.add(f"f{version}").then()
    for version in range(COMMITS):
        time_ms = 9000 if version == 17 else 5000
        os.utime(folder / commit_path(version), ns=(time_ms * 1_000_000, time_ms * 1_000_000))
    return storage


# By hand: each commit is a millisecond after the one before, the 17th jumps to 9000.
EXPECTED = {v: 5000 + v if v < 17 else 9000 + v - 17 for v in range(COMMITS)}


def by_feed(storage: Storage, start: int) -> Mapping[int, int | None]:
    plan = plan_changes(storage, feed_options({"startingVersion": str(start)}))
    return {f.change.version: f.change.timestamp_ms for f in plan.files if f.change is not None}


def by_stream(storage: Storage, start: int) -> Mapping[int, int | None]:
    files = [f for b in batches(feed(storage, startingVersion=start)) for f in b.files]
    return {f.change.version: f.change.timestamp_ms for f in files if f.change is not None}


DOORS: dict[str, Callable[[Storage, int], Mapping[int, int | None]]] = {
    "history": lambda s, start: {
        e.version: e.timestamp_ms for e in table_history(s, COMMITS - start)
    },
    "commits": lambda s, start: {c.version: c.timestamp_ms for c in read_commits(s, start)},
    "timestamps": lambda s, start: commit_timestamps(s, start, COMMITS - 1),
    "feed": by_feed,
    "stream": by_stream,
    "snapshot": lambda s, start: {start: load_snapshot(s, start).timestamp_ms},
    "report": lambda s, start: {
        a.version: a.timestamp_ms for a in activities(load_snapshot(s), limit=COMMITS - start)
    },
}


@pytest.mark.parametrize("start", STARTS)
@pytest.mark.parametrize("door", DOORS)
def test_a_version_has_one_timestamp_at_every_door(
    burst: LocalStorage, door: str, start: int
) -> None:
    """Invariant 26."""
    found = DOORS[door](burst, start)

    assert found
    assert found == {version: EXPECTED[version] for version in found}
    assert max(found) == (start if door == "snapshot" else COMMITS - 1)


@pytest.mark.parametrize("version", STARTS)
def test_time_travel_to_the_timestamp_of_a_version_is_that_version(
    burst: LocalStorage, version: int
) -> None:
    assert version_as_of(burst, EXPECTED[version]) == version
    assert version_at_or_after(burst, EXPECTED[version]) == version


class FarAway(MemoryStorage):
    """A store whose every listing costs; it remembers where they started."""

    def __init__(self) -> None:
        super().__init__("memory://far")
        self.listed: list[str] = []

    @property
    def root(self) -> str:
        return "s3://far"

    def list_from(self, path: str) -> Iterator[FileInfo]:
        self.listed.append(path)
        return super().list_from(path)


def test_a_stream_of_a_remote_table_lists_what_is_new() -> None:
    storage = FarAway()
    table = history(storage).empty(5)
    first = {v: FileTimes(storage).at(v) for v in range(5)}
    table.empty(2)
    storage.listed.clear()

    later = FileTimes(storage)
    times = {v: later.at(v) for v in (5, 6)}

    assert storage.listed == [commit_path(4).removesuffix(".json")]
    assert first[4] < times[5] < times[6]
    fresh = FarAway()
    fresh._files.by_url.update(storage._files.by_url)
    assert {v: FileTimes(fresh).at(v) for v in range(7)} == first | times
