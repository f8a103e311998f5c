"""truckee.install(): code written for delta-spark runs, and nothing else notices."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from pyspark.errors import AnalysisException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import truckee
from truckee.errors.spark import DeltaJarPresentError


@pytest.fixture
def installed(spark: SparkSession) -> Iterator[SparkSession]:
    truckee.install()
    yield spark
    truckee.uninstall()


def ids(rows: list[tuple[int]]) -> list[int]:
    return sorted(row[0] for row in rows)


def test_rows_are_written_and_read_by_format(installed: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")

    installed.range(3).write.format("delta").save(path)
    installed.range(3, 5).write.format("DELTA").mode("append").save(path)
    installed.range(5, 6).write.save(path, format="delta", mode="append")

    assert ids(installed.read.format("delta").load(path).collect()) == [0, 1, 2, 3, 4, 5]
    assert ids(installed.read.load(path, format="delta", versionAsOf=0).collect()) == [0, 1, 2]
    assert ids(installed.read.format("delta").load([path]).collect()) == [0, 1, 2, 3, 4, 5]
    assert ids(installed.read.format("delta").option("path", path).load().collect()) == list(
        range(6)
    )


def test_options_properties_and_partitions_are_handed_on(
    installed: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    writer = installed.createDataFrame([(1, "a"), (2, "b")], "id int, part string").write

    writer.format("delta").partitionBy("part").options(
        **{"delta.enableChangeDataFeed": "true"}
    ).save(path)

    feed = (
        installed.read.format("delta").option("readChangeFeed", True).option("startingVersion", 0)
    )
    assert [row["_change_type"] for row in feed.load(path).collect()] == ["insert", "insert"]
    detail = truckee.DeltaTable.forPath(installed, path).detail().collect()[0]
    assert detail["partitionColumns"] == ["part"]


def test_streams_are_read_by_format(installed: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "t")
    installed.range(3).write.format("delta").save(path)
    seen: list[int] = []

    stream = installed.readStream.format("delta").option("maxFilesPerTrigger", 1).load(path)
    query = stream.writeStream.foreachBatch(
        lambda batch, _: seen.extend(row[0] for row in batch.collect())
    )
    query.option("checkpointLocation", str(tmp_path / "c")).trigger(
        availableNow=True
    ).start().awaitTermination()

    assert sorted(seen) == [0, 1, 2]


def test_streams_are_written_by_format(installed: SparkSession, tmp_path: Path) -> None:
    source, target = str(tmp_path / "s"), str(tmp_path / "t")
    installed.range(3).write.format("delta").save(source)

    for _ in range(2):
        stream = installed.readStream.format("delta").load(source)
        writer = stream.writeStream.format("delta").outputMode("append")
        writer = writer.option("checkpointLocation", str(tmp_path / "c"))
        writer.trigger(availableNow=True).start(target).awaitTermination()

    assert ids(installed.read.format("delta").load(target).collect()) == [0, 1, 2]


def test_a_function_for_each_batch_is_called_whatever_the_format(
    installed: SparkSession, tmp_path: Path
) -> None:
    source = str(tmp_path / "s")
    installed.range(3).write.format("delta").save(source)
    seen: list[int] = []

    stream = installed.readStream.format("delta").load(source)
    writer = stream.writeStream.format("delta").foreachBatch(
        lambda batch, _: seen.extend(row["id"] for row in batch.collect())
    )
    writer = writer.option("checkpointLocation", str(tmp_path / "c"))
    writer.trigger(availableNow=True).start().awaitTermination()

    assert sorted(seen) == [0, 1, 2]


def test_a_format_after_a_function_takes_its_place(installed: SparkSession, tmp_path: Path) -> None:
    source, target = str(tmp_path / "s"), str(tmp_path / "t")
    installed.range(3).write.format("delta").save(source)
    seen: list[int] = []

    stream = installed.readStream.format("delta").load(source)
    writer = stream.writeStream.foreachBatch(lambda _, number: seen.append(number))
    writer = writer.format("delta").option("checkpointLocation", str(tmp_path / "c"))
    writer.trigger(availableNow=True).start(target).awaitTermination()

    assert seen == []
    assert ids(installed.read.format("delta").load(target).collect()) == [0, 1, 2]


def test_streams_are_written_to_a_table_by_name(installed: SparkSession, tmp_path: Path) -> None:
    source = str(tmp_path / "s")
    installed.range(3).write.format("delta").save(source)
    writer = installed.readStream.format("delta").load(source).writeStream.format("delta")
    writer = writer.option("checkpointLocation", str(tmp_path / "c")).trigger(availableNow=True)
    try:
        writer.toTable("streamed").awaitTermination()

        assert ids(installed.table("streamed").collect()) == [0, 1, 2]
    finally:
        installed.sql("DROP TABLE streamed")


def test_tables_of_the_catalog_are_saved_and_read_by_name(
    installed: SparkSession, tmp_path: Path
) -> None:
    installed.range(3).write.format("delta").option("path", str(tmp_path / "t")).saveAsTable("here")
    try:
        assert ids(installed.read.table("here").collect()) == [0, 1, 2]
        assert ids(installed.table("here").collect()) == [0, 1, 2]
        installed.range(3, 4).write.insertInto("here")
        installed.range(4, 5).write.format("delta").mode("append").saveAsTable("here")
        assert ids(installed.table("here").collect()) == [0, 1, 2, 3, 4]
    finally:
        installed.sql("DROP TABLE here")


def test_modules_of_delta_spark_are_truckees(installed: SparkSession) -> None:
    tables = importlib.import_module("delta.tables")
    exceptions = importlib.import_module("delta.exceptions")
    delta = importlib.import_module("delta")

    assert tables.DeltaTable is truckee.DeltaTable
    assert exceptions.ConcurrentAppendException is truckee.errors.ConcurrentAppendException
    builder = delta.configure_spark_with_delta_pip(SparkSession.builder)
    assert builder.getOrCreate() is not None


def test_other_formats_go_their_own_way(installed: SparkSession, tmp_path: Path) -> None:
    path = str(tmp_path / "p")

    installed.range(3).write.mode("overwrite").parquet(path)
    installed.range(3).write.format("parquet").mode("append").save(path)

    assert installed.read.parquet(path).count() == 6
    assert installed.read.schema("id long").load(path).count() == 6
    installed.range(2).createOrReplaceTempView("two")
    assert installed.table("two").count() == 2


def test_a_schema_is_refused_since_the_table_has_one(
    installed: SparkSession, tmp_path: Path
) -> None:
    path = str(tmp_path / "t")
    installed.range(3).write.format("delta").save(path)

    with pytest.raises(AnalysisException, match="user-specified schema"):
        installed.read.format("delta").schema("id int").load(path)


def test_tables_are_written_by_the_newer_writer_too(installed: SparkSession) -> None:
    rows = installed.range(4).selectExpr("id", "id % 2 AS p")
    try:
        rows.writeTo("newer").using("delta").partitionedBy(F.col("p")).create()
        rows.where("id = 0").writeTo("newer").append()
        rows.where("id = 3").writeTo("newer").overwritePartitions()
        assert ids(installed.table("newer").select("id").collect()) == [0, 0, 2, 3]
        rows.where("id = 2").writeTo("newer").overwrite(F.col("p") == 0)
        assert ids(installed.table("newer").select("id").collect()) == [2, 3]
        rows.select("id").writeTo("newer").using("delta").createOrReplace()
        assert installed.table("newer").columns == ["id"]
        operations = [row["operation"] for row in installed.sql("DESCRIBE HISTORY newer").collect()]
        assert operations == [
            "CREATE OR REPLACE TABLE AS SELECT",
            "WRITE",
            "WRITE",
            "WRITE",
            "CREATE TABLE AS SELECT",
        ]
    finally:
        installed.sql("DROP TABLE IF EXISTS newer")


def test_a_table_without_a_format_has_that_of_the_session(installed: SparkSession) -> None:
    installed.conf.set("spark.sql.sources.default", "delta")

    try:
        installed.sql("CREATE TABLE unsaid (id INT, part INT) PARTITIONED BY (part)")
        installed.sql("INSERT INTO unsaid VALUES (1, 2)")
        installed.sql("CREATE TABLE unsaid_rows AS SELECT 1 AS id")
        installed.sql("CREATE OR REPLACE TABLE unsaid_rows AS SELECT 2 AS id")

        made = [truckee.DeltaTable.forName(installed, name) for name in ("unsaid", "unsaid_rows")]
        assert [table.toDF().collect() for table in made] == [[(1, 2)], [(2,)]]
        assert made[0].detail().collect()[0]["partitionColumns"] == ["part"]
    finally:
        installed.conf.unset("spark.sql.sources.default")
        for name in ("unsaid", "unsaid_rows"):
            installed.sql(f"DROP TABLE IF EXISTS {name}")


def test_a_thread_appends_to_a_table_by_name(installed: SparkSession) -> None:
    rows = installed.range(2).withColumn("part", F.lit(1)).write.format("delta")
    rows.partitionBy("part").saveAsTable("threaded")

    def append() -> None:
        more = installed.range(2, 4).withColumn("part", F.lit(2)).write.format("delta")
        more.mode("append").partitionBy("part").saveAsTable("threaded")

    try:
        with ThreadPoolExecutor(1) as threads:
            threads.submit(append).result()
        assert ids(installed.table("threaded").collect()) == [0, 1, 2, 3]
    finally:
        installed.sql("DROP TABLE threaded")


def test_a_session_has_the_extensions_that_it_was_given(installed: SparkSession) -> None:
    given = "io.delta.sql.DeltaSparkSessionExtension"

    try:
        started = SparkSession.builder.config("spark.sql.extensions", given).getOrCreate()
        assert started.conf.get("spark.sql.extensions") == given
    finally:
        installed._jsparkSession.sessionState().conf().unsetConf("spark.sql.extensions")


def test_packages_of_delta_spark_are_not_fetched(installed: SparkSession) -> None:
    named = "io.delta:delta-core_2.12:2.4.0"
    builder = SparkSession.builder.config("spark.jars.packages", named)

    with pytest.warns(UserWarning, match="is left out of") as caught:
        started = builder.getOrCreate()

    assert [str(warning.message) for warning in caught] == [
        f"{named} is left out of spark.jars.packages, since "
        "truckee.install() takes its place; call truckee.uninstall() first to use it"
    ]
    assert "spark.jars.packages" not in builder._options
    assert started.range(1).count() == 1


def test_everything_is_put_back() -> None:
    before = {name: module for name, module in sys.modules.items() if name.startswith("delta.")}
    start = SparkSession.Builder.getOrCreate

    truckee.install()
    truckee.install()
    assert SparkSession.Builder.getOrCreate is not start
    truckee.uninstall()
    truckee.uninstall()

    assert SparkSession.Builder.getOrCreate is start
    assert before == {n: m for n, m in sys.modules.items() if n.startswith("delta.")}


def test_a_delta_jar_is_told_in_a_sentence() -> None:
    error = DeltaJarPresentError(jar="file:/jars/delta-spark.jar")

    assert error.sentence() == (
        'format("delta") cannot be taken over, because Delta\'s own JAR is on the class path: '
        "file:/jars/delta-spark.jar\n"
        "hint: take delta-spark out of spark.jars, spark.jars.packages and "
        "spark.sql.extensions, or call truckee.read and truckee.write by name"
    )
