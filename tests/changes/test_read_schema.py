from __future__ import annotations

import pytest

from changes.tables import Table, add, mapped, metadata, remove
from staging import plan_changes
from truckee.changes.plan import ChangePlan, open_feed
from truckee.changes.read_schema import ReadSchema, incompatibility
from truckee.errors.changes import IncompatibleDataSchemaError, IncompatibleSchemaChangeError
from truckee.options.feed import Bound, FeedOptions, SchemaMode
from truckee.protocol.actions import Metadata, Protocol
from truckee.protocol.schema import type_text
from truckee.protocol.table_configuration import TableConfiguration
from truckee.storage.base import Storage

ID = mapped("id", "long", 1)
VALUE = mapped("value", "string", 2)
RENAMED = mapped("v", "string", 2)


def planned(
    storage: Storage,
    start: int,
    end: int | None = None,
    *,
    mode: SchemaMode = SchemaMode.END_VERSION,
    unsafe_schema: bool = False,
    schema_as_of: int | None = None,
) -> ChangePlan:
    options = FeedOptions(
        start=Bound(version=start),
        end=None if end is None else Bound(version=end),
        schema_mode=mode,
        unsafe_schema=unsafe_schema,
        schema_as_of=None if schema_as_of is None else Bound(version=schema_as_of),
    )
    return plan_changes(storage, options)


def renamed_table() -> Storage:
    """The spec's example: (id, value) at 0, an insert, value becomes v at 2, an insert."""
    table = Table.created(ID, VALUE, mapping="name").commit(add("a"))
    return table.commit(metadata(ID, RENAMED, mapping="name")).commit(add("b")).storage


def test_without_column_mapping_the_latest_schema_is_used() -> None:
    table = Table.created("id long").commit(add("a")).commit(metadata("id long", "x string"))

    plan = planned(table.storage, 0, 1)

    assert type_text(plan.schema) == "struct<id:bigint,x:string>"
    assert plan.read.version == 2


def test_with_column_mapping_the_schema_at_the_end_is_used() -> None:
    storage = renamed_table()

    assert type_text(planned(storage, 0, 0).schema) == "struct<id:bigint,value:string>"
    assert type_text(planned(storage, 0, 1).schema) == "struct<id:bigint,value:string>"
    assert type_text(planned(storage, 2, 3).schema) == "struct<id:bigint,v:string>"
    assert planned(storage, 0, 1).configuration.column_mapping_mode == "name"


def test_a_rename_within_the_range_is_refused_at_its_start() -> None:
    with pytest.raises(IncompatibleDataSchemaError) as raised:
        planned(renamed_table(), 0, 3)

    assert raised.value.sentence() == (
        "the change feed 0..3 cannot be read with the schema of version 3, "
        "struct<id:bigint,v:string>: the data of version 0 has another schema, "
        "column value has another name\n"
        "hint: set the option schemaMode to follow (on the command line: --schema follow), "
        "which reads each commit by its own schema; or read 0..1 and 2..3, each by itself"
    )
    assert raised.value.code == "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_DATA_SCHEMA"


# Invariant 29.
def test_the_ranges_that_the_error_names_can_all_be_read() -> None:
    table = Table.created(ID, VALUE, mapping="name").commit(metadata(ID, VALUE, mapping="name"))
    table.commit(metadata(ID, RENAMED, mapping="name")).commit(add("a"))
    table.commit(metadata(ID, VALUE, mapping="name")).commit(add("b"))

    with pytest.raises((IncompatibleSchemaChangeError, IncompatibleDataSchemaError)) as raised:
        planned(table.storage, 0, 3)
    with pytest.raises((IncompatibleSchemaChangeError, IncompatibleDataSchemaError)) as again:
        planned(table.storage, 1, 5)

    assert raised.value.ranges == ((0, 1), (2, 3))
    assert again.value.ranges == ((1, 1), (2, 3), (4, 5))
    for start, end in (*raised.value.ranges, *again.value.ranges):
        assert planned(table.storage, start, end).end == end


@pytest.mark.parametrize("mode", [SchemaMode.LATEST, SchemaMode.LEGACY])
def test_other_modes_take_the_latest_schema_for_mapped_tables_too(mode: SchemaMode) -> None:
    with pytest.raises(IncompatibleDataSchemaError):
        planned(renamed_table(), 0, 1, mode=mode)

    assert type_text(planned(renamed_table(), 2, 2, mode=mode).schema) == (
        "struct<id:bigint,v:string>"
    )


def test_mapping_switched_on_after_the_range_still_makes_its_end_decide() -> None:
    table = Table.created("id long", "value string").commit(add("a"))
    table.commit(metadata(mapped("id", "long", 1, "id"), mapped("v", "string", 2, "value"),
                          mapping="name"))  # fmt: skip

    plan = planned(table.storage, 0, 1)

    assert type_text(plan.schema) == "struct<id:bigint,value:string>"
    assert plan.configuration.column_mapping_mode == "none"


def test_columns_that_became_not_null_after_the_range_may_be_null_in_it() -> None:
    table = Table.created("id long", "x string").commit(add("a"))
    table.commit(metadata("id long", "x string not null"))

    plan = planned(table.storage, 0, 1)

    assert [field.nullable for field in plan.schema.fields] == [True, True]
    with pytest.raises(IncompatibleDataSchemaError):
        planned(table.storage, 0, 2)


def test_columns_that_were_always_not_null_stay_so() -> None:
    table = Table.created("id long not null").commit(add("a")).commit(add("b"))

    plan = planned(table.storage, 0, 1)

    assert [field.nullable for field in plan.schema.fields] == [False]


def test_a_schema_can_be_taken_from_a_chosen_version() -> None:
    table = Table.created("id long").commit(metadata("id long", "x string")).commit(add("a"))

    plan = planned(table.storage, 0, schema_as_of=0)

    assert type_text(plan.schema) == "struct<id:bigint>"


def test_a_dropped_column_within_the_range_is_refused_where_it_was_dropped() -> None:
    table = Table.created("id long", "x string").commit(add("a"))
    feed = open_feed(table.storage, FeedOptions(start=Bound(version=0)))
    table.commit(metadata("id long"))

    with pytest.raises(IncompatibleSchemaChangeError) as raised:
        feed.plan()

    assert raised.value.sentence() == (
        "the change feed 0..2 cannot be read with the schema of version 1, "
        "struct<id:bigint,x:string>: version 2 changed the schema incompatibly, "
        "it is struct<id:bigint>\n"
        "hint: set the option schemaMode to follow (on the command line: --schema follow), "
        "which reads each commit by its own schema; or read 2..2; for older versions, "
        "name a version whose schema fits with versionAsOf, and set "
        "changeDataFeed.allowTimeTravelOptionsForSchema to true"
    )
    assert raised.value.code == "DELTA_CHANGE_DATA_FEED_INCOMPATIBLE_SCHEMA_CHANGE"


def test_metadata_at_the_start_is_compared_last() -> None:
    table = Table.created("id long", "x string").commit(add("a"))
    table.commit(metadata("id long", "x long")).commit(metadata("id long", "x string"))

    with pytest.raises(IncompatibleSchemaChangeError):
        planned(table.storage, 0)
    with pytest.raises(IncompatibleDataSchemaError):
        planned(table.storage, 2)


def test_the_check_of_schemas_can_be_switched_off() -> None:
    table = Table.created("id long", "x string").commit(add("a"), remove("b"))
    table.commit(metadata("id long"))

    plan = planned(table.storage, 0, unsafe_schema=True)

    assert type_text(plan.schema) == "struct<id:bigint>"
    assert len(plan.files) == 2


OLD, NEW = 0, 9
NULL_OK = metadata("id long", "x string")
NOT_NULL = metadata("id long", "x string not null")


@pytest.mark.parametrize(
    ("read", "data", "version", "reason"),
    [
        (metadata("id long"), metadata("id long"), OLD, None),
        (metadata("id long", "x string"), metadata("id long"), OLD, None),
        (metadata("id long"), metadata("id long", "x string"), NEW, None),
        (metadata("id long"), metadata("id long", "x string"), OLD,
         "it is struct<id:bigint,x:string>"),
        (metadata("id long", "x string"), metadata("id long"), NEW, "it is struct<id:bigint>"),
        (metadata("id long"), metadata("ID long"), OLD, "it is struct<ID:bigint>"),
        (metadata("id long"), metadata("id integer"), OLD, "it is struct<id:int>"),
        (metadata("id integer"), metadata("id long"), NEW, "it is struct<id:bigint>"),
        (metadata("id long"), metadata("id void"), OLD, None),
        (NULL_OK, NOT_NULL, OLD, None),
        (NULL_OK, NOT_NULL, NEW, None),
        (NOT_NULL, NULL_OK, OLD, "in which columns may be null that are NOT NULL here"),
        (NOT_NULL, NULL_OK, NEW, "in which columns may be null that are NOT NULL here"),
        (metadata("a long", "b long", partition_by=("a",)),
         metadata("a long", "b long", partition_by=("b",)), OLD, None),
        (metadata(ID, VALUE, mapping="name"), metadata(ID, RENAMED, mapping="name"), NEW,
         "column value has another name"),
        (metadata(ID, mapping="name"), metadata(ID, VALUE, mapping="name"), OLD,
         "column value is not in both"),
        (metadata(ID, VALUE, mapping="name", partition_by=("id",)),
         metadata(ID, VALUE, mapping="name", partition_by=("value",)), OLD,
         "its partitioning by value is another"),
        (metadata(mapped("id", "long", 1, "id"), mapping="name"), metadata("id long"), OLD, None),
        (metadata("id long"), metadata(mapped("id", "long", 1, "id"), mapping="name"), OLD,
         "column mapping is on in one of them only"),
    ],
)  # fmt: skip
def test_what_one_schema_can_read_of_another(
    read: Metadata, data: Metadata, version: int, reason: str | None
) -> None:
    assert incompatibility(at(5, read), at(version, data)) == reason


def test_partition_fields_are_found_in_any_case() -> None:
    read = at(0, metadata("Day string", "id long", partition_by=("day",)))

    assert [field.name for field in read.configuration.partition_fields] == ["Day"]


def at(version: int, found: Metadata) -> ReadSchema:
    protocol = Protocol(min_reader_version=1, min_writer_version=2)
    return ReadSchema(version, TableConfiguration(found, protocol))
