"""Properties, constraints, columns and features of tables that exist."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee.commands.ddl.alter_columns import (
    ColumnChange,
    NewColumn,
    add_columns,
    change_columns,
    drop_columns,
    rename_column,
)
from truckee.commands.ddl.alter_constraints import add_constraint, drop_constraint
from truckee.commands.ddl.alter_properties import set_properties, unset_properties
from truckee.commands.ddl.alter_protocol import add_feature, drop_unused_feature, upgrade_protocol
from truckee.errors.commands.alter import (
    ColumnChangeError,
    ColumnMappingModeChangeError,
    ColumnMappingRequiredError,
    ConstraintAlreadyViolatedError,
    ConstraintExistsError,
    ConstraintNotBooleanError,
    ConstraintNotFoundError,
    ConstraintPropertyError,
    DependentColumnError,
    DropNeedsColumnMappingError,
    PartitionColumnDropError,
    PropertyNotFoundError,
)
from truckee.errors.commands.drop_feature import (
    FeatureDropError,
)
from truckee.errors.commands.write_rows import CheckConstraintViolationError
from truckee.errors.commit import TableContainsChangeColumnsError
from truckee.errors.protocol import ColumnDefaultsNotEnabledError, UnknownFeatureRequestError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.protocol.schema import type_text
from truckee.spark.read.frames import snapshot_frame
from truckee.storage import LocalStorage
from truckee.writer import write
from writing import actions, commit_info, last_version, rust_rows


@pytest.fixture
def table(spark: SparkSession, tmp_path: Path) -> LocalStorage:
    rows = spark.sql("select 1L as id, struct(2L as x, 'y' as y) as s, 'v' as p")
    write(rows).partitionBy("p").save(str(tmp_path))
    return LocalStorage(str(tmp_path))


@pytest.fixture
def mapped(table: LocalStorage) -> LocalStorage:
    set_properties(table, {"delta.columnMapping.mode": "name"})
    return table


def latest(storage: LocalStorage) -> Snapshot:
    return load_snapshot(storage)


def rows(spark: SparkSession, storage: LocalStorage) -> list[dict[str, object]]:
    found = snapshot_frame(spark, latest(storage)).collect()
    return [row.asDict(recursive=True) for row in found]


def test_properties_are_set_and_unset(table: LocalStorage) -> None:
    set_properties(table, {"delta.APPENDonly": "true", "owner": "me", "comment": "mine"})
    assert latest(table).metadata.configuration == {"delta.appendOnly": "true", "owner": "me"}
    assert latest(table).metadata.description == "mine"
    assert commit_info(table.root, 1)["operation"] == "SET TBLPROPERTIES"
    assert commit_info(table.root, 1)["operationParameters"] == {
        "properties": '{"delta.APPENDonly":"true","owner":"me","comment":"mine"}'
    }

    unset_properties(table, ["owner", "nope"])
    assert latest(table).metadata.configuration == {"delta.appendOnly": "true"}
    assert commit_info(table.root, 2)["operationParameters"] == {
        "properties": '["owner","nope"]',
        "ifExists": True,
    }
    with pytest.raises(PropertyNotFoundError) as caught:
        unset_properties(table, ["owner"], if_exists=False)
    assert caught.value.sentence() == (
        f"the table {table.root} has no property owner\n"
        "hint: pass ifExists to unset it only if it is set"
    )


def test_a_property_that_needs_a_feature_raises_the_protocol(table: LocalStorage) -> None:
    set_properties(table, {"delta.enableDeletionVectors": "true"})

    (protocol,) = actions(table.root, 1, "protocol")
    assert protocol["readerFeatures"] == ["deletionVectors"]
    assert set(protocol["writerFeatures"]) == {"appendOnly", "invariants", "deletionVectors"}


def test_the_feed_is_not_switched_on_beside_columns_of_its_names(
    spark: SparkSession, tmp_path: Path
) -> None:
    write(spark.sql("select 1 as id, 'x' as _change_type")).save(str(tmp_path))

    with pytest.raises(TableContainsChangeColumnsError):
        set_properties(LocalStorage(str(tmp_path)), {"delta.enableChangeDataFeed": "true"})


def test_constraints_are_no_properties(table: LocalStorage) -> None:
    with pytest.raises(ConstraintPropertyError) as caught:
        set_properties(table, {"delta.constraints.c": "id > 0"})

    assert caught.value.sentence() == (
        "delta.constraints.c is a constraint, which cannot be set or unset as a property\n"
        "hint: use addConstraint and dropConstraint, which check the rows"
    )


def test_column_mapping_goes_from_none_to_name_only(
    spark: SparkSession, table: LocalStorage
) -> None:
    with pytest.raises(ColumnMappingModeChangeError):
        set_properties(table, {"delta.columnMapping.mode": "id"})

    set_properties(table, {"delta.columnMapping.mode": "name"})
    assert [field.physical_name for field in latest(table).schema.fields] == ["id", "s", "p"]
    assert latest(table).properties.max_column_id == 5
    assert rows(spark, table) == rust_rows(table.root)

    with pytest.raises(ColumnMappingModeChangeError) as caught:
        unset_properties(table, ["delta.columnMapping.mode"])
    assert caught.value.sentence() == (
        "the column mapping mode is name and cannot become none\n"
        "hint: a table can go from none to name, and back if its files may be rewritten "
        "(spark.databricks.delta.columnMapping.allowRemoval); mode id is chosen when a table is "
        "created"
    )


def test_a_constraint_is_kept_from_then_on(spark: SparkSession, table: LocalStorage) -> None:
    add_constraint(spark, table, "Positive", "ID > 0")

    assert commit_info(table.root, 1)["operation"] == "ADD CONSTRAINT"
    assert commit_info(table.root, 1)["operationParameters"] == {
        "name": "Positive",
        "expr": "ID > 0",
    }
    with pytest.raises(CheckConstraintViolationError):
        write(spark.sql("select 0L as id, 'v' as p")).mode("append").save(table.root)
    with pytest.raises(ConstraintExistsError) as caught:
        add_constraint(spark, table, "POSITIVE", "id > 1")
    assert caught.value.sentence() == (
        "constraint POSITIVE already exists: ID > 0\nhint: drop it first, or choose another name"
    )

    drop_constraint(table, "positive")
    assert latest(table).properties.constraints == {}
    assert commit_info(table.root, 2)["operationParameters"] == {
        "name": "positive",
        "expr": "ID > 0",
        "existed": "true",
    }
    with pytest.raises(ConstraintNotFoundError):
        drop_constraint(table, "positive")
    assert drop_constraint(table, "positive", if_exists=True) == 3


def test_rows_must_keep_a_new_constraint(spark: SparkSession, table: LocalStorage) -> None:
    with pytest.raises(ConstraintAlreadyViolatedError) as caught:
        add_constraint(spark, table, "big", "id > 10")

    assert caught.value.sentence() == (
        "constraint big (id > 10) does not hold for 1 existing row of the table\n"
        "hint: delete or update what violates it first; null does not satisfy it either"
    )
    assert last_version(table.root) == 0


@pytest.mark.parametrize(
    ("sql", "reason"),
    [
        ("id + 1", "it gives bigint"),
        ("rand() > 0.5", "its result is not the same each time"),
    ],
)
def test_a_constraint_is_a_condition_on_one_row(
    spark: SparkSession, table: LocalStorage, sql: str, reason: str
) -> None:
    with pytest.raises(ConstraintNotBooleanError) as caught:
        add_constraint(spark, table, "c", sql)

    assert caught.value.sentence() == (
        f"constraint c ({sql}) is not a condition on a row: {reason}\n"
        "hint: compare columns of the table, so that the result is boolean"
    )


def test_columns_are_added(spark: SparkSession, table: LocalStorage) -> None:
    add_columns(
        table,
        [
            NewColumn(name="day", type="date", comment="when", position="first"),
            NewColumn(name="s.z", type="varchar(3)", position="after x"),
        ],
    )

    snapshot = latest(table)
    assert snapshot.schema.names == ("day", "id", "s", "p")
    assert type_text(snapshot.schema.fields[2].type) == "struct<x:bigint,z:string,y:string>"
    assert rows(spark, table) == [
        {"day": None, "id": 1, "s": {"x": 2, "z": None, "y": "y"}, "p": "v"}
    ]
    assert rust_rows(table.root) == rows(spark, table)
    info = commit_info(table.root, 1)
    assert info["operation"] == "ADD COLUMNS"
    assert info["operationParameters"]["columns"].startswith(
        '[{"column":{"name":"day","type":"date","nullable":true,"metadata":{"comment":"when"}},'
        '"position":"FIRST"}'
    )


def test_a_new_column_may_be_null(table: LocalStorage) -> None:
    with pytest.raises(ColumnChangeError) as caught:
        add_columns(table, [NewColumn(name="n", type="int", nullable=False)])

    assert caught.value.sentence() == (
        "column n cannot be added: it is NOT NULL, and rows that are there have no value for it\n"
        "hint: add it as a column that may be null"
    )


def test_columns_are_renamed_and_dropped_without_touching_files(
    spark: SparkSession, mapped: LocalStorage
) -> None:
    files = {file.path for file in latest(mapped).files()}

    rename_column(spark, mapped, "id", "number")
    rename_column(spark, mapped, "s.x", "a.b")
    rename_column(spark, mapped, "p", "part")
    drop_columns(spark, mapped, ["s.y"])
    add_columns(mapped, [NewColumn(name="s.y", type="int")])
    write(spark.sql("select 5L as number, 'w' as part")).mode("append").save(mapped.root)

    expected = [
        {"number": 1, "s": {"a.b": 2, "y": None}, "part": "v"},
        {"number": 5, "s": None, "part": "w"},
    ]
    assert sorted(rows(spark, mapped), key=str) == expected
    assert sorted(rust_rows(mapped.root), key=str) == expected
    assert files < {file.path for file in latest(mapped).files()}
    assert latest(mapped).partition_columns == ("part",)
    assert commit_info(mapped.root, 3)["operationParameters"] == {
        "oldColumnPath": "s.x",
        "newColumnPath": "s.a.b",
    }
    assert commit_info(mapped.root, 5)["operationParameters"] == {"columns": '["s.y"]'}


def test_a_changed_field_is_recorded_with_its_path(
    spark: SparkSession, mapped: LocalStorage
) -> None:
    version = change_columns(spark, mapped, [ColumnChange(name="s.x", comment="c")])

    column = json.loads(commit_info(mapped.root, version)["operationParameters"]["column"])
    assert (column["name"], column["metadata"]["comment"]) == ("s.x", "c")


def test_rename_and_drop_need_column_mapping(spark: SparkSession, table: LocalStorage) -> None:
    with pytest.raises(ColumnMappingRequiredError) as caught:
        rename_column(spark, table, "id", "n")
    assert caught.value.sentence() == (
        "columns can be renamed only with column mapping\n"
        "hint: set the table property 'delta.columnMapping.mode' to 'name' first"
    )
    with pytest.raises(DropNeedsColumnMappingError) as caught:
        drop_columns(spark, table, ["id"])
    assert caught.value.code == "DELTA_UNSUPPORTED_DROP_COLUMN"


def test_what_others_depend_on_stays(spark: SparkSession, mapped: LocalStorage) -> None:
    add_constraint(spark, mapped, "c", "s.x > 0 and id > 0")

    with pytest.raises(DependentColumnError) as caught:
        rename_column(spark, mapped, "ID", "n")
    assert caught.value.sentence() == (
        "column ID cannot be renamed, because it is used by the constraint c (s.x > 0 and id > "
        "0)\n"
        "hint: drop what depends on the column first"
    )
    with pytest.raises(DependentColumnError):
        drop_columns(spark, mapped, ["s.y"])
    with pytest.raises(PartitionColumnDropError) as refused:
        drop_columns(spark, mapped, ["p"])
    assert "the partitioning of the table" in refused.value.sentence()


def test_the_columns_with_statistics_are_renamed_along(
    spark: SparkSession, mapped: LocalStorage
) -> None:
    set_properties(mapped, {"delta.dataSkippingStatsColumns": "id, S.x"})

    rename_column(spark, mapped, "s", "my struct")

    assert latest(mapped).properties.data_skipping_stats_columns == (("id",), ("my struct", "x"))


def test_dropped_columns_leave_the_list_of_columns_with_statistics(
    spark: SparkSession, mapped: LocalStorage
) -> None:
    set_properties(mapped, {"delta.dataSkippingStatsColumns": "id, S.x"})

    drop_columns(spark, mapped, ["s"])

    assert latest(mapped).properties.data_skipping_stats_columns == (("id",),)


def test_a_list_of_dropped_columns_alone_becomes_empty(
    spark: SparkSession, mapped: LocalStorage
) -> None:
    set_properties(mapped, {"delta.dataSkippingStatsColumns": "s"})

    drop_columns(spark, mapped, ["s"])

    assert latest(mapped).metadata.configuration["delta.dataSkippingStatsColumns"] == ""
    assert latest(mapped).properties.data_skipping_stats_columns == ()


def test_a_column_is_changed(spark: SparkSession, table: LocalStorage) -> None:
    change_columns(spark, table, [ColumnChange(name="id", comment="the id", position="after s")])

    field = latest(table).schema.field("id")
    assert field is not None
    assert field.metadata == {"comment": "the id"}
    assert latest(table).schema.names == ("s", "id", "p")
    assert commit_info(table.root, 1)["operationParameters"] == {
        "column": '{"name":"id","type":"long","nullable":true,"metadata":{"comment":"the id"}}',
        "position": "AFTER s",
    }
    assert rust_rows(table.root) == rows(spark, table)


def test_not_null_can_be_dropped_and_not_set(spark: SparkSession, table: LocalStorage) -> None:
    with pytest.raises(ColumnChangeError) as caught:
        change_columns(spark, table, [ColumnChange(name="id", nullable=False)])

    assert caught.value.sentence() == (
        "column id cannot be changed: rows that are there may have no value for it, so it cannot "
        "become NOT NULL\nhint: add a constraint such as id IS NOT NULL instead"
    )


def test_a_type_becomes_wider(spark: SparkSession, tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    write(spark.sql("select 1Y as b, 2 as i")).save(str(tmp_path))

    change_columns(spark, storage, [ColumnChange(name="b", type="int")])
    set_properties(storage, {"delta.enableTypeWidening": "true"})
    change_columns(spark, storage, [ColumnChange(name="i", type="bigint")])
    write(spark.sql("select 300 as b, 3000000000 as i")).mode("append").save(str(tmp_path))

    expected = [{"b": 1, "i": 2}, {"b": 300, "i": 3_000_000_000}]
    assert sorted(rows(spark, storage), key=str) == expected
    field = latest(storage).schema.field("i")
    assert field is not None
    assert field.metadata == {"delta.typeChanges": [{"fromType": "integer", "toType": "long"}]}


def test_a_default_needs_the_feature(spark: SparkSession, table: LocalStorage) -> None:
    with pytest.raises(ColumnDefaultsNotEnabledError):
        change_columns(spark, table, [ColumnChange(name="id", default="7")])

    add_feature(table, "allowColumnDefaults")
    change_columns(spark, table, [ColumnChange(name="id", default="7")])
    write(spark.sql("select 'w' as p")).mode("append").save(table.root)
    assert sorted(row["id"] for row in rust_rows(table.root)) == [1, 7]
    change_columns(spark, table, [ColumnChange(name="id", default="")])
    write(spark.sql("select 'x' as p")).mode("append").save(table.root)
    assert [row["id"] for row in rust_rows(table.root) if row["p"] == "x"] == [None]


def test_the_protocol_is_raised_and_never_lowered(table: LocalStorage) -> None:
    upgrade_protocol(table, 1, 3)
    assert actions(table.root, 1, "protocol") == [{"minReaderVersion": 1, "minWriterVersion": 3}]
    assert commit_info(table.root, 1)["operationParameters"] == {
        "properties": '{"delta.minReaderVersion":"1","delta.minWriterVersion":"3"}'
    }

    assert upgrade_protocol(table, 1, 2) == 1
    assert last_version(table.root) == 1


def test_features_are_added(table: LocalStorage) -> None:
    add_feature(table, "v2Checkpoint")

    (protocol,) = actions(table.root, 1, "protocol")
    assert protocol["readerFeatures"] == ["v2Checkpoint"]
    with pytest.raises(UnknownFeatureRequestError):
        add_feature(table, "nope")


def test_a_feature_of_writers_is_dropped(spark: SparkSession, table: LocalStorage) -> None:
    add_constraint(spark, table, "c", "id > 0")
    with pytest.raises(FeatureDropError) as caught:
        drop_unused_feature(table, "checkConstraints")
    assert caught.value.sentence() == (
        "the feature checkConstraints cannot be dropped: the table uses it: "
        "`delta.constraints.*`\n"
        "hint: stop using it first: unset the property, or drop the constraint or the column"
    )

    drop_constraint(table, "c")
    version = drop_unused_feature(table, "checkConstraints")

    (protocol,) = actions(table.root, version, "protocol")
    assert protocol == {"minReaderVersion": 1, "minWriterVersion": 2}
    assert commit_info(table.root, version)["operation"] == "DROP FEATURE"


def test_a_feature_of_readers_is_dropped_behind_a_checkpoint(
    spark: SparkSession, table: LocalStorage
) -> None:
    set_properties(table, {"delta.enableDeletionVectors": "true"})
    set_properties(table, {"delta.enableDeletionVectors": "false"})

    version = drop_unused_feature(table, "deletionVectors")

    snapshot = latest(table)
    assert snapshot.protocol.min_reader_version == 1
    assert "checkpointProtection" in (snapshot.protocol.writer_features or ())
    assert snapshot.properties.require_checkpoint_protection_before_version == version
    assert (Path(table.root) / "_delta_log" / f"{version:020d}.checkpoint.parquet").exists()
    write(spark.sql("select 2L as id, 'v' as p")).mode("append").save(table.root)
    assert len(rust_rows(table.root)) == 2


@pytest.mark.parametrize(
    ("name", "code", "reason"),
    [
        (
            "nope",
            "DELTA_FEATURE_DROP_UNSUPPORTED_CLIENT_FEATURE",
            "truckee does not know it\nhint: check the spelling",
        ),
        (
            "v2Checkpoint",
            "DELTA_FEATURE_DROP_FEATURE_NOT_PRESENT",
            "the table does not have it\nhint: see detail() for those it has",
        ),
    ],
)
def test_features_that_a_table_does_not_have_are_not_dropped(
    table: LocalStorage, name: str, code: str, reason: str
) -> None:
    with pytest.raises(FeatureDropError) as caught:
        drop_unused_feature(table, name)

    assert str(caught.value) == f"[{code}] the feature {name} cannot be dropped: {reason}"
