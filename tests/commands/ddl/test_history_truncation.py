"""Features dropped without a trace: the versions that need them are deleted when they may be."""

from __future__ import annotations

from pathlib import Path

import pytest
from deltalake import DeltaTable as RustTable

from care.folders import Folder
from data_tables import metadata, vector
from truckee.commands.ddl.alter_protocol import drop_unused_feature
from truckee.commands.ddl.history_truncation import last_use
from truckee.errors.commands.drop_feature import (
    CheckpointProtectionDropError,
    CheckpointProtectionWaitError,
    FeatureDropError,
    FeatureRetentionError,
    HistoricalVersionsError,
    HistoryTruncationError,
)
from truckee.log.files.history import earliest_version, history, latest_version
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import Protocol
from truckee.protocol.paths import commit_path

VECTORS = {"delta.enableDeletionVectors": "true"}
PROTOCOL = Protocol(
    min_reader_version=3,
    min_writer_version=7,
    reader_features=("deletionVectors",),
    writer_features=("appendOnly", "deletionVectors", "invariants"),
)


def table_with_past_vectors(path: Path, *, days: float) -> Folder:
    """A table whose version 1 has a vector, and whose version 2 has none any more."""
    table = Folder(path, days=9, **VECTORS)
    table.commit(PROTOCOL, days=9)
    table.write("a", "b", days=9)
    table.commit(table.add("a", deletion_vector=vector(1)), days=9)
    table.commit(
        metadata("id long", properties={}),
        table.remove("a", days=days, deletion_vector=vector(1)),
        table.add("b"),
        days=days,
    )
    return table


def test_a_feature_goes_with_the_versions_that_needed_it(tmp_path: Path) -> None:
    table = table_with_past_vectors(tmp_path / "t", days=3)
    table.commit(days=2)
    write_checkpoint(load_snapshot(table.storage))
    table.commit(days=1.5)

    version = drop_unused_feature(table.storage, "deletionVectors", truncate_history=True)

    snapshot = load_snapshot(table.storage)
    assert snapshot.version == version
    assert snapshot.protocol == Protocol(min_reader_version=1, min_writer_version=2)
    assert earliest_version(table.storage) == 4
    assert last_use(table.storage, "deletionVectors") is None
    [entry] = history(table.storage, 1)
    assert entry.operation == "DROP FEATURE"
    assert entry.operation_parameters == {
        "featureName": "deletionVectors",
        "truncateHistory": "true",
    }
    assert RustTable(str(table.path)).file_uris() == [str(table.path / "b")]


def test_versions_that_are_too_young_are_waited_for(tmp_path: Path) -> None:
    table = table_with_past_vectors(tmp_path / "t", days=0.5)

    with pytest.raises(FeatureRetentionError) as raised:
        drop_unused_feature(table.storage, "deletionVectors", truncate_history=True)

    assert (raised.value.version, raised.value.hours) == (3, 24)
    assert [entry.operation for entry in history(table.storage, 1)] == ["Empty Commit"]
    assert (table.path / "_delta_log" / f"{4:020d}.checkpoint.parquet").exists()
    with pytest.raises(HistoricalVersionsError):
        drop_unused_feature(table.storage, "deletionVectors", truncate_history=True)
    assert latest_version(table.storage) == 4
    assert "deletionVectors" in (load_snapshot(table.storage).protocol.writer_features or ())


def test_what_is_still_used_is_not_dropped(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", **VECTORS)

    with pytest.raises(FeatureDropError):
        drop_unused_feature(table.storage, "deletionVectors", truncate_history=True)

    assert latest_version(table.storage) == 0


def test_history_is_truncated_for_features_of_readers_only(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.commit(PROTOCOL, days=9)

    with pytest.raises(HistoryTruncationError):
        drop_unused_feature(table.storage, "appendOnly", truncate_history=True)


def test_protection_goes_once_the_protected_versions_are_gone(tmp_path: Path) -> None:
    table = table_with_past_vectors(tmp_path / "t", days=0.5)
    drop_unused_feature(table.storage, "deletionVectors")

    with pytest.raises(CheckpointProtectionDropError):
        drop_unused_feature(table.storage, "checkpointProtection")
    with pytest.raises(CheckpointProtectionWaitError):
        drop_unused_feature(table.storage, "checkpointProtection", truncate_history=True)

    table.age(commit_path(3), days=2)
    drop_unused_feature(table.storage, "checkpointProtection", truncate_history=True)

    snapshot = load_snapshot(table.storage)
    assert snapshot.protocol == Protocol(min_reader_version=1, min_writer_version=2)
    assert snapshot.metadata.configuration == {}
    assert earliest_version(table.storage) == 4
