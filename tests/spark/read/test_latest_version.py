"""A DataFrame of a table shows the latest version whenever a query runs, as delta-spark's do."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from threading import Thread
from typing import Any

import pyarrow as pa
import pytest
from deltalake import write_deltalake
from pyspark.errors import AnalysisException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as sf

import truckee
from truckee.errors import ConcurrentAppendException
from truckee.spark.read.frames import (
    _VERSIONS_REMEMBERED,
    _queries,
    _reads_of,
    one_version,
)
from truckee.spark.read.relations import running_commands
from truckee.table import DeltaTable


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> str:
    """A table with the rows 0 to 9."""
    append(spark, str(tmp_path / "t"), 0, 10)
    return str(tmp_path / "t")


def append(spark: SparkSession, path: str, start: int, end: int) -> None:
    spark.range(start, end, numPartitions=1).write.format("delta").mode("append").save(path)


def append_quickly(path: str, *ids: int) -> None:
    write_deltalake(path, pa.table({"id": pa.array(ids, pa.int64())}), mode="append")


def load(spark: SparkSession, path: str) -> DataFrame:
    return spark.read.format("delta").load(path)


def last_commit(path: str) -> dict[str, Any]:
    newest = max(Path(path, "_delta_log").glob("*.json"))
    actions = map(json.loads, newest.read_text().splitlines())
    found: dict[str, Any] = next(a["commitInfo"] for a in actions if "commitInfo" in a)
    return found


def test_every_door_shows_rows_that_came_later(spark: SparkSession, path: str) -> None:
    spark.sql(f"CREATE TABLE shown USING delta LOCATION '{path}'")
    load(spark, path).createOrReplaceTempView("seen")
    frames = {
        "load": load(spark, path),
        "truckee.read": truckee.read(spark).load(path),
        "toDF": DeltaTable.forPath(spark, path).toDF(),
        "table": spark.table("shown"),
        "sql": spark.sql(f"SELECT * FROM delta.`{path}`"),
        "view": spark.table("seen"),
    }
    before = {name: frame.count() for name, frame in frames.items()}

    append(spark, path, 10, 15)
    DeltaTable.forPath(spark, path).delete("id < 2")

    after = {name: frame.agg(sf.sum("id")).first()[0] for name, frame in frames.items()}
    spark.sql("DROP TABLE shown")
    assert set(before.values()) == {10}
    assert set(after.values()) == {sum(range(2, 15))}


def test_an_older_version_stays_what_it_is(spark: SparkSession, path: str) -> None:
    old = spark.read.format("delta").option("versionAsOf", 0).load(path)
    in_sql = spark.sql(f"SELECT * FROM delta.`{path}` VERSION AS OF 0")

    append(spark, path, 10, 15)

    assert [old.count(), in_sql.count()] == [10, 10]


# Invariant 61.
@pytest.mark.slow
def test_all_parts_of_a_query_see_one_version(spark: SparkSession, path: str) -> None:
    one, other = load(spark, path), load(spark, path)
    joined = one.join(other.withColumnRenamed("id", "other"), sf.col("id") == sf.col("other"))
    left = one.join(other, "id", "left_anti").union(other.join(one, "id", "left_anti"))

    for number in range(20):
        writer = Thread(target=append_quickly, args=(path, 100 + number))
        writer.start()
        found = joined.where("other >= 0").count(), left.count()
        writer.join()
        assert found[1] == 0
        assert 10 + number <= found[0] <= 11 + number


def test_columns_that_came_later_are_not_shown(spark: SparkSession, path: str) -> None:
    frame = load(spark, path)

    spark.sql(f"ALTER TABLE delta.`{path}` ADD COLUMN name STRING")
    append(spark, path, 10, 11)

    assert frame.where("id > 8").orderBy("id").collect() == [(9,), (10,)]


@pytest.mark.parametrize(
    "statement",
    [
        "ALTER TABLE delta.`{}` RENAME COLUMN id TO number",
        "ALTER TABLE delta.`{}` DROP COLUMN id",
        "CREATE OR REPLACE TABLE delta.`{}` (id STRING, v INT) USING delta",
        "CREATE OR REPLACE TABLE delta.`{}` (id BIGINT, v INT) USING delta PARTITIONED BY (id)",
    ],
)
def test_other_columns_are_an_error_before_anything_is_read(
    spark: SparkSession, tmp_path: Path, statement: str
) -> None:
    path = str(tmp_path / "t")
    spark.sql(
        f"CREATE TABLE delta.`{path}` (id BIGINT, v INT) USING delta "
        "TBLPROPERTIES ('delta.columnMapping.mode' = 'name')"
    )
    frame = load(spark, path)

    spark.sql(statement.format(path))

    with pytest.raises(AnalysisException, match="make the DataFrame again") as caught:
        frame.count()
    assert caught.value.getCondition() == "DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS"


def test_a_table_in_the_place_of_another_is_not_mixed_with_it(
    spark: SparkSession, path: str
) -> None:
    frame = load(spark, path)
    shutil.rmtree(path)
    append(spark, path, 100, 101)
    append(spark, path, 101, 102)

    assert frame.orderBy("id").collect() == [(100,), (101,)]


def test_the_static_side_of_a_stream_is_read_anew_for_each_batch(
    spark: SparkSession, path: str, tmp_path: Path
) -> None:
    source, found = str(tmp_path / "source"), []
    append(spark, source, 0, 1)
    stream = spark.readStream.format("delta").load(source)
    joined = stream.crossJoin(load(spark, path).groupBy().count())

    query = joined.writeStream.foreachBatch(lambda rows, _: found.extend(rows.collect()))
    running = query.option("checkpointLocation", str(tmp_path / "c")).start()
    running.processAllAvailable()
    append(spark, path, 10, 15)
    append(spark, source, 1, 2)
    running.processAllAvailable()
    running.stop()

    assert found == [(0, 10), (1, 15)]


def test_a_table_that_is_overwritten_by_itself_keeps_rows_that_came_later(
    spark: SparkSession, path: str
) -> None:
    frame = load(spark, path)
    append(spark, path, 10, 15)

    frame.where("id <> 3").write.format("delta").mode("overwrite").save(path)

    assert load(spark, path).count() == 14


@pytest.mark.parametrize("at", ["", "VERSION AS OF 0"])
def test_an_append_of_its_own_rows_is_not_blind(spark: SparkSession, path: str, at: str) -> None:
    append(spark, path, 10, 15)
    blind = last_commit(path)["isBlindAppend"]

    spark.sql(f"INSERT INTO delta.`{path}` SELECT id + 100 FROM delta.`{path}` {at} WHERE id < 3")

    assert (blind, last_commit(path)["isBlindAppend"]) == (True, False)
    assert load(spark, path).where("id >= 100").count() == 3


# Invariant 62.
@pytest.mark.slow
def test_rows_that_are_missing_are_not_inserted_twice(spark: SparkSession, path: str) -> None:
    """Another writer appends what a query found to be missing."""
    missing = spark.range(9, 12).join(load(spark, path), "id", "left_anti")

    def meanwhile(number: int) -> int:
        if number == 11:
            append_quickly(path, 11)
        return number

    late = sf.udf(meanwhile, "bigint", useArrow=False)
    with pytest.raises(ConcurrentAppendException):
        missing.coalesce(1).select(late("id").alias("id")).write.format("delta").mode(
            "append"
        ).save(path)

    assert sorted(row.id for row in load(spark, path).collect()) == [*range(10), 11]


def test_a_merge_with_the_table_itself_sees_one_version(spark: SparkSession, path: str) -> None:
    table = DeltaTable.forPath(spark, path)
    source = load(spark, path).groupBy().agg(sf.max("id").alias("most"))
    append(spark, path, 10, 15)

    table.alias("t").merge(source.alias("s"), "t.id = s.most").whenMatchedUpdate(
        set={"id": "s.most + 100"}
    ).execute()

    assert load(spark, path).where("id > 13").collect() == [(114,)]
    assert last_commit(path)["isBlindAppend"] is False


def test_an_update_by_a_subquery_of_the_table_itself_is_a_conflict(
    spark: SparkSession, path: str
) -> None:
    def meanwhile(number: int) -> bool:
        if number == 3:
            append_quickly(path, 50)
        return number == 3

    spark.udf.register("meanwhile", sf.udf(meanwhile, "boolean", useArrow=False))
    DeltaTable.forPath(spark, path).delete("id = 9")

    with pytest.raises(ConcurrentAppendException):
        spark.sql(
            f"UPDATE delta.`{path}` SET id = (SELECT max(id) + 1 FROM delta.`{path}`) "
            "WHERE meanwhile(id)"
        )

    assert load(spark, path).where("id = 3").count() == 1


def test_what_is_known_of_queries_stays_small(spark: SparkSession, path: str) -> None:
    context = spark.sparkContext
    for number in range(_VERSIONS_REMEMBERED + 5):
        _reads_of(context, f"no query {number}")
    load(spark, path).count()

    known = _queries[context]
    assert len(known) <= _VERSIONS_REMEMBERED
    assert not any(query.has_read(path) for query in known.values())


def test_commands_and_queries_at_the_same_time_do_not_disturb_each_other(
    spark: SparkSession,
) -> None:
    context, failed = spark.sparkContext, []

    def ask(kind: int) -> None:
        try:
            for number in range(300):
                _reads_of(context, f"of {kind}: {number}")
                with one_version(spark):
                    pass
        except RuntimeError as error:
            failed.append(error)

    threads = [Thread(target=ask, args=(kind,)) for kind in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert failed == []
    assert not running_commands
