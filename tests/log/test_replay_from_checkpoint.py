"""The law: replay from any checkpoint is replay from zero."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from builders import History, history, metadata
from truckee.log.checkpoint_writer import write_classic_checkpoint, write_v2_checkpoint
from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.protocol.paths import commit_path
from truckee.storage.base import Storage

# Kept for ever: otherwise which tombstones a checkpoint holds depends on when it was written.
PROPERTIES = {"delta.deletedFileRetentionDuration": "interval 10000 weeks"}

FILES = st.sampled_from(["a", "b", "c=1%202/d", "c=%C3%A9/e"])
STEPS = st.one_of(
    st.tuples(st.just("add"), FILES),
    st.tuples(st.just("remove"), FILES),
    st.tuples(st.just("delete"), FILES, st.lists(st.integers(0, 9), min_size=1, unique=True)),
    st.tuples(st.just("txn"), st.sampled_from(["x", "y"]), st.integers(0, 9)),
    st.tuples(st.just("domain"), st.sampled_from(["p", "q"]), st.booleans()),
    st.tuples(st.just("metadata"), st.integers(1, 3)),
)
COMMITS = st.lists(st.lists(STEPS, max_size=4, unique_by=lambda step: step[:2]), max_size=8)


def play(commits: list[list[tuple[Any, ...]]]) -> Storage:
    """Return a table with such commits; steps that make no sense at their time are left out."""
    table = history().stage(metadata(properties=PROPERTIES)).then()
    for steps in commits:
        for step in _one_per_key(steps):
            _take(table, step)
        table.then()
    return table.storage


def _one_per_key(steps: list[tuple[Any, ...]]) -> list[tuple[Any, ...]]:
    """Return one step for each file, application and domain, as a commit demands."""
    by_key: dict[tuple[str, ...], tuple[Any, ...]] = {}
    for step in steps:
        match step:
            case ("add" | "remove" | "delete", path, *_):
                by_key["file", path] = step
            case ("metadata", _):
                by_key["metadata",] = step
            case (kind, name, _):
                by_key[kind, name] = step
    return list(by_key.values())


def _take(table: History, step: tuple[Any, ...]) -> None:
    match step:
        case ("add", path):
            table.add(path)
        case ("remove", path) if path in table._live:
            table.remove(path)
        case ("delete", path, rows) if path in table._live:
            table.delete(path, rows)
        case ("txn", app, version):
            table.txn(app, version)
        case ("domain", name, removed):
            table.domain(name, removed=removed)
        case ("metadata", width):
            columns = (f"c{number} long" for number in range(width))
            table.stage(metadata(*columns, properties=PROPERTIES))
        case _:
            pass


def state(snapshot: Snapshot) -> dict[str, Any]:
    """Return everything that a snapshot says, with no order."""
    return {
        "version": snapshot.version,
        "protocol": snapshot.protocol,
        "metadata": snapshot.metadata,
        "files": sorted(map(repr, snapshot.files())),
        "tombstones": sorted((r.path, repr(r.deletion_vector)) for r in snapshot.tombstones()),
        "transactions": dict(snapshot.set_transactions),
        "domains": dict(snapshot.domain_metadata),
    }


@pytest.mark.property
@settings(max_examples=60, deadline=None)
@given(commits=COMMITS, data=st.data())
def test_replay_from_any_checkpoint_is_replay_from_zero(
    commits: list[list[tuple[Any, ...]]], data: st.DataObject
) -> None:
    storage = play(commits)
    from_zero = [state(load_snapshot(storage, version)) for version in range(len(commits) + 1)]
    at = data.draw(st.integers(0, len(commits)), label="checkpoint at")
    write = data.draw(st.sampled_from([write_classic_checkpoint, write_v2_checkpoint]))

    write(load_snapshot(storage, at))
    for version in range(at):
        storage.delete(commit_path(version))

    for version in range(at, len(commits) + 1):
        snapshot = load_snapshot(storage, version)
        assert snapshot.segment.checkpoint is not None
        assert state(snapshot) == from_zero[version]


@pytest.mark.property
@settings(max_examples=40, deadline=None)
@given(commits=COMMITS, known=st.booleans(), data=st.data())
def test_a_snapshot_brought_up_to_date_is_a_new_one(
    commits: list[list[tuple[Any, ...]]], known: bool, data: st.DataObject
) -> None:
    storage = play(commits)
    old = load_snapshot(storage, data.draw(st.integers(0, len(commits)), label="old version"))
    if known:
        old.files_table()

    assert state(update_snapshot(old)) == state(load_snapshot(storage))
