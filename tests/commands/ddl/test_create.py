"""Tables made by the builder."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql.types import DateType, LongType, StringType, StructType
from pyspark.sql.types import StructField as SparkField

import truckee
from truckee.commands.ddl.create import Creation
from truckee.commands.ddl.table_builder import DeltaTableBuilder, IdentityGenerator
from truckee.errors.base import DeltaError
from truckee.errors.columns import (
    IdentityExhaustedError,
    InvalidGeneratedColumnError,
    InvalidIdentityColumnError,
    NoColumnsError,
    PartitionColumnNotFoundError,
    TableWithoutColumnsError,
)
from truckee.errors.commands.create import (
    NoTableLocationError,
    PartitionedAndClusteredError,
    TableAlreadyExistsError,
    TableNotFoundError,
    TypeTextError,
)
from truckee.errors.commands.dml import InvalidExpressionError
from truckee.errors.commands.write import (
    IdentityValueGivenError,
    NonEmptyFolderError,
    SchemaMismatchError,
)
from truckee.errors.options import ArgumentTypeError
from truckee.errors.protocol import UnknownTablePropertyError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.storage import LocalStorage
from truckee.storage.base import Storage
from truckee.table import DeltaTable
from truckee.writer import write
from writing import actions, commit_info, last_version, rust_rows


def builder(
    spark: SparkSession, creation: Creation = Creation.CREATE
) -> DeltaTableBuilder[Snapshot]:
    def opened(_: SparkSession, storage: Storage) -> Snapshot:
        return load_snapshot(storage)

    return DeltaTableBuilder(spark, creation, opened)


def refusal(kind: type[DeltaError], build: DeltaTableBuilder[Any]) -> str:
    with pytest.raises(kind) as caught:
        build.execute()
    return caught.value.sentence()


def test_a_table_has_what_the_builder_was_told(spark: SparkSession, tmp_path: Path) -> None:
    snapshot = (
        builder(spark)
        .location(str(tmp_path))
        .addColumn("id", "bigint", comment="the id")
        .addColumn("name", "varchar(5)", nullable=False)
        .addColumn("twice", LongType(), generatedAlwaysAs="id * 2")
        .addColumns(StructType([SparkField("day", DateType(), True, {"comment": "when"})]))
        .partitionedBy("day")
        .property("delta.enableChangeDataFeed", "true")
        .property("owner", "me")
        .comment("a table")
        .execute()
    )

    fields = {field.name: field for field in snapshot.schema.fields}
    assert snapshot.version == 0
    assert list(fields) == ["id", "name", "twice", "day"]
    assert fields["id"].metadata == {"comment": "the id"}
    assert fields["name"].metadata == {"__CHAR_VARCHAR_TYPE_STRING": "varchar(5)"}
    assert not fields["name"].nullable
    assert fields["twice"].metadata == {"delta.generationExpression": "id * 2"}
    assert fields["day"].metadata == {"comment": "when"}
    assert snapshot.partition_columns == ("day",)
    assert snapshot.metadata.description == "a table"
    assert snapshot.metadata.configuration == {
        "delta.enableChangeDataFeed": "true",
        "owner": "me",
    }
    assert snapshot.protocol.min_writer_version == 7
    assert set(snapshot.protocol.writer_features or ()) == {
        "appendOnly",
        "invariants",
        "changeDataFeed",
        "generatedColumns",
    }
    info = commit_info(tmp_path, 0)
    assert info["operation"] == "CREATE TABLE"
    assert info["operationParameters"] == {
        "partitionBy": '["day"]',
        "clusterBy": "[]",
        "description": "a table",
        "isManaged": "false",
        "properties": '{"delta.enableChangeDataFeed":"true","owner":"me"}',
    }


def test_generated_and_identity_columns_are_filled(spark: SparkSession, tmp_path: Path) -> None:
    (
        builder(spark)
        .location(str(tmp_path))
        .addColumn("n", "bigint", generatedAlwaysAs=IdentityGenerator(start=10, step=5))
        .addColumn("id", "bigint")
        .addColumn("twice", "bigint", generatedAlwaysAs="id * 2")
        .execute()
    )
    rows = spark.range(0, 3, 1, 1)

    write(rows).mode("append").save(str(tmp_path))
    write(rows).mode("append").save(str(tmp_path))

    found = [(row["n"], row["id"], row["twice"]) for row in rust_rows(tmp_path)]
    assert sorted(found) == [
        (10, 0, 0),
        (15, 1, 2),
        (20, 2, 4),
        (25, 0, 0),
        (30, 1, 2),
        (35, 2, 4),
    ]
    field = load_snapshot(LocalStorage(str(tmp_path))).schema.fields[0]
    assert field.metadata["delta.identity.highWaterMark"] == 35
    with pytest.raises(IdentityValueGivenError):
        write(rows.selectExpr("id", "id as n")).mode("append").save(str(tmp_path))


def test_numbers_of_ones_own_are_taken_by_default(spark: SparkSession, tmp_path: Path) -> None:
    (
        builder(spark)
        .location(str(tmp_path))
        .addColumn("n", "bigint", generatedByDefaultAs=IdentityGenerator())
        .addColumn("id", "bigint")
        .execute()
    )

    write(spark.sql("select 100L as n, 1L as id")).mode("append").save(str(tmp_path))
    write(spark.sql("select 2L as id")).mode("append").save(str(tmp_path))

    assert {row["id"]: row["n"] for row in rust_rows(tmp_path)} == {1: 100, 2: 1}


def test_clustering_columns_are_recorded(spark: SparkSession, tmp_path: Path) -> None:
    build = (
        builder(spark).location(str(tmp_path)).addColumn("id", "bigint").addColumn("s", "string")
    )

    snapshot = build.clusterBy("id", "s").execute()

    assert actions(tmp_path, 0, "domainMetadata") == [
        {
            "domain": "delta.clustering",
            "configuration": '{"clusteringColumns":[["id"],["s"]],"domainName":"delta.clustering"}',
            "removed": False,
        }
    ]
    assert {"clustering", "domainMetadata"} <= set(snapshot.protocol.writer_features or ())
    assert commit_info(tmp_path, 0)["operationParameters"]["clusterBy"] == '["id","s"]'
    write(spark.sql("select 1L as id, 'x' as s")).mode("append").save(str(tmp_path))
    assert "delta.clustering" in load_snapshot(LocalStorage(str(tmp_path))).domain_metadata


def test_mapped_columns_get_ids_and_names(spark: SparkSession, tmp_path: Path) -> None:
    snapshot = (
        builder(spark)
        .location(str(tmp_path))
        .addColumn("a b", "bigint")
        .property("delta.columnMapping.mode", "name")
        .execute()
    )

    (field,) = snapshot.schema.fields
    assert field.column_id == 1
    assert field.physical_name.startswith("col-")
    assert snapshot.properties.max_column_id == 1


def test_create_refuses_a_table_that_is_there(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.range(3)).save(str(tmp_path))

    assert refusal(
        TableAlreadyExistsError, builder(spark).location(str(tmp_path)).addColumn("id", "int")
    ) == (
        f"the table {tmp_path} already exists\n"
        "hint: use DeltaTable.createIfNotExists to keep it, or DeltaTable.createOrReplace"
    )


def test_create_if_not_exists_keeps_a_table_that_is_there(
    spark: SparkSession, tmp_path: Path
) -> None:
    build = builder(spark, Creation.CREATE_IF_NOT_EXISTS).location(str(tmp_path / "t"))

    first = build.addColumn("id", "int").execute()
    again = build.execute()

    assert (first.version, again.version) == (0, 0)


@pytest.mark.parametrize(
    ("creation", "operation"),
    [
        (Creation.REPLACE, "REPLACE TABLE"),
        (Creation.CREATE_OR_REPLACE, "CREATE OR REPLACE TABLE"),
    ],
)
def test_replace_makes_a_new_table_of_an_old_one(
    spark: SparkSession, tmp_path: Path, creation: Creation, operation: str
) -> None:
    write(spark.range(3)).option("delta.enableDeletionVectors", "true").save(str(tmp_path))
    before = load_snapshot(LocalStorage(str(tmp_path)))

    after = builder(spark, creation).location(str(tmp_path)).addColumn("s", "string").execute()

    assert after.version == 1
    assert after.schema.names == ("s",)
    assert after.num_files == 0
    assert after.metadata.id != before.metadata.id
    assert after.metadata.configuration == {"delta.enableDeletionVectors": "true"}
    assert after.protocol == before.protocol
    assert commit_info(tmp_path, 1)["operation"] == operation
    assert rust_rows(tmp_path, version=0) == [{"id": 0}, {"id": 1}, {"id": 2}]


def test_replace_needs_a_table(spark: SparkSession, tmp_path: Path) -> None:
    build = builder(spark, Creation.REPLACE).location(str(tmp_path)).addColumn("id", "int")

    assert refusal(TableNotFoundError, build) == (
        f"the table {tmp_path} cannot be found\nhint: use DeltaTable.createOrReplace to create it"
    )


def test_create_or_replace_creates_where_there_is_nothing(
    spark: SparkSession, tmp_path: Path
) -> None:
    build = builder(spark, Creation.CREATE_OR_REPLACE).location(str(tmp_path / "new"))

    assert build.addColumn("id", "int").execute().version == 0


def test_a_folder_with_other_files_is_not_made_a_table(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "readme.txt").write_text("hello")

    build = builder(spark).location(str(tmp_path)).addColumn("id", "int")

    assert refusal(NonEmptyFolderError, build) == (
        f"{tmp_path} is not a Delta table, but not empty either: it has readme.txt\n"
        "hint: choose another path, or convert its Parquet files to a table with "
        "DeltaTable.convertToDelta"
    )


def test_a_table_lies_somewhere(spark: SparkSession) -> None:
    assert refusal(NoTableLocationError, builder(spark).addColumn("id", "int")) == (
        "the table has neither a name nor a location\nhint: call tableName or location, or both"
    )


def test_a_replaced_table_has_columns(spark: SparkSession, tmp_path: Path) -> None:
    build = builder(spark, Creation.CREATE_OR_REPLACE).location(str(tmp_path / "t"))

    assert refusal(NoColumnsError, build).startswith(
        f"the table {tmp_path / 't'} cannot be created without columns"
    )
    assert not (tmp_path / "t").exists()


def test_a_new_table_may_get_its_columns_later(spark: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    builder(spark).location(path).execute()

    table = DeltaTable.forPath(spark, path)
    assert table.toDF().schema.fields == []
    with pytest.raises(TableWithoutColumnsError) as caught:
        table.toDF().collect()
    assert caught.value.sentence() == (
        f"the table {path} has no columns yet, so it cannot be read\n"
        "hint: add columns with ALTER TABLE ... ADD COLUMNS, or write rows with mergeSchema"
    )
    with pytest.raises(TableWithoutColumnsError):
        truckee.open(path).to_arrow()
    with pytest.raises(SchemaMismatchError):
        write(spark.range(1)).mode("append").save(path)

    write(spark.range(1)).mode("append").option("mergeSchema", "true").save(path)

    assert [tuple(row) for row in table.toDF().collect()] == [(0,)]


def test_bad_columns_are_refused_before_anything_is_written(
    spark: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")

    def start() -> DeltaTableBuilder[Snapshot]:
        return builder(spark).location(path).addColumn("id", "bigint")

    assert "month" in refusal(PartitionColumnNotFoundError, start().partitionedBy("month"))
    refusal(UnknownTablePropertyError, start().property("delta.nope", "1"))
    assert refusal(
        InvalidGeneratedColumnError, start().addColumn("g", "date", generatedAlwaysAs="id + 1")
    ) == (
        "column g cannot be generated as (id + 1): it gives bigint, and the column is date\n"
        "hint: use other columns of the table that are not generated themselves, and functions "
        "that give the same result each time"
    )
    refusal(
        InvalidGeneratedColumnError, start().addColumn("g", "double", generatedAlwaysAs="rand()")
    )
    for sql in ("sum(id)", "nope + 1", "(select 1)", "g + 1"):
        refusal(InvalidExpressionError, start().addColumn("g", "double", generatedAlwaysAs=sql))
    with pytest.raises(InvalidIdentityColumnError) as caught:
        start().addColumn("n", "int", generatedAlwaysAs=IdentityGenerator())
    assert caught.value.sentence() == (
        "column n cannot be an identity column: it is of type int\n"
        "hint: an identity column is a bigint, not used by partitions or expressions, with a "
        "step other than 0"
    )
    with pytest.raises(ValueError, match="step of an identity column needs to be another number"):
        start().addColumn("n", "bigint", generatedAlwaysAs=IdentityGenerator(step=0))
    assert not (tmp_path / "t").exists()


def test_arguments_that_mean_nothing_are_refused(spark: SparkSession) -> None:
    with pytest.raises(TypeTextError) as caught:
        builder(spark).addColumn("id", "no such type")
    assert caught.value.sentence() == (
        "dataType is 'no such type', which is not a SQL type\n"
        "hint: give a type such as 'bigint' or 'date', or one of PySpark's"
    )
    with pytest.raises(ArgumentTypeError):
        builder(spark).addColumn("id")
    with pytest.raises(ArgumentTypeError):
        builder(spark).addColumn("id", StringType(), generatedByDefaultAs=7)  # type: ignore[arg-type]


def test_a_created_table_takes_rows(spark: SparkSession, tmp_path: Path) -> None:
    builder(spark).location(str(tmp_path)).addColumn("s", "char(3)").execute()

    write(spark.sql("select 'a' as s")).mode("append").save(str(tmp_path))

    assert rust_rows(tmp_path) == [{"s": "a  "}]
    assert last_version(tmp_path) == 1


def test_a_replaced_table_keeps_how_it_stores_rows(spark: SparkSession, tmp_path: Path) -> None:
    old = builder(spark).location(str(tmp_path)).addColumn("id", "int").property("k", "v")
    for key in ("delta.enableDeletionVectors", "delta.enableRowTracking", "delta.appendOnly"):
        old = old.property(key, "true")
    before = old.property("delta.checkpointPolicy", "v2").execute().metadata.configuration
    again = builder(spark, Creation.REPLACE).location(str(tmp_path)).addColumn("id", "int")

    after = again.execute().metadata.configuration

    assert after == {k: v for k, v in before.items() if k not in ("k", "delta.appendOnly")}
    off = again.property("delta.enableRowTracking", "false").execute().metadata.configuration
    assert off == {**after, "delta.enableRowTracking": "false"}


def test_an_identity_column_without_a_number_left_takes_no_row(
    spark: SparkSession, tmp_path: Path
) -> None:
    last = 2**63 - 1
    numbers = IdentityGenerator(start=last)
    start = builder(spark).location(str(tmp_path)).addColumn("v", "int")
    start.addColumn("n", "bigint", generatedAlwaysAs=numbers).execute()
    row = write(spark.sql("select 1 as v")).mode("append")
    row.save(str(tmp_path))

    with pytest.raises(IdentityExhaustedError) as caught:
        row.save(str(tmp_path))

    assert caught.value.sentence() == (
        f"the identity column n has no number left after {last}\n"
        "hint: replace the table by one with another start or step"
    )
    assert last_version(tmp_path) == 1


def test_a_table_has_partitions_or_clustering(spark: SparkSession, tmp_path: Path) -> None:
    build = (
        builder(spark).location(str(tmp_path / "t")).addColumn("id", "int").addColumn("v", "int")
    )

    assert refusal(PartitionedAndClusteredError, build.partitionedBy("id").clusterBy("v")) == (
        "a table cannot have both partitions and clustering\n"
        "hint: call partitionedBy or clusterBy, not both"
    )
