"""Which files a restore brings back and takes away, and what its commit says; no rows needed."""

from __future__ import annotations

from pathlib import Path
from uuid import UUID

import msgspec
import pytest

from care.folders import Folder, Interrupted
from data_tables import metadata, vector
from truckee.care.restore_plan import plan_restore
from truckee.commands.care.restore import RestoreTarget, restore_table, restore_target
from truckee.errors.commands.care import (
    RestoreMissingFilesError,
    RestoreTimestampEarlierError,
    RestoreTimestampGreaterError,
    RestoreVersionError,
)
from truckee.errors.options import ArgumentValueError, InvalidTimestampError
from truckee.errors.transaction import ConcurrentAppendException, ConcurrentWriteException
from truckee.log.files.commits import read_commit
from truckee.log.files.history import latest_version
from truckee.log.snapshot import load_snapshot
from truckee.protocol.actions import SetTransaction
from truckee.protocol.deletion_vector import on_disk_with_relative_path
from truckee.protocol.paths import commit_path

VECTORS = {"delta.enableDeletionVectors": "true"}


@pytest.fixture
def table(tmp_path: Path) -> Folder:
    """a and b; then b is gone, c is there, and a has lost rows; then a has lost more."""
    made = Folder(tmp_path / "t", **VECTORS)
    made.write("a", "b", "c d", days=3)
    made.commit(made.add("a"), made.add("b"), days=3)
    made.commit(
        made.remove("b", days=2),
        made.add("c d"),
        made.remove("a", days=2),
        made.add("a", deletion_vector=vector(1)),
        days=2,
    )
    made.commit(
        made.remove("a", days=1, deletion_vector=vector(1)),
        made.add("a", deletion_vector=vector(1, 2)),
        days=1,
    )
    return made


def state(table: Folder, version: int | None = None) -> set[tuple[str, str | None]]:
    return {
        (file.path, file.deletion_vector and file.deletion_vector.unique_id)
        for file in load_snapshot(table.storage, version).files()
    }


# Invariant 39.
@pytest.mark.parametrize("version", [0, 1, 2])
def test_the_restored_version_has_the_files_and_vectors_it_had(table: Folder, version: int) -> None:
    restore_table(table.storage, RestoreTarget(version=version))

    assert latest_version(table.storage) == 4
    assert state(table) == state(table, version)


def test_a_restore_is_undone_by_a_restore(table: Folder) -> None:
    restore_table(table.storage, RestoreTarget(version=1))
    restore_table(table.storage, RestoreTarget(version=3))

    assert state(table) == state(table, 3)
    assert state(table, 4) == state(table, 1)


def test_only_what_differs_is_in_the_commit(table: Folder) -> None:
    storage = table.storage

    plan = plan_restore(load_snapshot(storage, 3), load_snapshot(storage, 2))

    assert [(file.path, file.deletion_vector) for file in plan.restored] == [("a", vector(1))]
    assert [(file.path, file.deletion_vector) for file in plan.removed] == [("a", vector(1, 2))]


def test_the_commit_says_what_delta_spark_says(table: Folder) -> None:
    restore_table(table.storage, RestoreTarget(version=1))

    commit = read_commit(table.storage, 4)
    info = commit.commit_info
    assert info is not None
    assert (info.operation, info.read_version) == ("RESTORE", 3)
    assert info.operation_parameters == {"version": 1, "timestamp": None}
    assert info.operation_metrics == {
        "tableSizeAfterRestore": "20",
        "numOfFilesAfterRestore": "2",
        "numRemovedFiles": "2",
        "numRestoredFiles": "2",
        "removedFilesSize": "20",
        "restoredFilesSize": "20",
    }
    assert (info.is_blind_append, info.isolation_level) == (False, "Serializable")
    assert commit.metadata is not None
    assert all(action.data_change for action in (*commit.adds, *commit.removes))
    raw = table.storage.read(commit_path(4)).splitlines()[0]
    assert msgspec.json.decode(raw)["commitInfo"]["operationParameters"] == {
        "version": 1,
        "timestamp": None,
    }
    assert (table.path / "_delta_log" / f"{4:020d}.checkpoint.parquet").exists()


def test_schema_properties_and_partitioning_come_back(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", **{"delta.appendOnly": "false", "mine": "1"})
    before = load_snapshot(table.storage).metadata
    table.commit(metadata("id long", "more string", properties={"other": "2"}), days=1)

    restore_table(table.storage, RestoreTarget(version=0))

    assert load_snapshot(table.storage).metadata == before


def test_the_protocol_is_never_lowered(table: Folder) -> None:
    protocol = load_snapshot(table.storage).protocol
    more = msgspec.structs.replace(
        protocol, writer_features=(*(protocol.writer_features or ()), "domainMetadata")
    )
    table.commit(more, days=0.5)

    restore_table(table.storage, RestoreTarget(version=1))

    assert load_snapshot(table.storage).protocol == more


def test_the_latest_version_is_restored_by_doing_nothing(table: Folder) -> None:
    assert restore_table(table.storage, RestoreTarget(version=3)) is None
    assert latest_version(table.storage) == 3


def test_a_file_that_is_gone_is_named_before_anything_is_written(table: Folder) -> None:
    (table.path / "b").unlink()

    with pytest.raises(RestoreMissingFilesError) as raised:
        restore_table(table.storage, RestoreTarget(version=1))

    assert (raised.value.count, raised.value.paths) == (1, ("b",))
    assert latest_version(table.storage) == 3

    restore_table(
        table.storage, RestoreTarget(version=1), {"spark.sql.files.ignoreMissingFiles": "true"}
    )

    assert state(table) == state(table, 1)


def test_a_vector_file_that_is_gone_is_named_too(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", **VECTORS)
    marks = on_disk_with_relative_path(UUID(int=1), size_in_bytes=9, cardinality=1, offset=1)
    table.write("a", days=3)
    table.commit(table.add("a", deletion_vector=marks), days=3)
    table.commit(table.remove("a", days=2, deletion_vector=marks), days=2)

    with pytest.raises(RestoreMissingFilesError) as raised:
        restore_table(table.storage, RestoreTarget(version=1))

    assert raised.value.paths == (marks.file_path,)


def test_a_version_that_is_not_there_is_refused(table: Folder) -> None:
    for version in (9, -1):
        with pytest.raises(RestoreVersionError) as raised:
            restore_table(table.storage, RestoreTarget(version=version))
        assert (raised.value.earliest, raised.value.latest) == (0, 3)
    for wrong in ("1", 1.0, True, None):
        with pytest.raises(ArgumentValueError):
            restore_target(table.storage, wrong, None)  # type: ignore[arg-type]
    assert latest_version(table.storage) == 3


def test_a_time_is_one_of_the_table(table: Folder) -> None:
    with pytest.raises(RestoreTimestampEarlierError):
        restore_target(table.storage, None, "2001-01-01")
    with pytest.raises(RestoreTimestampGreaterError):
        restore_target(table.storage, None, "2101-01-01")
    with pytest.raises(InvalidTimestampError):
        restore_target(table.storage, None, "yesterday")


def test_another_writer_in_between_fails_the_restore(table: Folder) -> None:
    """Its rows would vanish without anybody having seen them."""
    storage = Interrupted(table.path, lambda: table.commit(table.add("e"), days=0))

    with pytest.raises(ConcurrentAppendException):
        restore_table(storage, RestoreTarget(version=1))

    assert latest_version(table.storage) == 4


def test_even_a_commit_that_changes_no_rows_fails_the_restore(table: Folder) -> None:
    txn = SetTransaction(app_id="somebody", version=1)
    storage = Interrupted(table.path, lambda: table.commit(txn, days=0))

    with pytest.raises(ConcurrentWriteException):
        restore_table(storage, RestoreTarget(version=1))

    assert latest_version(table.storage) == 4
