"""Tables on a real HDFS: everything that is done to a table, and writers that meet."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from uuid import uuid4

import pytest
from pyspark.sql import SparkSession

import truckee
from contracts.storage import StorageContract
from interop.hdfs import hdfs_server
from interop.maven import hadoop_version, maven_jars
from session_settings import set_as
from step_scripts import script_environment
from truckee import DeltaTable
from truckee.doors.enable import enable
from truckee.log.files.commits import read_commits
from truckee.log.snapshot import load_snapshot
from truckee.spark.session.hadoop_storage import HadoopStorage
from truckee.spark.session.settings import session_storage
from truckee.storage import Storage

pytestmark = pytest.mark.interop

APPENDS = Path(__file__).with_name("hdfs_appends.py")
PROCESSES, THREADS, EACH = 2, 3, 5
# The data files are Spark's; HDFS itself says what is in a name, and Hadoop takes no colon.
NAMES = ["a b", "a%20b", "p=x%3Ay/f", "ünï/ço∂é", "a+b&c=d", "q?x#y", "(1)[2]{3}~'\"", ".x"]


@pytest.fixture(scope="module")
def hdfs(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    version = hadoop_version(spark)
    cluster = f"org.apache.hadoop:hadoop-client-minicluster:{version}?transitive=false"
    jars = [
        *maven_jars(spark, cluster),
        *maven_jars(spark, "org.junit.jupiter:junit-jupiter-api:5.13.4"),
    ]
    with hdfs_server(tmp_path_factory.mktemp("hdfs"), jars) as url:
        yield url


class TestHdfsStorage(StorageContract):
    @pytest.fixture
    def storage(self, spark: SparkSession, hdfs: str) -> HadoopStorage:
        return HadoopStorage(spark, f"{hdfs}/contract/{uuid4().hex}")

    @pytest.mark.parametrize("name", NAMES)
    def test_names_are_taken_letter_for_letter(self, storage: Storage, name: str) -> None:
        super().test_names_are_taken_letter_for_letter(storage, name)


def test_everything_that_is_done_to_a_table(spark: SparkSession, hdfs: str) -> None:
    enable(spark)
    url = f"{hdfs}/lake/orders"
    rows = spark.range(0, 20, 1, 2).selectExpr("id", "id % 2 AS p", "'a' AS v")
    properties = {
        "delta.enableDeletionVectors": "true",
        "delta.enableChangeDataFeed": "true",
        "delta.checkpointInterval": "3",
    }
    truckee.write(rows).partitionBy("p").options(**properties).save(url)
    more = spark.range(20, 30, 1, 1).selectExpr("id", "id % 2 AS p", "'b' AS v")
    more.write.format("delta").mode("append").save(url)
    table = DeltaTable.forPath(spark, url)
    table.delete("id % 10 = 3")
    spark.sql(f"UPDATE delta.`{url}` SET v = 'u' WHERE id < 5")
    spark.sql(
        f"MERGE INTO delta.`{url}` t USING (SELECT * FROM VALUES (29, 1, 'm'), (30, 0, 'm') "
        "AS s(id, p, v)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
        "WHEN NOT MATCHED THEN INSERT *"
    )

    # Deleted were 3, 13 and 23; updated 0, 1, 2 and 4; merged 29, and 30 is new.
    expected = sorted(set(range(31)) - {3, 13, 23})
    assert sorted(row.id for row in table.toDF().collect()) == expected
    assert counts(table, "v") == {"a": 14, "b": 8, "u": 4, "m": 2}
    storage = session_storage(spark, url)
    assert any(add.deletion_vector for add in load_snapshot(storage).files())
    names = [file.path for file in storage.list_from("_delta_log/")]
    assert f"_delta_log/{3:020d}.checkpoint.parquet" in names
    assert not [name for name in names if name.endswith(".tmp")]
    feed = table.changes(startingVersion=0).groupBy("_change_type").count().collect()
    changes = {"insert": 31, "delete": 3, "update_preimage": 5, "update_postimage": 5}
    assert dict(feed) == changes

    stream = spark.readStream.format("delta").option("readChangeFeed", "true")
    query = stream.option("startingVersion", "0").option("maxFilesPerTrigger", "2").load(url)
    writer = query.writeStream.format("delta").option("checkpointLocation", f"{hdfs}/lake/seen/at")
    writer.trigger(availableNow=True).start(f"{hdfs}/lake/seen/rows").awaitTermination()
    assert counts(DeltaTable.forPath(spark, f"{hdfs}/lake/seen/rows"), "_change_type") == changes

    spark.sql(f"OPTIMIZE delta.`{url}`")
    spark.sql(f"REORG TABLE delta.`{url}` APPLY (PURGE)")
    before = data_files(storage)
    with set_as(spark, {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}):
        spark.sql(f"VACUUM delta.`{url}` RETAIN 0 HOURS")
    assert data_files(storage) < before
    assert {add.path for add in load_snapshot(storage).files()} <= data_files(storage)
    assert sorted(row.id for row in truckee.read(spark).load(url).collect()) == expected


def counts(table: DeltaTable, column: str) -> dict[str, int]:
    return {row[0]: row[1] for row in table.toDF().groupBy(column).count().collect()}


def data_files(storage: Storage) -> set[str]:
    found = (file.path for file in storage.list_tree(""))
    return {path for path in found if not path.startswith("_delta_log/")}


def test_a_name_in_the_catalog_may_stand_for_a_table_there(spark: SparkSession, hdfs: str) -> None:
    enable(spark)
    spark.sql(f"CREATE TABLE on_hdfs USING delta LOCATION '{hdfs}/lake/named' AS SELECT 1 AS a")
    try:
        spark.sql("INSERT INTO on_hdfs VALUES (2)")

        assert sorted(row.a for row in spark.sql("SELECT * FROM on_hdfs").collect()) == [1, 2]
        assert spark.sql("DESCRIBE DETAIL on_hdfs").collect()[0].location == f"{hdfs}/lake/named"
    finally:
        spark.sql("DROP TABLE on_hdfs")
    assert truckee.read(spark).load(f"{hdfs}/lake/named").count() == 2


def test_one_of_many_wins_each_name(spark: SparkSession, hdfs: str) -> None:
    storages = [HadoopStorage(spark, f"{hdfs}/race") for _ in range(8)]

    def put(number: int, name: str) -> bool:
        try:
            storages[number].put_if_absent(name, f"{number}".encode())
        except FileExistsError:
            return False
        return True

    with ThreadPoolExecutor(len(storages)) as pool:
        for name in (f"{version:020d}.json" for version in range(25)):
            won = list(pool.map(lambda number, at=name: put(number, at), range(len(storages))))
            assert won.count(True) == 1
            assert storages[0].read(name) == f"{won.index(True)}".encode()
    assert len(list(storages[0].list_tree(""))) == 25


def test_drivers_that_meet_make_consecutive_versions_and_lose_nothing(
    spark: SparkSession, hdfs: str
) -> None:
    url = f"{hdfs}/lake/met"
    truckee.write(spark.range(-1, 0, 1, 1)).save(url)
    total = PROCESSES * THREADS * EACH
    firsts = range(0, total, THREADS * EACH)
    drivers = [start(APPENDS, url, first, THREADS, EACH) for first in firsts]
    try:
        for driver in drivers:
            assert driver.stdout is not None
            assert driver.stdout.readline() == "ready\n"
        for driver in drivers:
            assert driver.stdin is not None
            driver.stdin.write("go\n")
            driver.stdin.flush()
        outputs = [driver.communicate(timeout=300)[0] for driver in drivers]
    finally:
        for driver in drivers:
            driver.kill()
            driver.wait()

    assert [driver.returncode for driver in drivers] == [0] * PROCESSES
    acknowledged = sorted(int(number) for output in outputs for number in output.split())
    assert acknowledged == list(range(total))
    commits = list(read_commits(session_storage(spark, url), 0))
    assert [commit.version for commit in commits] == list(range(total + 1))
    found = sorted(row.id for row in truckee.read(spark).load(url).collect())
    assert found == list(range(-1, total))


def start(script: Path, *arguments: object) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, str(script), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=script_environment(),
        text=True,
    )
