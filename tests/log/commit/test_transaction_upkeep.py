"""What follows a commit: checksums and checkpoints, none of which can fail it."""

from __future__ import annotations

import json
import logging
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from staging import VECTORS_ON, add, append, create_table, metadata, remove, vector
from truckee.errors.storage import StorageError
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checksum import verify_checksum
from truckee.log.upkeep.checksum_writer import counted_checksum
from truckee.protocol.actions import DomainMetadata, SetTransaction
from truckee.protocol.paths import checkpoint_path, checksum_path
from truckee.storage import MemoryStorage


def checksum(storage: MemoryStorage, version: int) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(storage.read(checksum_path(version)))
    return found


def totals(storage: MemoryStorage, version: int) -> tuple[int, int]:
    found = checksum(storage, version)
    return found["numFiles"], found["tableSizeBytes"]


def test_every_version_gets_a_checksum() -> None:
    storage = MemoryStorage()
    a, b = add("a", size=10), add("b", size=5)
    create_table(storage, None, a)
    append(storage, b)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(remove(a))
    transaction.commit("DELETE")

    assert [totals(storage, version) for version in range(3)] == [(1, 10), (2, 15), (1, 5)]


def test_checksum_tells_all_that_a_reader_may_want_to_know() -> None:
    storage = MemoryStorage()
    table = metadata(
        properties={
            **VECTORS_ON,
            "delta.feature.domainMetadata": "supported",
            "delta.enableInCommitTimestamps": "true",
        }
    )
    a = add("a", size=10)
    create_table(storage, table, a)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(
        replace(add("a", vector=vector("v", 3)), size=10),
        remove(a),
        SetTransaction(app_id="app", version=4),
        DomainMetadata(domain="d", configuration="{}"),
    )
    transaction.commit("DELETE")

    found = checksum(storage, 1)

    snapshot = load_snapshot(storage)
    assert len(found.pop("txnId")) == 36
    assert found.pop("inCommitTimestampOpt") == snapshot.timestamp_ms
    assert found.pop("metadata")["id"] == table.id
    assert found.pop("protocol")["minReaderVersion"] == 3
    assert found == {
        "tableSizeBytes": 10,
        "numFiles": 1,
        "numDeletedRecordsOpt": 3,
        "numDeletionVectorsOpt": 1,
        "numMetadata": 1,
        "numProtocol": 1,
        "setTransactions": [{"appId": "app", "version": 4}],
        "domainMetadata": [{"domain": "d", "configuration": "{}", "removed": False}],
    }


def test_checksum_after_appends_is_what_counting_gives() -> None:
    storage = MemoryStorage()
    table = metadata(properties={**VECTORS_ON, "delta.feature.domainMetadata": "supported"})
    create_table(storage, table, add("a"))
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(
        add("b", size=7),
        SetTransaction(app_id="app", version=4),
        DomainMetadata(domain="d", configuration="{}"),
    )
    transaction.commit("WRITE")
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(
        add("c", size=8, vector=vector("v", 2)),
        SetTransaction(app_id="app", version=5),
        DomainMetadata(domain="d", configuration="", removed=True),
    )
    transaction.commit("CLONE")

    for version in range(3):
        assert verify_checksum(load_snapshot(storage, version))
        counts = json.loads(msgspec.json.encode(counted_checksum(load_snapshot(storage, version))))
        written = {k: v for k, v in checksum(storage, version).items() if k != "txnId"}
        assert written == counts


def test_checksum_is_counted_where_the_one_before_is_missing_or_broken() -> None:
    storage = MemoryStorage()
    create_table(storage, None, add("a", size=10))
    storage.delete(checksum_path(0))
    append(storage, add("b", size=5))
    storage.write(checksum_path(1), b"{")
    append(storage, add("c", size=1))

    assert totals(storage, 2) == (3, 16)


def test_file_whose_action_is_written_again_is_counted_once() -> None:
    storage = MemoryStorage()
    a = add("a", size=10)
    create_table(storage, None, a)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(replace(a, data_change=False, stats='{"numRecords":10}'))
    transaction.commit("COMPUTE STATS")

    assert totals(storage, 1) == (1, 10)


def test_applications_that_expire_are_left_out_of_checksums() -> None:
    storage = MemoryStorage()
    retention = {"delta.setTransactionRetentionDuration": "interval 1 day"}
    create_table(storage, metadata(properties=retention))
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(SetTransaction(app_id="app", version=4, last_updated=1))
    transaction.commit("WRITE")

    assert "setTransactions" not in checksum(storage, 1)


def test_checksum_that_is_there_is_not_written_again() -> None:
    storage = MemoryStorage()
    create_table(storage)
    storage.write(checksum_path(1), b"somebody else's")

    append(storage, add("a"))

    assert storage.read(checksum_path(1)) == b"somebody else's"


def test_checkpoints_come_at_the_tables_interval() -> None:
    storage = MemoryStorage()
    create_table(storage, metadata(properties={"delta.checkpointInterval": "3"}))
    for name in "abcdefg":
        append(storage, add(name))

    found = [f.path for f in storage.list_from("_delta_log/") if "checkpoint.p" in f.path]

    assert found == [checkpoint_path(3), checkpoint_path(6)]


class NoRoomForUpkeep(MemoryStorage):
    """Takes commits and nothing else."""

    def put_if_absent(self, path: str, data: bytes) -> None:
        if not path.endswith(".json"):
            raise StorageError(action="write", path=path, reason="disk full")
        super().put_if_absent(path, data)

    def write(self, path: str, data: bytes) -> None:
        raise StorageError(action="write", path=path, reason="disk full")


def test_commit_succeeds_though_nothing_else_could_be_written(
    caplog: pytest.LogCaptureFixture,
) -> None:
    storage = NoRoomForUpkeep()
    with caplog.at_level(logging.ERROR):
        create_table(storage, metadata(properties={"delta.checkpointInterval": "1"}))

    with caplog.at_level(logging.WARNING, logger="truckee"):
        version = append(storage, add("a"))

    assert version == 1
    assert load_snapshot(storage).version == 1
    assert [record.message for record in caplog.records] == [
        "the checksum of version 1 of the table memory://t could not be written; "
        "the commit itself is safe",
        "the checkpoint of version 1 of the table memory://t could not be written; "
        "the commit itself is safe",
    ]


def test_property_that_cannot_be_read_does_not_fail_a_commit(
    caplog: pytest.LogCaptureFixture,
) -> None:
    storage = MemoryStorage()
    create_table(storage, metadata(properties={"delta.checkpointInterval": "often"}))

    with caplog.at_level(logging.WARNING, logger="truckee"):
        assert append(storage, add("a")) == 1

    assert "the checkpoint of version 1" in caplog.records[-1].message
