"""Tables by name, and plain SQL over them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession

from truckee.commands.catalog import delta_location
from truckee.commands.ddl.alter_columns import NewColumn, add_columns, rename_column
from truckee.commands.ddl.alter_properties import set_properties
from truckee.commands.ddl.create import Creation
from truckee.commands.ddl.table_builder import DeltaTableBuilder
from truckee.commands.dml.delete import delete
from truckee.errors.commands.create import (
    InvalidTableNameError,
    NoTableLocationError,
    NotATruckeeTableError,
    TableAlreadyExistsError,
    TableNotFoundError,
    TableSchemaMismatchError,
)
from truckee.errors.commands.write import ColumnCountError, NonEmptyFolderError
from truckee.errors.commands.write_rows import CheckConstraintViolationError
from truckee.errors.log import NotADeltaTableError
from truckee.log.files.history import history
from truckee.spark.session.catalog import default_location, named_table
from truckee.storage import LocalStorage
from truckee.table import DeltaTable
from truckee.writer import write
from writing import commit_info, last_version, rust_rows

NAME = "named_for_tests"


@pytest.fixture(autouse=True)
def no_table(spark: SparkSession) -> Iterator[None]:
    yield
    spark.sql(f"drop table if exists {NAME}")


@pytest.fixture
def rows(spark: SparkSession) -> DataFrame:
    return spark.range(0, 10, 1, 2).selectExpr("id", "id % 3 as p", "cast(id as string) as s")


def ids(spark: SparkSession, query: str) -> list[int]:
    return sorted(row[0] for row in spark.sql(query).collect())


def test_a_table_that_was_opened_by_name_tells_its_name(
    spark: SparkSession, rows: DataFrame
) -> None:
    write(rows).saveAsTable(NAME)
    table = DeltaTable.forName(spark, NAME)

    names = [each.detail().first()["name"] for each in (table, table.alias("t"))]

    assert names == [f"spark_catalog.default.{NAME}"] * 2
    assert spark.sql(f"DESCRIBE DETAIL {NAME}").first()["name"] == names[0]


def test_a_table_is_created_under_a_name(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).partitionBy("p").saveAsTable(NAME)

    found = named_table(spark, NAME)
    assert found is not None
    assert (found.provider, found.is_managed) == ("delta", True)
    assert found.location == default_location(spark, NAME) == delta_location(spark, NAME)
    assert ids(spark, f"select id from {NAME}") == list(range(10))
    info = commit_info(found.location, 0)
    assert info["operation"] == "CREATE TABLE AS SELECT"
    assert info["operationParameters"] == {
        "partitionBy": '["p"]',
        "clusterBy": "[]",
        "description": None,
        "isManaged": "true",
        "properties": "{}",
    }
    assert info["operationMetrics"]["numOutputRows"] == "10"


def test_dropping_the_name_of_a_managed_table_deletes_it(
    spark: SparkSession, rows: DataFrame
) -> None:
    write(rows).saveAsTable(NAME)
    location = delta_location(spark, NAME)

    spark.sql(f"drop table {NAME}")

    assert not Path(location).exists()
    with pytest.raises(TableNotFoundError) as caught:
        delta_location(spark, NAME)
    assert caught.value.sentence() == (
        f"the table {NAME} cannot be found\n"
        "hint: SHOW TABLES lists the names; a path is written as delta.`/data/orders`"
    )


def test_a_path_in_a_name_has_a_slash(spark: SparkSession) -> None:
    with pytest.raises(TableNotFoundError) as caught:
        delta_location(spark, "delta.orders")

    assert delta_location(spark, "delta.`./lake/orders`") == str(Path.cwd() / "lake/orders")
    assert caught.value.sentence() == (
        "the table delta.orders cannot be found\n"
        "hint: a path in SQL has a slash, as in delta.`./orders` or delta.`/data/orders`"
    )


def test_dropping_the_name_of_another_table_leaves_it(
    spark: SparkSession, rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).option("path", str(tmp_path / "a 'b'")).saveAsTable(NAME)
    assert delta_location(spark, NAME) == str(tmp_path / "a 'b'")
    assert commit_info(tmp_path / "a 'b'", 0)["operationParameters"]["isManaged"] == "false"

    spark.sql(f"drop table {NAME}")

    assert len(rust_rows(tmp_path / "a 'b'")) == 10


def test_a_replaced_table_stays_one_that_the_catalog_does_not_manage(
    spark: SparkSession, rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).option("path", str(tmp_path / "t")).saveAsTable(NAME)

    builder(spark, Creation.REPLACE).tableName(NAME).addColumn("id", "long").execute()

    info = commit_info(tmp_path / "t", 1)
    assert (info["operation"], info["operationParameters"]["isManaged"]) == (
        "REPLACE TABLE",
        "false",
    )


def test_modes_speak_of_the_named_table(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).saveAsTable(NAME)
    location = delta_location(spark, NAME)

    with pytest.raises(TableAlreadyExistsError):
        write(rows).saveAsTable(NAME)
    write(rows).mode("ignore").saveAsTable(NAME)
    assert last_version(location) == 0

    write(rows).mode("append").saveAsTable(f"default.{NAME}")
    assert spark.table(NAME).count() == 20
    write(rows.where("id = 1")).mode("overwrite").saveAsTable(f"spark_catalog.default.{NAME}")
    assert ids(spark, f"select id from {NAME}") == [1]
    info = commit_info(location, 2)
    assert info["operation"] == "CREATE OR REPLACE TABLE AS SELECT"
    assert info["operationParameters"]["isV1SaveAsTableOverwrite"] is True


def test_plain_queries_prune_files_and_columns(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).partitionBy("p").saveAsTable(NAME)

    query = spark.sql(f"select s from {NAME} where p = 1 and id > 2")

    plan = query._jdf.queryExecution().executedPlan().toString()
    assert "FileScan truckee" in plan
    assert "(p#" in plan.split("PartitionFilters: [")[1].split("]")[0]
    assert "GreaterThan(id,2)" in plan.split("PushedFilters: [")[1].split("]")[0]
    assert sorted(row.s for row in query.collect()) == ["4", "7"]


def test_plain_queries_may_be_anything(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).option("delta.enableDeletionVectors", "true").saveAsTable(NAME)
    delete(spark, LocalStorage(delta_location(spark, NAME)), "id in (1, 8)")

    assert ids(spark, f"select id from {NAME} where id < 4") == [0, 2, 3]
    assert ids(
        spark,
        f"select a.id from {NAME} a join {NAME} b on a.id = b.id + 1 "
        f"where b.p = 0 and a.id not in (select id from {NAME} where s = '4')",
    ) == [7]
    assert ids(spark, f"select count(*) from {NAME}") == [8]
    assert ids(spark, f"with t as (select max(id) as m from {NAME}) select m from t") == [9]
    assert spark.table(NAME).groupBy("p").count().count() == 3


def test_an_overwrite_of_some_rows_is_a_write(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).partitionBy("p").saveAsTable(NAME)
    kept = rows.where("p = 1").count()

    write(rows.where("p = 0").limit(1)).mode("overwrite").option("replaceWhere", "p = 0").option(
        "mergeSchema", "true"
    ).saveAsTable(NAME)
    write(rows.where("id = 1")).mode("overwrite").option("replaceUsing", "id").saveAsTable(NAME)

    assert spark.table(NAME).where("p = 1").count() == kept
    assert spark.table(NAME).where("p = 0").count() == 1
    storage = LocalStorage(delta_location(spark, NAME))
    told = [(entry.operation, entry.operation_parameters) for entry in history(storage, 2)]
    assert told == [
        ("WRITE", {"mode": "Overwrite", "partitionBy": "[]", "replaceUsingCols": "(id)"}),
        (
            "WRITE",
            {
                "mode": "Overwrite",
                "partitionBy": "[]",
                "predicate": "p = 0",
                "canMergeSchema": "true",
            },
        ),
    ]


def test_queries_see_the_latest_version(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).saveAsTable(NAME)
    frame = spark.table(NAME)
    assert frame.count() == 10

    write(rows).mode("append").save(delta_location(spark, NAME))

    assert spark.table(NAME).count() == 20


def test_new_columns_of_others_are_seen_at_once(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).saveAsTable(NAME)
    storage = LocalStorage(delta_location(spark, NAME))

    add_columns(storage, [NewColumn(name="more", type="int")])

    assert spark.sql(f"select * from {NAME}").columns == ["id", "p", "s", "more"]


def test_columns_that_were_renamed_elsewhere_are_known_at_once(
    spark: SparkSession, rows: DataFrame
) -> None:
    write(rows).saveAsTable(NAME)
    storage = LocalStorage(delta_location(spark, NAME))
    set_properties(storage, {"delta.columnMapping.mode": "name"})
    rename_column(spark, storage, "s", "t")

    with pytest.raises(AnalysisException) as caught:
        spark.sql(f"select s from {NAME}").collect()

    assert caught.value.getCondition() == "UNRESOLVED_COLUMN.WITH_SUGGESTION"
    assert len(spark.sql(f"select t from {NAME}").collect()) == 10


def test_a_new_schema_is_told_to_the_catalog(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).saveAsTable(NAME)

    write(rows.selectExpr("s as only")).mode("overwrite").option(
        "overwriteSchema", True
    ).saveAsTable(NAME)

    assert spark.table(NAME).columns == ["only"]
    assert spark.table(NAME).count() == 10


def test_rows_are_inserted_by_position(spark: SparkSession, rows: DataFrame) -> None:
    write(rows).saveAsTable(NAME)

    write(rows.selectExpr("id + 100 as a", "p as b", "s as c")).insertInto(NAME)
    assert max(ids(spark, f"select id from {NAME}")) == 109
    write(rows.limit(1)).insertInto(NAME, overwrite=True)
    assert spark.table(NAME).count() == 1
    with pytest.raises(ColumnCountError) as caught:
        write(rows.select("id")).insertInto(NAME)
    assert caught.value.sentence() == (
        f"the data has 1 column [id], but the table {delta_location(spark, NAME)} has 3: [id, "
        "p, s]\n"
        "hint: select as many columns in the same order, or match them by name: INSERT INTO t "
        "(a, b) or BY NAME in SQL, saveAsTable in Python"
    )


def builder(spark: SparkSession, creation: Creation = Creation.CREATE) -> DeltaTableBuilder[str]:
    return DeltaTableBuilder(spark, creation, lambda _, storage: storage.root)


def test_the_builder_names_tables_too(spark: SparkSession, tmp_path: Path) -> None:
    location = builder(spark).tableName(NAME).addColumn("id", "bigint", nullable=False).execute()

    assert location == delta_location(spark, NAME)
    assert spark.table(NAME).collect() == []
    with pytest.raises(TableAlreadyExistsError):
        builder(spark).tableName(NAME).addColumn("id", "bigint").execute()
    replaced = builder(spark, Creation.CREATE_OR_REPLACE).tableName(NAME).addColumn("s", "string")
    assert replaced.execute() == location
    assert commit_info(location, 1)["operation"] == "CREATE OR REPLACE TABLE"


def test_a_table_that_is_there_gets_a_name(
    spark: SparkSession, rows: DataFrame, tmp_path: Path
) -> None:
    write(rows).save(str(tmp_path))

    with pytest.raises(TableSchemaMismatchError) as caught:
        builder(spark).tableName(NAME).location(str(tmp_path)).addColumn("x", "int").execute()
    assert caught.value.sentence() == (
        f"{NAME} cannot be created with the columns struct<x:int>, because the table at "
        f"{tmp_path} has the columns struct<id:bigint,p:bigint,s:string>\n"
        "hint: leave the columns out to take those of the table"
    )
    builder(spark).tableName(NAME).location(str(tmp_path)).execute()

    assert spark.table(NAME).count() == 10
    assert last_version(tmp_path) == 0


def test_a_write_that_fails_leaves_no_name(spark: SparkSession, rows: DataFrame) -> None:
    options = {"delta.constraints.low": "id < 5"}

    with pytest.raises(CheckConstraintViolationError):
        write(rows).options(**options).saveAsTable(NAME)

    assert named_table(spark, NAME) is None
    assert not any(p.is_file() for p in Path(default_location(spark, NAME)).rglob("*"))


def test_the_folder_of_a_managed_table_must_be_empty(spark: SparkSession, rows: DataFrame) -> None:
    folder = Path(default_location(spark, NAME))
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "note.txt").write_text("hello")
    try:
        with pytest.raises(NonEmptyFolderError):
            write(rows).saveAsTable(NAME)
    finally:
        (folder / "note.txt").unlink()
        folder.rmdir()

    assert named_table(spark, NAME) is None


def test_names_that_are_none_are_refused(spark: SparkSession, rows: DataFrame) -> None:
    with pytest.raises(InvalidTableNameError) as caught:
        write(rows).saveAsTable("a.b.c.d")
    assert caught.value.sentence() == (
        "'a.b.c.d' is not a table name that Spark's session catalog allows\n"
        "hint: write table or database.table, with backquotes around unusual characters"
    )
    with pytest.raises(InvalidTableNameError):
        write(rows).saveAsTable("not a name")
    with pytest.raises(InvalidTableNameError) as caught:
        DeltaTable.forName(spark, "/lake/orders")
    assert caught.value.sentence() == (
        "'/lake/orders' is not a table name that Spark's session catalog allows\n"
        "hint: name a table; one by its path is opened with forPath, and written with save"
    )
    with pytest.raises(NoTableLocationError):
        write(rows).save()


def test_a_name_of_something_else_is_refused(
    spark: SparkSession, rows: DataFrame, tmp_path: Path
) -> None:
    spark.sql(f"create table {NAME} (id int) using parquet location '{tmp_path}'")

    with pytest.raises(NotATruckeeTableError) as caught:
        write(rows).mode("append").saveAsTable(NAME)

    assert caught.value.sentence() == (
        f"{NAME} is not a Delta table, but a parquet table\n"
        "hint: name a table that was created USING delta"
    )


@pytest.mark.parametrize(
    ("made", "says"),
    [
        (
            None,
            "the catalog has no such name\n"
            "hint: SHOW TABLES lists the names; DeltaTable.forPath opens a table by its path",
        ),
        ("CREATE VIEW {} AS SELECT 1 AS id", "it is a view\nhint: name the table that it reads"),
        (
            "CREATE TABLE {} (id INT) USING parquet",
            "it is a parquet table\n"
            "hint: name a table that was created USING delta, or make it one with CONVERT TO DELTA",
        ),
        (
            "CREATE TABLE {} (id INT) USING csv",
            "it is a csv table\nhint: name a table that was created USING delta",
        ),
    ],
)
def test_a_name_that_is_no_table_is_told_with_what_helps(
    spark: SparkSession, made: str | None, says: str
) -> None:
    name = "no_table_of_delta"
    if made is not None:
        spark.sql(made.format(name))
    try:
        with pytest.raises(NotADeltaTableError) as caught:
            DeltaTable.forName(spark, name)
    finally:
        if made is not None:
            spark.sql(f"DROP {made.split()[1]} {name}")

    assert caught.value.sentence() == f"{name} is not a Delta table: {says}"


def test_a_location_is_taken_as_it_is_written(spark: SparkSession, tmp_path: Path) -> None:
    place = tmp_path / "50%25 off"
    spark.sql(f"CREATE TABLE {NAME} (id INT) USING delta LOCATION '{place}'")

    spark.sql(f"INSERT INTO {NAME} VALUES (1)")

    assert last_version(place) == 1
    assert ids(spark, f"SELECT * FROM {NAME}") == [1]
    shown = spark.sql(f"DESCRIBE EXTENDED {NAME}").where("col_name = 'Location'").first()
    assert shown["data_type"] == f"file:{place}"


def test_the_properties_of_a_clustered_table_name_its_columns(spark: SparkSession) -> None:
    spark.sql(f"CREATE TABLE {NAME} (id INT, s STRUCT<x: INT>) USING delta CLUSTER BY (s.x, id)")

    (shown,) = spark.sql(f"SHOW TBLPROPERTIES {NAME} ('clusteringColumns')").collect()

    assert shown["value"] == '[["s","x"],["id"]]'
