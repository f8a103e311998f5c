"""Commits to tables where another program left values that the next commit continues from."""

from __future__ import annotations

import json
from typing import Any

import pytest

from staging import add, create_table, metadata
from truckee.commands.schema.clustering import clustered_columns
from truckee.commands.schema.column_mapping import with_column_mapping
from truckee.commands.schema.edits import recorded
from truckee.commands.schema.identity_marks import with_identity_marks
from truckee.errors.commit import InvalidStateError, UnreadableCommitError
from truckee.log.commit.transaction import Transaction
from truckee.log.files.history import latest_version
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.actions import DomainMetadata, SetTransaction, encode_actions
from truckee.protocol.column_metadata import identity_number
from truckee.protocol.paths import commit_path
from truckee.protocol.schema import PrimitiveType, StructField, StructType
from truckee.storage.base import Storage
from truckee.storage.memory import MemoryStorage

ROW_TRACKING = metadata(
    properties={
        "delta.enableRowTracking": "true",
        "delta.rowTracking.materializedRowIdColumnName": "r",
        "delta.rowTracking.materializedRowCommitVersionColumnName": "c",
    }
)
LAST_ID = 2**63 - 1


def marked(configuration: str) -> DomainMetadata:
    return DomainMetadata(domain="delta.rowTracking", configuration=configuration)


def tracked_table(configuration: str) -> Storage:
    storage = MemoryStorage()
    create_table(storage, ROW_TRACKING)
    storage.write(commit_path(1), encode_actions([marked(configuration)]))
    return storage


def append(storage: Storage, snapshot: Snapshot, rows: int = 10) -> int:
    transaction = Transaction(storage, snapshot)
    transaction.stage(add("new", rows=rows))
    return transaction.commit("WRITE")


# Invariant 63.
@pytest.mark.parametrize(
    ("configuration", "says"),
    [
        ('{"rowIdHighWaterMark":-100}', "rowIdHighWaterMark of the table, which is -100 and"),
        ('{"rowIdHighWaterMark":"7"}', 'rowIdHighWaterMark of the table, which is "7" and'),
        ('{"rowIdHighWaterMark":7.5}', "rowIdHighWaterMark of the table, which is 7.5 and"),
        ('{"rowIdHighWaterMark":true}', "rowIdHighWaterMark of the table, which is true and"),
        ("{}", "rowIdHighWaterMark of the table, which is null and"),
        (f'{{"rowIdHighWaterMark":{2**64}}}', f"of the table, which is {2**64} and"),
        ("{", "the domain delta.rowTracking of the table, which is { and must be a JSON object"),
        ("[]", "the domain delta.rowTracking of the table, which is [] and must be a JSON object"),
        ("5", "the domain delta.rowTracking of the table, which is 5 and must be a JSON object"),
    ],
)
def test_a_mark_of_row_ids_that_is_no_number_of_one_is_refused_before_the_commit(
    configuration: str, says: str
) -> None:
    storage = tracked_table(configuration)

    with pytest.raises(InvalidStateError, match="nothing was committed") as raised:
        append(storage, load_snapshot(storage))

    assert says in str(raised.value)
    assert latest_version(storage) == 1


def test_row_ids_end_with_the_last_number_of_a_long() -> None:
    storage = tracked_table(f'{{"rowIdHighWaterMark":{LAST_ID - 10}}}')

    append(storage, load_snapshot(storage))
    with pytest.raises(InvalidStateError) as raised:
        append(storage, load_snapshot(storage), rows=1)

    assert raised.value.sentence().splitlines()[0] == (
        "the next commit depends on rowIdHighWaterMark of the table, which is 9223372036854775807 "
        "and must be at most 9223372036854775806, to leave ids for 1 rows; nothing was committed"
    )
    assert load_snapshot(storage).version == 2
    assert [file.base_row_id for file in load_snapshot(storage).files()] == [LAST_ID - 9]


def test_a_file_with_a_negative_number_of_rows_gets_no_ids() -> None:
    storage = tracked_table('{"rowIdHighWaterMark":7}')

    with pytest.raises(InvalidStateError, match="numRecords of the file 'new'"):
        append(storage, load_snapshot(storage), rows=-5)

    assert latest_version(storage) == 1


def test_a_mark_that_a_winner_of_the_race_wrote_is_checked_too() -> None:
    storage = MemoryStorage()
    snapshot = create_table(storage, ROW_TRACKING)
    storage.write(commit_path(1), encode_actions([marked('{"rowIdHighWaterMark":"x"}')]))

    with pytest.raises(InvalidStateError):
        append(storage, snapshot)

    assert latest_version(storage) == 1


def test_no_commit_has_an_in_commit_timestamp_that_cannot_be_read() -> None:
    storage = MemoryStorage()
    table = metadata(properties={"delta.enableInCommitTimestamps": "true"})
    create_table(storage, table)
    first = storage.read(commit_path(0)).decode().splitlines()
    info = json.loads(first[0])
    info["commitInfo"]["inCommitTimestamp"] = 253_402_300_799_999
    storage.write(commit_path(1), json.dumps(info).encode())

    with pytest.raises(UnreadableCommitError, match="nothing was committed"):
        append(storage, load_snapshot(storage))

    assert load_snapshot(storage).version == 1


def test_no_commit_has_a_transaction_version_that_cannot_be_read() -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, create_table(storage))
    transaction.stage(SetTransaction(app_id="a", version=2**63))

    with pytest.raises(UnreadableCommitError):
        transaction.commit("WRITE")

    assert latest_version(storage) == 0


def column(**fields: Any) -> StructField:
    renamed = {f"delta.{key.replace('_', '.', 1)}": value for key, value in fields.items()}
    return StructField("id", PrimitiveType("long"), metadata=renamed)


@pytest.mark.parametrize("last", ["-1", str(2**31 - 1), str(2**80)])
def test_ids_of_columns_have_32_bits(last: str) -> None:
    mapped = {"delta.columnMapping.mode": "name", "delta.columnMapping.maxColumnId": last}

    with pytest.raises(InvalidStateError, match=r"delta\.columnMapping\.maxColumnId"):
        with_column_mapping(metadata("id long", properties=mapped))


@pytest.mark.parametrize("found", [-1, True, 2**31])
def test_a_column_with_a_wrong_id_gets_no_other(found: object) -> None:
    table = metadata(properties={"delta.columnMapping.mode": "name"})
    schema = StructType((column(columnMapping_id=found),)).to_json()
    table = type(table)(id=table.id, schema_string=schema, configuration=table.configuration)

    with pytest.raises(InvalidStateError, match=r"delta\.columnMapping\.id"):
        with_column_mapping(table)


@pytest.mark.parametrize("found", ["5", 1.5, True, 2**63, -(2**63) - 1, [], {}])
def test_the_marks_of_identity_columns_are_longs(found: object) -> None:
    field = column(identity_start=1, identity_step=1, identity_highWaterMark=found)
    table = metadata()
    table = type(table)(id=table.id, schema_string=StructType((field,)).to_json())

    with pytest.raises(InvalidStateError, match="highWaterMark of the column id"):
        with_identity_marks(table, {"id": 8})


def test_the_step_of_an_identity_column_is_not_0() -> None:
    with pytest.raises(InvalidStateError, match=r"delta\.identity\.step of the column id"):
        identity_number("id", {"delta.identity.step": 0}, "delta.identity.step")


def test_type_changes_are_a_list_to_which_another_is_added() -> None:
    with pytest.raises(InvalidStateError, match=r"delta\.typeChanges of the column id"):
        recorded(
            StructField("id", PrimitiveType("integer"), metadata={"delta.typeChanges": 5}),
            PrimitiveType("long"),
        )


@pytest.mark.parametrize("found", ["{", "[]", "5", '{"clusteringColumns":5}'])
def test_clustering_columns_are_lists_of_names(found: str) -> None:
    with pytest.raises(InvalidStateError):
        clustered_columns(DomainMetadata(domain="delta.clustering", configuration=found))
