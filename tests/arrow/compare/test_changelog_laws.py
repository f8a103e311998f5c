"""The laws of derived feeds and of net changes, over histories that are made up.

A feed is applied by its signs: inserted rows and postimages come, the others go.
`TRUCKEE_NET_EXAMPLES` asks for more histories.
"""

from __future__ import annotations

import os
from collections import Counter
from itertools import count
from pathlib import Path
from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import truckee
from feed_histories import Change, History, Row, Shape, histories
from keyed_histories import Change as Keyed
from keyed_histories import KeyedHistory

pytestmark = pytest.mark.property

SHAPES = [Shape(mapping, parted) for mapping in ("none", "name", "id") for parted in (False, True)]
EXAMPLES = int(os.environ.get("TRUCKEE_NET_EXAMPLES", "3"))
SETTINGS = settings(
    max_examples=EXAMPLES,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=list(HealthCheck),
)


def feed(history: History, start: int, end: int, **shape: Any) -> Counter[Change]:
    rows = truckee.open(str(history.path)).changes(start, end, **shape).to_arrow().to_pylist()
    return Counter(
        Change(
            row["_commit_version"],
            row["_change_type"],
            Row(row["id"], row["part"], row.get("extra")),
        )
        for row in rows
    )


def balance(changes: Counter[Change]) -> Counter[Row]:
    """How many of each row came, and how many went if below zero; those that are even left out."""
    found: Counter[Row] = Counter()
    for change, times in changes.items():
        gains = change.type in ("insert", "update_postimage")
        found[change.row] += times if gains else -times
    return Counter({row: times for row, times in found.items() if times})


def applied(rows: Counter[Row], changes: Counter[Change]) -> Counter[Row]:
    found = Counter(rows)
    for row, times in balance(changes).items():
        found[row] += times
    return Counter({row: times for row, times in found.items() if times})


# Invariant 52.
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_derived_feed_is_the_recorded_one_and_nets_to_the_difference(
    tmp_path_factory: pytest.TempPathFactory, shape: Shape
) -> None:
    root, numbers = tmp_path_factory.mktemp("laws"), count()

    @SETTINGS
    @given(st.data())
    def laws_hold(data: st.DataObject) -> None:
        folder = lambda: root / f"t{next(numbers)}"  # noqa: E731
        history = data.draw(histories(folder, shape, commits=(10, 16)))
        a = data.draw(st.integers(1, history.last), label="a")
        b = data.draw(st.integers(a, history.last), label="b")
        check_laws(history, a, b)

    laws_hold()


def check_laws(history: History, a: int, b: int) -> None:
    derived = feed(history, a, b, changeFeed="derived")
    for version in range(a, b + 1):
        told = history.feed(version, version)
        found = Counter({c: n for c, n in derived.items() if c.version == version})
        assert balance(found) == balance(told)
        assert applied(history.rows(version - 1), found) == history.rows(version)
        assert sum(found.values()) == sum(abs(n) for n in balance(found).values())
        if len({change.type for change in told}) == 1:
            assert found == told
    assert feed(history, a, b, changeFeed="auto") == history.feed(a, b)
    net = feed(history, a, b, deduplicationMode="netChanges")
    assert applied(history.rows(a - 1), net) == history.rows(b)
    assert sum(net.values()) == sum(abs(n) for n in balance(net).values())
    assert feed(history, a, b, changeFeed="derived", deduplicationMode="netChanges") == net
    everything = feed(history, a, b, changeFeed="derived", deduplicationMode="none")
    assert balance(everything) == balance(net)


def keyed_feed(history: KeyedHistory, start: int, end: int, **shape: Any) -> Counter[Keyed]:
    table = truckee.open(str(history.table))
    rows = table.changes(start, end, **shape).to_arrow().to_pylist()
    return Counter(
        Keyed(row["_change_type"], row["id"], row["v"], row["_commit_version"]) for row in rows
    )


@settings(SETTINGS, max_examples=3 * EXAMPLES)
@given(seed=st.integers(0, 2**32), data=st.data())
def test_keys_and_row_ids_tell_what_was_recorded(
    tmp_path_factory: pytest.TempPathFactory, seed: int, data: st.DataObject
) -> None:
    path: Path = tmp_path_factory.mktemp("keyed") / "t"
    history = KeyedHistory(path, Random(seed), 9)
    a = data.draw(st.integers(1, history.last), label="a")
    b = data.draw(st.integers(a, history.last), label="b")
    recorded = Counter(history.feed(a, b))

    assert keyed_feed(history, a, b) == recorded
    assert keyed_feed(history, a, b, changeFeed="derived") == recorded
    assert keyed_feed(history, a, b, changeFeed="derived", keys="id") == recorded
    for source, keys in (("recorded", "id"), ("derived", "id"), ("auto", "id"), ("derived", None)):
        for updates in (True, False):
            for drop in (True, False):
                net = keyed_feed(
                    history,
                    a,
                    b,
                    changeFeed=source,
                    keys=keys,
                    deduplicationMode="netChanges",
                    computeUpdates=updates,
                    dropUnchanged=drop,
                )
                assert net == history.net(a, b, updates=updates, drop=drop)
