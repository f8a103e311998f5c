"""Law: replay from any checkpoint is replay from zero."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from law_examples import examples
from property.strategies import histories
from staging import metadata
from truckee.log.snapshot import Snapshot, load_snapshot, update_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import Action, encode_actions
from truckee.protocol.features import protocol_for
from truckee.protocol.paths import commit_path
from truckee.storage import MemoryStorage

pytestmark = pytest.mark.property

KINDS: dict[str, dict[str, str]] = {
    "classic": {},
    "classic, typed statistics only": {"delta.checkpoint.writeStatsAsJson": "false"},
    "v2": {"delta.checkpointPolicy": "v2"},
}


def table(properties: dict[str, str], commits: list[list[Action]]) -> MemoryStorage:
    storage = MemoryStorage()
    first = metadata("id long", "p string", partitioned_by=("p",), properties=properties)
    protocol = protocol_for(first, ["deletionVectors", "domainMetadata"])
    for version, actions in enumerate([[protocol, first], *commits]):
        storage.write(commit_path(version), encode_actions(actions) or b"\n")
    return storage


def state(snapshot: Snapshot) -> dict[str, Any]:
    return {
        "version": snapshot.version,
        "protocol": snapshot.protocol,
        "metadata": snapshot.metadata,
        "files": sorted(snapshot.files(), key=lambda file: file.path),
        "tombstones": {
            (r.path, r.deletion_vector and r.deletion_vector.unique_id, r.size, r.base_row_id)
            for r in snapshot.tombstones()
        },
        "applications": dict(snapshot.set_transactions),
        "domains": dict(snapshot.domain_metadata),
    }


# Invariant 5.
@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
@settings(deadline=None, max_examples=examples(60))
def test_replay_from_any_checkpoint_is_replay_from_zero(kind: str, data: st.DataObject) -> None:
    commits = data.draw(histories(properties=KINDS[kind]))
    plain, checkpointed = table(KINDS[kind], commits), table(KINDS[kind], commits)
    versions = data.draw(st.sets(st.integers(0, len(commits)), min_size=1, max_size=3))

    for version in sorted(versions):
        write_checkpoint(load_snapshot(checkpointed, version))
        for gone in range(version + 1):
            checkpointed.delete(commit_path(gone))

    for version in range(max(versions), len(commits) + 1):
        assert state(load_snapshot(checkpointed, version)) == state(load_snapshot(plain, version))


@given(data=st.data())
@settings(deadline=None, max_examples=examples(60))
def test_snapshot_that_is_brought_up_to_date_is_the_latest(data: st.DataObject) -> None:
    commits = data.draw(histories(properties={}))
    storage = table({}, commits)
    old = load_snapshot(storage, data.draw(st.integers(0, len(commits))))
    if data.draw(st.booleans()):
        old.files_table()

    assert state(update_snapshot(old)) == state(load_snapshot(storage))
