"""What may not be committed, whoever else is writing; nothing is written then."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from msgspec.structs import replace

from staging import VECTORS_ON, add, create_table, metadata, remove, vector
from truckee.errors.commit import InvalidCommitError
from truckee.log.commit.transaction import Transaction
from truckee.log.snapshot import load_snapshot
from truckee.protocol.actions import Action, AddCDCFile, DomainMetadata, Metadata
from truckee.storage import MemoryStorage

FEED_ON = {"delta.enableChangeDataFeed": "true"}


def refused(
    *actions: Action,
    operation: str = "WRITE",
    table: Metadata | None = None,
    change_to: Metadata | None = None,
) -> tuple[str, str]:
    """Return the code and the message with which a commit to a new table is refused."""
    storage = MemoryStorage()
    transaction = Transaction(storage, create_table(storage, table))
    if change_to is not None:
        transaction.set_metadata(change_to)
    transaction.stage(*actions)
    with pytest.raises(InvalidCommitError) as raised:
        transaction.commit(operation)
    assert load_snapshot(storage).version == 0
    return raised.value.code, raised.value.sentence()


def accepted(*actions: Action, operation: str = "WRITE", table: Metadata | None = None) -> None:
    storage = MemoryStorage()
    transaction = Transaction(storage, create_table(storage, table))
    transaction.stage(*actions)
    assert transaction.commit(operation) == 1


BY_DAY = metadata("id long", "day date", partitioned_by=("day",))


@pytest.mark.parametrize(
    ("values", "found"), [({}, ""), ({"id": "1"}, "id"), ({"day": None, "id": "1"}, "day, id")]
)
def test_file_needs_a_value_for_each_partition_column_and_no_other(
    values: Mapping[str, str | None], found: str
) -> None:
    assert refused(add("a", partition=values), table=BY_DAY) == (
        "DELTA_INVALID_PARTITIONING_SCHEMA",
        f"the file 'a' has values for the partition columns [{found}], but the table memory://t "
        "is partitioned by [day]\n"
        "hint: give each file one value for every partition column, under its physical name",
    )


def test_change_file_needs_partition_values_too() -> None:
    change = AddCDCFile(path="c", partition_values={}, size=1)

    code, _ = refused(add("a", partition={"day": None}), change, table=BY_DAY)

    assert code == "DELTA_INVALID_PARTITIONING_SCHEMA"


def test_partition_values_go_by_physical_names() -> None:
    schema = BY_DAY.schema_string.replace(
        '"name":"day","type":"date","nullable":true,"metadata":{}',
        '"name":"day","type":"date","nullable":true,"metadata":'
        '{"delta.columnMapping.id":2,"delta.columnMapping.physicalName":"col-7"}',
    )
    mapped = replace(
        BY_DAY, schema_string=schema, configuration={"delta.columnMapping.mode": "name"}
    )

    accepted(add("a", partition={"col-7": None}), table=mapped)
    _, message = refused(add("a", partition={"day": None}), table=mapped)

    assert "partition columns [day], but the table memory://t is partitioned by [col-7]" in message


def test_append_only_table_loses_no_rows() -> None:
    table = metadata(properties={"delta.appendOnly": "true"})

    assert refused(remove(add("a")), operation="DELETE", table=table) == (
        "DELTA_CANNOT_MODIFY_APPEND_ONLY",
        "DELETE would remove the file 'a', but the table memory://t is append-only\n"
        "hint: set the table property 'delta.appendOnly' to 'false' to allow it",
    )
    accepted(
        add("b", data_change=False),
        remove(add("a"), data_change=False),
        operation="OPTIMIZE",
        table=table,
    )


def test_append_only_cannot_be_lifted_by_the_commit_that_removes() -> None:
    table = metadata(properties={"delta.appendOnly": "true"})

    code, _ = refused(remove(add("a")), table=table, change_to=metadata())

    assert code == "DELTA_CANNOT_MODIFY_APPEND_ONLY"


@pytest.mark.parametrize(
    ("actions", "kind"),
    [
        ((add("a"), add("a")), "two adds"),
        ((add("a%20b"), add("a b")), "two adds"),
        ((remove(add("a")), remove(add("a"))), "two removes"),
        ((remove(add("a")), add("a")), "an add and a remove with the same deletion vector"),
    ],
)
def test_path_is_added_and_removed_once_at_most(actions: tuple[Action, ...], kind: str) -> None:
    path = getattr(actions[1], "path")  # noqa: B009

    assert refused(*actions) == (
        "DELTA_DUPLICATE_ACTIONS_FOUND",
        f"the commit has {kind} for the file '{path}'; the table memory://t allows at most one "
        "add and one remove of a path, and both only with different deletion vectors\n"
        "hint: stage each file once",
    )


def test_domain_is_written_once_at_most() -> None:
    domain = DomainMetadata(domain="d", configuration="{}")
    table = metadata(properties={"delta.feature.domainMetadata": "supported"})

    assert refused(domain, domain, table=table) == (
        "DELTA_DUPLICATE_DOMAIN_METADATA_INTERNAL_ERROR",
        "the commit writes the metadata domain 'd' of the table memory://t twice\n"
        "hint: stage each domain once",
    )
    accepted(domain, table=table)


def test_domain_needs_its_feature() -> None:
    assert refused(DomainMetadata(domain="d", configuration="{}")) == (
        "DELTA_DOMAIN_METADATA_NOT_SUPPORTED",
        "the commit writes the metadata domain 'd', but the protocol of the table memory://t does "
        "not have the feature domainMetadata\n"
        "hint: set the table property 'delta.feature.domainMetadata' to 'supported' first",
    )


# Deletion vectors.

WITH_VECTORS = metadata(properties=VECTORS_ON)


def swap(**new: object) -> tuple[Action, ...]:
    return add("a", vector=vector("v"), **new), remove(add("a"))  # type: ignore[arg-type]


def test_vector_is_attached_with_wide_bounds() -> None:
    accepted(*swap(), operation="DELETE", table=WITH_VECTORS)


def test_vector_needs_the_number_of_rows() -> None:
    assert refused(*swap(rows=None), operation="DELETE", table=WITH_VECTORS) == (
        "DELTA_DELETION_VECTOR_MISSING_NUM_RECORDS",
        "the file 'a' of the table memory://t has a deletion vector, but its statistics have no "
        "numRecords\nhint: take the number of rows from the footer of the Parquet file",
    )


def test_vector_needs_bounds_that_say_they_are_wide() -> None:
    absent = replace(add("a", vector=vector("v")), stats='{"numRecords":10}')

    for actions in (swap(tight=True), (absent, remove(add("a")))):
        assert refused(*actions, operation="DELETE", table=WITH_VECTORS) == (
            "DELTA_ADDING_DELETION_VECTORS_WITH_TIGHT_BOUNDS_DISALLOWED",
            "the file 'a' of the table memory://t gets a deletion vector, but its statistics do "
            "not say that their bounds are wide\n"
            "hint: write the statistics with tightBounds false",
        )


@pytest.mark.parametrize("operation", ["RESTORE", "CLONE", "COMPUTE STATS"])
def test_file_that_is_carried_over_keeps_its_bounds(operation: str) -> None:
    accepted(*swap(tight=True), operation=operation, table=WITH_VECTORS)


def test_vector_needs_a_table_that_takes_vectors() -> None:
    had_them = metadata(properties={"delta.feature.deletionVectors": "supported"})

    for table in (metadata(), had_them):
        assert refused(*swap(), operation="DELETE", table=table) == (
            "DELTA_ADDING_DELETION_VECTORS_DISALLOWED",
            "the file 'a' has a deletion vector, but the table memory://t does not enable them\n"
            "hint: set the table property 'delta.enableDeletionVectors' to 'true', or rewrite "
            "the file without the deleted rows",
        )
    accepted(*swap(), operation="COMPUTE STATS", table=had_them)


# The change data feed.


def test_feed_is_not_switched_on_beside_columns_of_its_names() -> None:
    columns = ("id long", "_change_type string", "_commit_version long")

    assert refused(table=metadata(*columns), change_to=metadata(*columns, properties=FEED_ON)) == (
        "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS",
        "the change data feed cannot be switched on for the table memory://t, because it has the "
        "columns [_change_type, _commit_version], whose names the feed needs\n"
        "hint: rename these columns first",
    )


def test_columns_of_the_feeds_names_do_not_come_to_a_table_with_a_feed() -> None:
    after = metadata("id long", "_commit_timestamp timestamp", properties=FEED_ON)

    assert refused(table=metadata(properties=FEED_ON), change_to=after) == (
        "RESERVED_CDC_COLUMNS_ON_WRITE",
        "the columns [_commit_timestamp] cannot be written to the table memory://t, because its "
        "change data feed is on and needs these names\n"
        "hint: rename these columns, or set the table property 'delta.enableChangeDataFeed' to "
        "'false'",
    )


def test_columns_of_the_feeds_names_are_ordinary_while_it_is_off() -> None:
    snapshot = create_table(MemoryStorage(), metadata("_change_type string"))

    assert snapshot.schema.names == ("_change_type",)


def test_new_table_with_a_feed_has_no_columns_of_its_names() -> None:
    transaction = Transaction(MemoryStorage(), None)
    transaction.set_metadata(metadata("_change_type string", properties=FEED_ON))

    with pytest.raises(InvalidCommitError) as raised:
        transaction.commit("CREATE TABLE")

    assert raised.value.code == "DELTA_TABLE_ALREADY_CONTAINS_CDC_COLUMNS"


def test_change_files_need_data_that_changed() -> None:
    changes = [AddCDCFile(path=path, partition_values={}, size=1) for path in ("c", "d")]

    assert refused(add("b", data_change=False), *changes, operation="OPTIMIZE") == (
        "DELTA_UNEXPECTED_CHANGE_FILES_FOUND",
        "the commit to the table memory://t changes no data (dataChange is false), but has the "
        "change files [c, d]\n"
        "hint: leave out the change files, or mark the data files as changed",
    )


def mapped(name: str, mode: str = "name") -> Metadata:
    column = f'"name":"{name}","type":"long","nullable":true,"metadata":'
    keys = '{"delta.columnMapping.id":1,"delta.columnMapping.physicalName":"id"}'
    plain = metadata(f"{name} long", properties={**FEED_ON, "delta.columnMapping.mode": mode})
    return replace(plain, schema_string=plain.schema_string.replace(column + "{}", column + keys))


@pytest.mark.parametrize(
    ("table", "after"),
    [
        (metadata(properties=FEED_ON), mapped("id")),
        (mapped("id"), mapped("key")),
    ],
    ids=["mapped", "renamed"],
)
def test_columns_are_not_mapped_anew_by_a_commit_with_files(
    table: Metadata, after: Metadata
) -> None:
    assert refused(add("a"), table=table, change_to=after) == (
        "DELTA_BLOCK_COLUMN_MAPPING_AND_CDC_OPERATION",
        "WRITE would map, drop or rename columns of the table memory://t and write files in one "
        "commit, which its change data feed cannot tell apart\n"
        "hint: change the columns in a commit of their own",
    )


# Row ids.


def test_row_ids_need_the_number_of_rows() -> None:
    table = metadata(properties={"delta.enableRowTracking": "true"})

    assert refused(add("a", rows=None), table=table) == (
        "DELTA_ROW_ID_ASSIGNMENT_WITHOUT_STATS",
        "the rows of the file 'a' need ids in the table memory://t, but its statistics have no "
        "numRecords\nhint: take the number of rows from the footer of the Parquet file",
    )
