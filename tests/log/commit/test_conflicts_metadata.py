"""Which changes of metadata a running transaction survives."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from staging import BASIC, add, check, commit, metadata, remove
from truckee.errors.transaction import MetadataChangedException
from truckee.log.commit.conflicts import Candidate, Reads
from truckee.log.commit.metadata_changes import disturbing_changes
from truckee.protocol.actions import Action, Metadata
from truckee.protocol.table_configuration import TableConfiguration

BEFORE = metadata("id long", "s string")


def configured(**properties: str) -> Metadata:
    named = {f"delta.{name.replace('__', '.')}": value for name, value in properties.items()}
    return replace(BEFORE, configuration=named)


def mine(*actions: Action, before: Metadata = BEFORE) -> Candidate:
    return Candidate(reads=Reads(), actions=actions, before=TableConfiguration(before, BASIC))


def test_change_of_the_schema_is_a_conflict() -> None:
    after = metadata("id long", "s string", "more long")

    with pytest.raises(MetadataChangedException) as raised:
        check(mine(), commit(5, after, operation="ADD COLUMNS"))

    assert raised.value.code == "DELTA_METADATA_CHANGED"
    assert raised.value.sentence() == (
        "version 5 (ADD COLUMNS) changed the metadata of the table: the schema\n"
        "hint: read the table again and repeat the operation with the new metadata"
    )


@pytest.mark.parametrize(
    ("after", "changes"),
    [
        (replace(BEFORE, id="other"), ("the id",)),
        (replace(BEFORE, name="n", description="d"), ("the name", "the description")),
        (replace(BEFORE, partition_columns=["s"]), ("the partition columns",)),
        (configured(appendOnly="true"), ("the property 'delta.appendOnly'",)),
        (configured(enableChangeDataFeed="true"), ("the property 'delta.enableChangeDataFeed'",)),
        (configured(columnMapping__mode="id"), ("the property 'delta.columnMapping.mode'",)),
        (metadata("id long not null", "s string"), ("the schema",)),
        (metadata("id long", "t string"), ("the schema",)),
    ],
)
def test_changes_that_void_a_transaction_are_named(
    after: Metadata, changes: tuple[str, ...]
) -> None:
    assert disturbing_changes(BEFORE, after) == changes


@pytest.mark.parametrize(
    "after",
    [
        BEFORE,
        replace(BEFORE, created_time=5),
        configured(enableDeletionVectors="true"),
        configured(enableRowTracking="true", rowTracking__materializedRowIdColumnName="r"),
        configured(checkpointPolicy="v2"),
        configured(
            enableInCommitTimestamps="true",
            inCommitTimestampEnablementVersion="5",
            inCommitTimestampEnablementTimestamp="7",
        ),
        configured(enableDeletionVectors="false"),
    ],
)
def test_abilities_that_are_switched_on_leave_others_untouched(after: Metadata) -> None:
    check(mine(add("m")), commit(5, after))


@pytest.mark.parametrize("name", ["enableDeletionVectors", "enableInCommitTimestamps"])
def test_abilities_that_are_switched_off_do_not(name: str) -> None:
    changes = disturbing_changes(configured(**{name: "true"}), configured(**{name: "false"}))

    assert changes == (f"the property 'delta.{name}'",)


def mapped(physical: str) -> Metadata:
    fields = '"name":"id","type":"long","nullable":true,"metadata":'
    keys = f'{{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"{physical}"}}'
    return replace(
        BEFORE,
        schema_string=BEFORE.schema_string.replace(fields + "{}", fields + keys),
        configuration={
            "delta.columnMapping.mode": "name",
            "delta.columnMapping.maxColumnId": "2",
        },
    )


def test_mapping_columns_to_their_own_names_leaves_others_untouched() -> None:
    check(mine(add("m")), commit(5, mapped("id")))


def test_mapping_columns_to_other_names_does_not() -> None:
    assert disturbing_changes(BEFORE, mapped("col-1")) == ("the schema",)


def test_high_water_marks_of_identity_columns_are_left_out() -> None:
    def at(mark: int) -> Metadata:
        marked = BEFORE.schema_string.replace(
            '"nullable":true,"metadata":{}',
            f'"nullable":true,"metadata":{{"delta.identity.highWaterMark":{mark}}}',
            1,
        )
        return replace(BEFORE, schema_string=marked)

    check(mine(add("m"), before=at(3)), commit(5, at(9)))


def test_metadata_that_both_change_is_a_conflict_even_if_each_is_harmless() -> None:
    with pytest.raises(MetadataChangedException) as raised:
        check(
            mine(configured(checkpointPolicy="v2")),
            commit(5, configured(enableDeletionVectors="true"), operation="SET TBLPROPERTIES"),
        )

    assert raised.value.sentence() == (
        "version 5 (SET TBLPROPERTIES) changed the metadata of the table: this transaction "
        "changes it too\n"
        "hint: read the table again and repeat the operation with the new metadata"
    )


def test_rows_that_have_to_keep_their_ids_cannot_be_moved_without_them() -> None:
    tracked = commit(5, configured(enableRowTracking="true"))

    check(mine(remove(add("old"))), tracked)
    with pytest.raises(MetadataChangedException) as raised:
        check(mine(remove(add("old")), add("new")), tracked)

    assert raised.value.changed == (
        "rows have to keep their ids now, and this transaction moves rows"
    )
