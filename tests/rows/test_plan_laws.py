"""The laws of feeds on plans as values, run on plain lists: no engine, and most without a file.

What is under test is the planning: which files, which of their rows, and which comparisons.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from changes.test_laws import World, selection, worlds
from keyed_histories import Change, KeyedHistory
from law_examples import examples
from rows.row_lists import Row, rows_of
from rows.stored_rows import stored_rows
from streaming.streams import feed as feed_stream
from streaming.streams import reread
from truckee.changes.columns import CHANGE_TYPE, COMMIT_VERSION
from truckee.options.feed import feed_options
from truckee.rows.feed import feed_plan
from truckee.scan.scan_file import ScanFile
from truckee.storage.base import Storage

pytestmark = pytest.mark.property

LAWS = settings(max_examples=examples(120), deadline=None)
NET = {"deduplicationMode": "netChanges"}
DERIVED = {"changeFeed": "derived"}


def feed(world: World, start: int, end: int, **options: object) -> list[Row]:
    given_options = {"startingVersion": start, "endingVersion": end, **options}
    plan = feed_plan(world.table.storage, feed_options(given_options))
    return rows_of(plan, data_of(world))


def data_of(world: World) -> Any:
    def data(file: ScanFile) -> Iterator[Row]:
        assert file.change is not None
        if file.change.type is None:
            yield from ({"id": row, CHANGE_TYPE: kind} for kind, row in world.changes[file.path])
            return
        found = world.data[file.path]
        for index in selection(world.table.storage, file.rows, len(found)):
            yield {"id": found[index]}

    return data


def balance(rows: list[Row]) -> Counter[int]:
    """How many of each row came, or went if below zero."""
    found: Counter[int] = Counter()
    for row in rows:
        found[row["id"]] += 1 if row[CHANGE_TYPE] in ("insert", "update_postimage") else -1
    return Counter({row: times for row, times in found.items() if times})


def applied(rows: Counter[int], changes: list[Row]) -> Counter[int]:
    found = Counter(rows)
    found.update(balance(changes))
    return Counter({row: times for row, times in found.items() if times})


def shown(rows: list[Row]) -> Counter[tuple[Any, ...]]:
    return Counter((row[COMMIT_VERSION], row[CHANGE_TYPE], row["id"]) for row in rows)


def spans(world: World, data: st.DataObject) -> tuple[int, int]:
    last = len(world.versions) - 1
    start = data.draw(st.integers(1, last), label="start")
    return start, data.draw(st.integers(start, last), label="end")


def rows_at(world: World, version: int) -> Counter[int]:
    return Counter(world.rows(world.versions[version]))


@LAWS
@given(worlds(), st.data())
def test_every_feed_applied_to_a_version_gives_the_later_one(
    world: World, data: st.DataObject
) -> None:
    start, end = spans(world, data)

    for source in ("recorded", "derived", "auto"):
        for mode in ("none", "dropCarryovers", "netChanges"):
            found = feed(world, start, end, changeFeed=source, deduplicationMode=mode)
            assert applied(rows_at(world, start - 1), found) == rows_at(world, end)


@LAWS
@given(worlds(), st.data())
def test_a_derived_version_and_a_net_have_no_row_on_both_sides(
    world: World, data: st.DataObject
) -> None:
    start, end = spans(world, data)

    derived = feed(world, start, end, **DERIVED)
    for version in range(start, end + 1):
        of_version = [row for row in derived if row[COMMIT_VERSION] == version]
        assert len(of_version) == sum(map(abs, balance(of_version).values()))
    for source in ("recorded", "derived", "auto"):
        net = feed(world, start, end, changeFeed=source, **NET)
        assert len(net) == sum(map(abs, balance(net).values()))
        assert shown(net) == shown(feed(world, start, end, **NET))


@LAWS
@given(worlds(), st.data())
def test_derived_ranges_add_up(world: World, data: st.DataObject) -> None:
    start, end = spans(world, data)
    middle = data.draw(st.integers(start, end), label="middle")

    parts = feed(world, start, middle, **DERIVED)
    parts += feed(world, middle + 1, end, **DERIVED) if middle < end else []

    assert shown(parts) == shown(feed(world, start, end, **DERIVED))


@LAWS
@given(worlds(), st.integers(1, 6), st.sampled_from(["derived", "auto"]))
def test_a_stream_cut_anywhere_is_the_batch(world: World, limit: int, source: str) -> None:
    options = {"startingVersion": 1, "changeFeed": source}
    stream = feed_stream(world.table.storage, **options, maxFilesPerTrigger=limit)
    found, start = [], None
    while (end := stream.latest_offset(start)) != start:
        assert end is not None
        end = reread(stream, end)
        found += rows_of(stream.changelog_batch(start, end), data_of(world))
        start = end

    last = len(world.versions) - 1
    assert shown(found) == shown(feed(world, 1, last, changeFeed=source))


@settings(LAWS, max_examples=examples(40), suppress_health_check=list(HealthCheck))
@given(seed=st.integers(0, 2**32), data=st.data())
def test_by_keys_and_by_ids_a_feed_is_what_was_recorded_and_nets_to_the_states(
    tmp_path_factory: pytest.TempPathFactory, seed: int, data: st.DataObject
) -> None:
    path: Path = tmp_path_factory.mktemp("keyed") / "t"
    history = KeyedHistory(path, Random(seed), 7)
    start = data.draw(st.integers(1, history.last), label="start")
    end = data.draw(st.integers(start, history.last), label="end")

    def found(**options: object) -> Counter[Change]:
        rows = planned_rows(history.table.storage, start, end, **options)
        return Counter(Change(r[CHANGE_TYPE], r["id"], r["v"], r[COMMIT_VERSION]) for r in rows)

    recorded = Counter(history.feed(start, end))
    assert found(**DERIVED) == found(**DERIVED, keys="id") == recorded
    for source, keys in (("recorded", "id"), ("derived", "id"), ("auto", "id"), ("derived", None)):
        named = {} if keys is None else {"keys": keys}
        for updates in (True, False):
            for drop in (True, False):
                net = found(
                    **NET, **named, changeFeed=source, computeUpdates=updates, dropUnchanged=drop
                )
                assert net == history.net(start, end, updates=updates, drop=drop)


def planned_rows(storage: Storage, start: int, end: int, **options: object) -> list[Row]:
    given_options = {"startingVersion": start, "endingVersion": end, **options}
    return rows_of(feed_plan(storage, feed_options(given_options)), stored_rows(storage))
