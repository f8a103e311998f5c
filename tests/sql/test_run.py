"""Each statement, by name and by path: its result, and what the history says of it.

Operations and parameters are those that delta-spark records.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.errors import AnalysisException, ParseException
from pyspark.sql import DataFrame, SparkSession

from truckee import DeltaTable
from truckee.commands.ddl.table_builder import IdentityGenerator
from truckee.errors import (
    ClusteringOfPartitionedTableError,
    NotADeltaTableError,
    NotAnIdentityColumnError,
    StatementNotAllowedError,
    TableAlreadyExistsError,
    TableNotFoundError,
)
from truckee.sql.grammar import parsed_statement
from truckee.sql.result_columns import result_columns
from truckee.sql.run import run_statement
from truckee.writer import write

Run = Callable[[str], DataFrame]


def run(spark: SparkSession, text: str) -> DataFrame:
    statement = parsed_statement(text)
    assert statement is not None, text
    found = run_statement(spark, statement)
    expected = [field.split()[0] for field in _top(result_columns(statement))]
    assert found.columns == expected
    return found


def _top(columns: str) -> Iterator[str]:
    depth, start = 0, 0
    for place, mark in enumerate(columns + ","):
        depth += (mark == "<") - (mark == ">")
        if mark == "," and depth == 0:
            if columns[start:place].strip():
                yield columns[start:place].strip()
            start = place + 1


def last_commit(spark: SparkSession, table: str) -> tuple[str, dict[str, Any]]:
    row = run(spark, f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0]
    return row.operation, row.operationParameters


@pytest.fixture(params=["name", "path"])
def table(request: pytest.FixtureRequest, spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """Return what SQL calls a table of rows 0..9 in two files, by its name or by its path."""
    builder = DeltaTable.create(spark).addColumn("id", "bigint").addColumn("p", "int")
    if request.param == "name":
        builder = builder.tableName("care_of_it").location(str(tmp_path / "t"))
    else:
        builder = builder.location(str(tmp_path / "t"))
    builder.property("delta.enableDeletionVectors", "true").execute()
    for start in (0, 5):
        rows = spark.range(start, start + 5, numPartitions=1).selectExpr("id", "int(id) p")
        write(rows).mode("append").save(tmp_path / "t")
    yield "care_of_it" if request.param == "name" else f"delta.`{tmp_path / 't'}`"
    spark.sql("DROP TABLE IF EXISTS care_of_it")


def test_statements_of_care_return_and_record_what_delta_spark_does(
    spark: SparkSession, table: str, tmp_path: Path
) -> None:
    root = f"file:{tmp_path / 't'}"
    (tmp_path / "t" / "left.parquet").write_bytes(b"")

    retained = "RETAIN 0 HOURS"
    spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
    try:
        would_go = run(spark, f"VACUUM {table} {retained} DRY RUN").collect()
        gone = run(spark, f"VACUUM {table} {retained}").collect()
    finally:
        spark.conf.unset("spark.databricks.delta.retentionDurationCheck.enabled")

    assert [row.path for row in would_go] == [f"{root}/left.parquet"]
    assert [row.path for row in gone] == [root]
    assert last_commit(spark, table) == ("VACUUM END", {"status": "COMPLETED"})

    optimized = run(spark, f"OPTIMIZE {table}").collect()[0]
    assert (optimized.metrics.numFilesAdded, optimized.metrics.numFilesRemoved) == (1, 2)
    assert last_commit(spark, table) == (
        "OPTIMIZE",
        {"predicate": "[]", "zOrderBy": "[]", "clusterBy": "[]", "auto": "false"},
    )

    run(spark, f"OPTIMIZE {table} ZORDER BY (id)")
    assert last_commit(spark, table)[1]["zOrderBy"] == '["id"]'

    restored = run(spark, f"RESTORE TABLE {table} TO VERSION AS OF 1").collect()
    assert [row.num_of_files_after_restore for row in restored] == [1]
    assert last_commit(spark, table) == ("RESTORE", {"version": "1", "timestamp": None})
    version = run(spark, f"DESCRIBE HISTORY {table} LIMIT 1").collect()[0].version
    assert run(spark, f"RESTORE {table} VERSION AS OF {version}").collect() == []

    DeltaTable.forPath(spark, tmp_path / "t").delete("id = 1")
    run(spark, f"REORG TABLE {table} APPLY (PURGE)")
    assert last_commit(spark, table) == ("REORG", {"predicate": "[]", "applyPurge": "true"})

    detail = run(spark, f"DESCRIBE DETAIL {table}").collect()[0]
    assert (detail.format, detail.location, detail.numFiles) == ("delta", root, 1)
    name = None if table.startswith("delta") else "spark_catalog.default.care_of_it"
    assert detail.name == name
    same = run(spark, f"DESCRIBE DETAIL '{tmp_path / 't'}'").collect()[0]
    assert (same.id, same.name) == (detail.id, None)

    assert run(spark, f"GENERATE symlink_format_manifest FOR TABLE {table}").collect() == []
    assert (tmp_path / "t" / "_symlink_format_manifest" / "manifest").exists()


def test_alter_table_records_what_delta_spark_does(spark: SparkSession, table: str) -> None:
    run(spark, f"ALTER TABLE {table} ADD CONSTRAINT Small CHECK (id<100)")
    assert last_commit(spark, table) == ("ADD CONSTRAINT", {"name": "Small", "expr": "id < 100"})

    run(spark, f"ALTER TABLE {table} DROP CONSTRAINT small")
    assert last_commit(spark, table) == (
        "DROP CONSTRAINT",
        {"name": "small", "expr": "id < 100", "existed": "true"},
    )
    run(spark, f"ALTER TABLE {table} DROP CONSTRAINT IF EXISTS small")
    assert last_commit(spark, table) == ("DROP CONSTRAINT", {"name": "small", "existed": "false"})

    run(spark, f"ALTER TABLE {table} CLUSTER BY (p, id)")
    assert last_commit(spark, table) == (
        "CLUSTER BY",
        {"oldClusteringColumns": "", "newClusteringColumns": "p,id"},
    )
    assert run(spark, f"DESCRIBE DETAIL {table}").collect()[0].clusteringColumns == ["p", "id"]
    run(spark, f"OPTIMIZE {table} FULL")
    assert last_commit(spark, table)[1]["isFull"] == "true"

    run(spark, f"ALTER TABLE {table} CLUSTER BY NONE")
    assert last_commit(spark, table) == (
        "CLUSTER BY",
        {"oldClusteringColumns": "p,id", "newClusteringColumns": ""},
    )

    run(spark, f"ALTER TABLE {table} DROP FEATURE checkConstraints")
    assert last_commit(spark, table) == (
        "DROP FEATURE",
        {"featureName": "checkConstraints", "truncateHistory": "false"},
    )


def test_cluster_by_none_of_a_plain_table_is_no_commit(spark: SparkSession, tmp_path: Path) -> None:
    write(spark.range(3)).save(tmp_path)

    run(spark, f"ALTER TABLE delta.`{tmp_path}` CLUSTER BY NONE")

    assert run(spark, f"DESCRIBE HISTORY '{tmp_path}'").count() == 1


@pytest.mark.parametrize("columns", ["NONE", "(id)"])
def test_a_partitioned_table_has_no_clustering(
    spark: SparkSession, tmp_path: Path, columns: str
) -> None:
    write(spark.range(3).selectExpr("id", "id p")).partitionBy("p").save(tmp_path)

    with pytest.raises(ClusteringOfPartitionedTableError):
        run(spark, f"ALTER TABLE delta.`{tmp_path}` CLUSTER BY {columns}")


def test_a_clone_has_a_name_or_a_path(spark: SparkSession, table: str, tmp_path: Path) -> None:
    place = tmp_path / "copy"
    source = f"delta.`file:{tmp_path / 't'}`"
    if not table.startswith("delta"):
        source = "spark_catalog.default.care_of_it"

    counts = run(
        spark,
        f"CREATE TABLE delta.`{place}` SHALLOW CLONE {table} VERSION AS OF 1 "
        "TBLPROPERTIES (answer = 42)",
    ).collect()[0]

    assert (counts.source_num_of_files, counts.num_copied_files) == (1, 0)
    assert last_commit(spark, f"delta.`{place}`") == (
        "CLONE",
        {"source": source, "sourceVersion": "1"},
    )
    copy = DeltaTable.forName(spark, f"delta.`{place}`")
    assert sorted(row.id for row in copy.toDF().collect()) == [0, 1, 2, 3, 4]
    assert copy.detail().collect()[0].properties["answer"] == "42"

    again = f"TABLE IF NOT EXISTS delta.`{place}` SHALLOW CLONE {table}"
    assert run(spark, f"CREATE {again}").collect() == []
    with pytest.raises(TableNotFoundError):
        run(spark, f"REPLACE TABLE delta.`{tmp_path / 'none'}` SHALLOW CLONE {table}")
    try:
        run(spark, f"CREATE TABLE a_copy SHALLOW CLONE {table} LOCATION '{tmp_path / 'named'}'")
        assert DeltaTable.forName(spark, "a_copy").toDF().count() == 10
        with pytest.raises(TableAlreadyExistsError):
            run(spark, f"CREATE TABLE a_copy SHALLOW CLONE {table}")
        DeltaTable.forName(spark, "a_copy").delete()
        run(spark, f"CREATE OR REPLACE TABLE a_copy SHALLOW CLONE {table} VERSION AS OF 1")
        assert DeltaTable.forName(spark, "a_copy").toDF().count() == 5
    finally:
        spark.sql("DROP TABLE IF EXISTS a_copy")


def test_parquet_files_become_a_table(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(4).selectExpr("id", "id % 2 p").write.partitionBy("p").parquet(str(tmp_path / "t"))

    run(spark, f"CONVERT TO DELTA parquet.`{tmp_path / 't'}` PARTITIONED BY (p BIGINT)")

    operation, parameters = last_commit(spark, f"delta.`{tmp_path / 't'}`")
    assert operation == "CONVERT"
    assert json.loads(parameters["partitionedBy"]) == ["p"]
    assert parameters["collectStats"] == "true"


def test_sync_identity_goes_on_behind_the_numbers_that_rows_have(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = f"delta.`{tmp_path}`"
    DeltaTable.create(spark).location(tmp_path).addColumn(
        "id", "bigint", generatedByDefaultAs=IdentityGenerator(start=1, step=10)
    ).addColumn("x", "int").execute()
    write(spark.createDataFrame([(15, 1)], "id bigint, x int")).mode("append").save(tmp_path)

    assert run(spark, f"ALTER TABLE {table} ALTER COLUMN id SYNC IDENTITY").collect() == []

    assert last_commit(spark, table)[0] == "CHANGE COLUMN"
    write(spark.createDataFrame([(2,)], "x int").coalesce(1)).mode("append").save(tmp_path)
    rows = DeltaTable.forPath(spark, tmp_path).toDF().collect()
    assert sorted((row.id, row.x) for row in rows) == [(15, 1), (31, 2)]
    with pytest.raises(NotAnIdentityColumnError):
        run(spark, f"ALTER TABLE {table} ALTER COLUMN x SYNC IDENTITY")


def test_detail_knows_tables_of_other_formats(spark: SparkSession, tmp_path: Path) -> None:
    spark.range(1).write.parquet(str(tmp_path / "p"))
    spark.sql(f"CREATE TABLE some_parquet USING parquet LOCATION '{tmp_path / 'p'}'")
    try:
        named = run(spark, "DESCRIBE DETAIL some_parquet").collect()[0]
    finally:
        spark.sql("DROP TABLE some_parquet")
    found = run(spark, f"DESCRIBE DETAIL '{tmp_path / 'p'}'").collect()[0]

    assert (named.format, named.name) == ("parquet", "spark_catalog.default.some_parquet")
    assert (found.format, found.numFiles, found.id) == (None, None, None)
    with pytest.raises(NotADeltaTableError):
        run(spark, f"DESCRIBE DETAIL '{tmp_path / 'nothing'}'")


def test_bad_input_is_an_error_that_spark_users_catch(spark: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ParseException, match="PARSE_SYNTAX_ERROR"):
        run(spark, "VACUUM")
    with pytest.raises(AnalysisException, match="TABLE_OR_VIEW_NOT_FOUND"):
        run(spark, "OPTIMIZE no_such_table")
    with pytest.raises(AnalysisException, match="DELTA_TABLE_ONLY_OPERATION"):
        run(spark, f"DESCRIBE HISTORY delta.`{tmp_path}`")
    with pytest.raises(StatementNotAllowedError):
        run(spark, "REORG TABLE t APPLY (UPGRADE UNIFORM (ICEBERG_COMPAT_VERSION = 2))")
