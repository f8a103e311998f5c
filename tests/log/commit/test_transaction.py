"""Transactions from the first stage to the commit, without anyone else around."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from msgspec.structs import replace

from staging import VECTORS_ON, add, append, create_table, metadata, paths, remove, vector
from truckee.errors.commit import MissingMetadataError, ProtocolDowngradeError
from truckee.errors.protocol import UnsupportedWriterFeaturesError
from truckee.log.commit.attempt import engine_info
from truckee.log.commit.conflicts import IsolationLevel
from truckee.log.commit.transaction import Transaction, isolation_level
from truckee.log.files.commits import read_commit
from truckee.log.snapshot import load_snapshot
from truckee.protocol.actions import (
    AddCDCFile,
    CommitInfo,
    DomainMetadata,
    Metadata,
    Protocol,
    SetTransaction,
    encode_actions,
)
from truckee.protocol.paths import commit_path
from truckee.protocol.predicates import UNKNOWN
from truckee.storage import MemoryStorage


def lines(storage: MemoryStorage, version: int) -> list[dict[str, Any]]:
    return [json.loads(line) for line in storage.read(commit_path(version)).splitlines()]


def info(storage: MemoryStorage, version: int) -> CommitInfo:
    found = read_commit(storage, version).commit_info
    assert found is not None
    return found


def test_first_commit_makes_a_table() -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, None)
    transaction.set_metadata(metadata("id long", partitioned_by=()))
    transaction.stage(add("a"))

    version = transaction.commit("CREATE TABLE AS SELECT")

    snapshot = load_snapshot(storage)
    assert (version, snapshot.version) == (0, 0)
    assert snapshot.protocol == Protocol(min_reader_version=1, min_writer_version=2)
    assert paths(snapshot) == ["a"]


def test_lines_stand_in_the_order_that_spark_uses() -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, None)
    transaction.stage(add("a"), SetTransaction(app_id="app", version=1), metadata())

    transaction.commit("WRITE")

    kinds = [next(iter(line)) for line in lines(storage, 0)]
    assert kinds == ["commitInfo", "metaData", "protocol", "txn", "add"]


def test_commit_info_says_who_wrote_what() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    before_ms = time.time_ns() // 1_000_000
    transaction = Transaction(storage, snapshot)
    transaction.stage(add("a"))

    transaction.commit(
        "WRITE",
        parameters={"mode": "Append", "partitionBy": ["a", "b"], "auto": False, "predicate": None},
        metrics={"numFiles": 1, "numOutputRows": "10"},
        user_metadata="by hand",
    )

    found = lines(storage, 1)[0]["commitInfo"]
    assert before_ms <= found.pop("timestamp") <= time.time_ns() // 1_000_000
    assert len(found.pop("txnId")) == 36
    assert found == {
        "operation": "WRITE",
        "operationParameters": {"mode": "Append", "partitionBy": '["a","b"]', "auto": False},
        "readVersion": 0,
        "isolationLevel": "Serializable",
        "isBlindAppend": True,
        "operationMetrics": {"numFiles": "1", "numOutputRows": "10"},
        "userMetadata": "by hand",
        "engineInfo": engine_info(),
    }
    assert "readVersion" not in lines(storage, 0)[0]["commitInfo"]


def test_commit_with_nothing_staged_leaves_the_table_alone() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    transaction = Transaction(storage, snapshot)
    transaction.read_whole_table()

    assert transaction.commit("DELETE") == 0
    assert load_snapshot(storage).version == 0


def test_commit_with_nothing_staged_can_be_asked_for() -> None:
    storage = MemoryStorage()

    version = Transaction(storage, create_table(storage)).commit("VACUUM START", allow_empty=True)

    assert version == 1
    assert [next(iter(line)) for line in lines(storage, 1)] == ["commitInfo"]


def test_table_without_metadata_is_not_made() -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, None)
    transaction.stage(add("a"))

    with pytest.raises(MissingMetadataError) as raised:
        transaction.commit("WRITE")

    assert raised.value.code == "DELTA_METADATA_ABSENT"
    assert raised.value.sentence() == (
        "the first commit of the table memory://t has no metadata\n"
        "hint: set the table's metadata before the commit"
    )
    assert list(storage.list_tree("")) == []


# Blind appends and isolation levels.


def test_append_that_has_read_something_is_not_blind() -> None:
    storage = MemoryStorage()
    for version, note in enumerate(("predicate", "files", "table", "application"), 1):
        snapshot = load_snapshot(storage) if version > 1 else create_table(storage)
        transaction = Transaction(storage, snapshot)
        match note:
            case "predicate":
                transaction.read_partitions(UNKNOWN)
            case "files":
                transaction.read_files([add("other")])
            case "table":
                transaction.read_whole_table()
            case _:
                transaction.read_app_id("app")
        transaction.stage(add(f"f{version}"))
        transaction.commit("WRITE")

    assert [info(storage, v).is_blind_append for v in (1, 2, 3, 4)] == [False, False, False, True]


def test_commit_that_removes_or_tells_changes_is_not_blind() -> None:
    storage = MemoryStorage()
    old = add("old")
    snapshot = create_table(storage, None, old)
    change = AddCDCFile(path="_change_data/c", partition_values={}, size=5)
    for action in (remove(old), change):
        transaction = Transaction(storage, snapshot)
        transaction.stage(add(f"new-{action.path}"), action)
        transaction.commit("UPDATE")

    assert [info(storage, v).is_blind_append for v in (1, 2)] == [False, False]


def test_caller_who_knows_better_decides_what_is_blind() -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, create_table(storage))
    transaction.stage(add("a"))

    transaction.commit("WRITE", is_blind_append=False)

    assert info(storage, 1).is_blind_append is False


@pytest.mark.parametrize(
    ("actions", "level"),
    [
        ((add("a"),), IsolationLevel.SERIALIZABLE),
        ((add("a", data_change=False),), IsolationLevel.SNAPSHOT_ISOLATION),
        (
            (add("a", data_change=False), remove(add("b"), data_change=False)),
            IsolationLevel.SNAPSHOT_ISOLATION,
        ),
        ((add("a", data_change=False), remove(add("b"))), IsolationLevel.SERIALIZABLE),
        ((add("a", data_change=False), metadata()), IsolationLevel.SERIALIZABLE),
        (
            (
                add("a", data_change=False),
                DomainMetadata(domain="delta.rowTracking", configuration="{}"),
            ),
            IsolationLevel.SNAPSHOT_ISOLATION,
        ),
        (
            (add("a", data_change=False), SetTransaction(app_id="x", version=1)),
            IsolationLevel.SERIALIZABLE,
        ),
        ((), IsolationLevel.SERIALIZABLE),
    ],
)
def test_commit_that_only_rearranges_files_runs_on_its_snapshot(
    actions: tuple[Any, ...], level: IsolationLevel
) -> None:
    assert isolation_level(actions, IsolationLevel.SERIALIZABLE) is level


def test_isolation_level_is_recorded() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage)
    transaction = Transaction(storage, snapshot, isolation=IsolationLevel.WRITE_SERIALIZABLE)
    transaction.stage(add("a"))
    transaction.commit("WRITE")
    compaction = Transaction(storage, load_snapshot(storage))
    compaction.stage(add("b", data_change=False), remove(add("a"), data_change=False))
    compaction.commit("OPTIMIZE")

    assert info(storage, 1).isolation_level == "WriteSerializable"
    assert info(storage, 2).isolation_level == "SnapshotIsolation"


# Applications.


def test_write_that_an_application_has_recorded_is_done_once() -> None:
    storage = MemoryStorage()
    create_table(storage)
    versions = []
    for name, number in (("a", 1), ("a-again", 1), ("older", 0), ("b", 2)):
        transaction = Transaction(storage, load_snapshot(storage))
        is_news = transaction.set_transaction("app", number)
        transaction.stage(add(name))
        versions.append((is_news, transaction.commit("WRITE")))

    assert versions == [(True, 1), (False, 1), (False, 1), (True, 2)]
    snapshot = load_snapshot(storage)
    assert paths(snapshot) == ["a", "b"]
    assert snapshot.set_transactions["app"].version == 2


def test_last_version_of_an_application_can_be_asked_for() -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, create_table(storage))
    transaction.set_transaction("app", 7)
    transaction.commit("STREAMING UPDATE")

    later = Transaction(storage, load_snapshot(storage))

    assert later.read_app_id("app") == 7
    assert later.read_app_id("other") is None


# Protocol.


def test_activating_property_upgrades_the_protocol_in_the_same_commit() -> None:
    storage = MemoryStorage()
    create_table(storage)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.set_metadata(metadata(properties=VECTORS_ON))

    transaction.commit("SET TBLPROPERTIES")

    assert load_snapshot(storage).protocol == Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=("deletionVectors",),
        writer_features=("appendOnly", "deletionVectors", "invariants"),
    )
    assert [next(iter(line)) for line in lines(storage, 1)] == [
        "commitInfo",
        "metaData",
        "protocol",
    ]


def test_requested_features_go_to_the_protocol_and_not_to_the_metadata() -> None:
    storage = MemoryStorage()
    properties = {"delta.feature.domainMetadata": "supported", "delta.minWriterVersion": "7"}

    snapshot = create_table(storage, metadata(properties=properties))

    assert snapshot.metadata.configuration == {}
    assert "domainMetadata" in (snapshot.protocol.writer_features or ())


def test_metadata_that_needs_no_more_leaves_the_protocol_alone() -> None:
    storage = MemoryStorage()
    create_table(storage, metadata(properties=VECTORS_ON))
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.set_metadata(metadata())

    transaction.commit("UNSET TBLPROPERTIES")

    assert [next(iter(line)) for line in lines(storage, 1)] == ["commitInfo", "metaData"]
    assert load_snapshot(storage).protocol.min_writer_version == 7


def test_append_leaves_a_protocol_alone_that_covers_less_than_the_metadata() -> None:
    storage = MemoryStorage()
    protocol = Protocol(min_reader_version=1, min_writer_version=2)
    sloppy = metadata(properties={**VECTORS_ON, "delta.feature.unheardOf": "supported"})
    storage.write(commit_path(0), encode_actions([protocol, sloppy]))

    append(storage, add("a"))

    assert [next(iter(line)) for line in lines(storage, 1)] == ["commitInfo", "add"]


def test_protocol_never_loses_features() -> None:
    storage = MemoryStorage()
    create_table(storage, metadata(properties=VECTORS_ON))
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.set_protocol(Protocol(min_reader_version=1, min_writer_version=2))

    with pytest.raises(ProtocolDowngradeError) as raised:
        transaction.commit("UPGRADE PROTOCOL")

    assert raised.value.code == "DELTA_INVALID_PROTOCOL_DOWNGRADE"
    assert raised.value.sentence() == (
        "the new protocol of the table memory://t would drop [deletionVectors]; a protocol only "
        "ever grows\nhint: keep what the old protocol has, and add to it"
    )


def test_table_with_a_feature_that_is_not_written_is_refused_before_anything_is_written() -> None:
    storage = MemoryStorage()
    protocol = Protocol(min_reader_version=1, min_writer_version=7, writer_features=("flyingCars",))
    storage.write(commit_path(0), encode_actions([protocol, metadata()]))
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(add("a"))

    with pytest.raises(UnsupportedWriterFeaturesError):
        transaction.commit("WRITE")

    assert load_snapshot(storage).version == 0


# In-commit timestamps and row ids.

ICT_ON = {"delta.enableInCommitTimestamps": "true"}


def test_in_commit_timestamps_come_first_and_always_rise() -> None:
    storage = MemoryStorage()
    create_table(storage, metadata(properties=ICT_ON))
    for name in "abc":
        append(storage, add(name))

    stamps = [info(storage, version).in_commit_timestamp for version in range(4)]

    assert all(isinstance(stamp, int) for stamp in stamps)
    assert sorted(set(stamps)) == stamps  # type: ignore[type-var]
    assert next(iter(lines(storage, 1)[0]["commitInfo"])) == "inCommitTimestamp"


def test_clock_that_stands_behind_does_not_turn_timestamps_back() -> None:
    storage = MemoryStorage()
    future_ms = time.time_ns() // 1_000_000 + 10_000_000
    snapshot = create_table(storage, metadata(properties=ICT_ON))
    ahead = CommitInfo(in_commit_timestamp=future_ms, operation="WRITE")
    storage.write(commit_path(1), encode_actions([ahead, add("a")]))

    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(add("b"))
    transaction.commit("WRITE")
    raced = Transaction(storage, snapshot)
    raced.stage(add("c"))
    raced.commit("WRITE")

    assert info(storage, 2).in_commit_timestamp == future_ms + 1
    assert info(storage, 3).in_commit_timestamp == future_ms + 2


def test_table_says_since_when_it_has_in_commit_timestamps() -> None:
    storage = MemoryStorage()
    create_table(storage)
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.set_metadata(metadata(properties=ICT_ON))

    transaction.commit("SET TBLPROPERTIES")

    stamp = info(storage, 1).in_commit_timestamp
    assert load_snapshot(storage).metadata.configuration == {
        **ICT_ON,
        "delta.inCommitTimestampEnablementVersion": "1",
        "delta.inCommitTimestampEnablementTimestamp": str(stamp),
    }


def test_table_that_always_had_in_commit_timestamps_does_not_say_since_when() -> None:
    snapshot = create_table(MemoryStorage(), metadata(properties=ICT_ON))

    assert snapshot.metadata.configuration == ICT_ON


TRACKED = {"delta.enableRowTracking": "true"}


def test_rows_of_new_files_get_ids_one_after_another() -> None:
    storage = MemoryStorage()
    create_table(storage, metadata(properties=TRACKED), add("a", rows=5))
    append(storage, add("b", rows=3), add("c", rows=1))

    snapshot = load_snapshot(storage)

    found = {f.path: (f.base_row_id, f.default_row_commit_version) for f in snapshot.files()}
    assert found == {"a": (0, 0), "b": (5, 1), "c": (8, 1)}
    assert snapshot.domain_metadata["delta.rowTracking"].configuration == (
        '{"rowIdHighWaterMark":8}'
    )


@pytest.mark.parametrize(
    ("properties", "tags"),
    [
        ({}, None),
        (TRACKED, None),
        (
            {
                **TRACKED,
                "delta.rowTracking.materializedRowIdColumnName": "r",
                "delta.rowTracking.materializedRowCommitVersionColumnName": "c",
            },
            {"delta.rowTracking.preserved": "true"},
        ),
    ],
    ids=["off", "no columns for ids", "on"],
)
def test_commits_say_whether_rows_kept_their_ids(
    properties: dict[str, str], tags: dict[str, str] | None
) -> None:
    storage = MemoryStorage()
    create_table(storage, metadata(properties=properties), add("a", rows=5))

    append(storage, add("b", rows=3))

    assert lines(storage, 1)[0]["commitInfo"].get("tags") == tags


def test_file_that_has_row_ids_keeps_them() -> None:
    storage = MemoryStorage()
    snapshot = create_table(
        storage, metadata(properties={**TRACKED, **VECTORS_ON}), add("a", rows=5)
    )
    (old,) = snapshot.files()
    new = replace(
        old,
        deletion_vector=vector("v"),
        stats='{"numRecords":5,"tightBounds":false}',
        data_change=True,
    )
    transaction = Transaction(storage, snapshot)
    transaction.stage(new, remove(old))

    transaction.commit("DELETE")

    (found,) = load_snapshot(storage).files()
    assert (found.base_row_id, found.default_row_commit_version) == (0, 0)
    assert [next(iter(line)) for line in lines(storage, 1)] == ["commitInfo", "add", "remove"]


def test_high_water_mark_that_is_staged_is_never_lowered() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage, metadata(properties=TRACKED), add("a", rows=5))
    for mark, expected in ((99, 100), (3, 101)):
        transaction = Transaction(storage, load_snapshot(storage))
        domain = DomainMetadata(
            domain="delta.rowTracking", configuration=f'{{"rowIdHighWaterMark":{mark}}}'
        )
        transaction.stage(domain, add(f"f{mark}", rows=1))
        transaction.commit("RESTORE")
        found = load_snapshot(storage).domain_metadata["delta.rowTracking"].configuration
        assert found == f'{{"rowIdHighWaterMark":{expected}}}'
    assert snapshot.version == 0


def test_metadata_that_is_staged_is_the_metadata_set() -> None:
    transaction = Transaction(MemoryStorage(), None)
    table = metadata()

    transaction.stage(table)

    assert transaction.metadata is table
    assert isinstance(transaction.metadata, Metadata)
