from __future__ import annotations

from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from truckee.doors.enable import enable
from truckee.log.files.history import history
from truckee.options.delta_settings import UnusedSettingWarning
from truckee.spark.session.settings import LAST_COMMIT, USER_METADATA
from truckee.storage import open_storage
from truckee.table import DeltaTable
from truckee.writer import write


def test_a_session_knows_the_version_that_it_committed_last(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = enable(spark.newSession())
    other = spark.newSession()
    path = str(tmp_path / "t")

    before = session.conf.get(LAST_COMMIT, None)
    session.range(3).write.format("delta").save(path)
    written = session.conf.get(LAST_COMMIT)
    session.sql(f"DELETE FROM delta.`{path}` WHERE id = 1")
    deleted = session.conf.get(LAST_COMMIT)
    session.sql(f"DELETE FROM delta.`{path}` WHERE id = 7")
    session.sql(f"ALTER TABLE delta.`{path}` SET TBLPROPERTIES ('k' = 'v')")
    altered = session.sql(f"SET {LAST_COMMIT}").first()

    assert (before, written, deleted) == (None, "0", "1")
    assert altered is not None
    assert altered["value"] == "2"
    assert other.conf.get(LAST_COMMIT, None) is None


def test_a_commit_is_told_to_the_session_of_its_command(
    spark: SparkSession, tmp_path: Path
) -> None:
    first, second = spark.newSession(), spark.newSession()
    path = str(tmp_path / "t")
    first.range(3).write.format("delta").save(path)
    table = DeltaTable.forPath(first, path)
    DeltaTable.forPath(second, path)

    in_a_thread = Thread(target=table.delete, args=("id = 1",))
    in_a_thread.start()
    in_a_thread.join()

    assert first.conf.get(LAST_COMMIT) == "1"
    assert second.conf.get(LAST_COMMIT, None) is None


def test_each_command_of_a_table_commits_for_the_session_of_the_table(
    spark: SparkSession, tmp_path: Path
) -> None:
    active, own = spark, spark.newSession()
    own.conf.set(USER_METADATA, "own")
    before = active.conf.get(LAST_COMMIT, None)
    path, copy, parquet = (str(tmp_path / name) for name in ("t", "copy", "parquet"))
    own.range(2).write.parquet(parquet)
    active.createDataFrame([(1,)], "id int")  # which makes this session the active one
    found = SparkSession.getActiveSession()
    assert found is not None
    assert found._jsparkSession.equals(active._jsparkSession)

    DeltaTable.create(own).location(path).addColumn("id", "bigint").execute()
    table = DeltaTable.forPath(own, path)
    write(own.range(9)).mode("append").save(path)
    write(own.range(9, 12)).mode("append").save(path)
    table.optimize().executeCompaction()
    table.delete("id = 1")
    table.restoreToVersion(1)
    table.upgradeTableProtocol(1, 4)
    table.addFeatureSupport("deletionVectors")
    table.dropFeatureSupport("deletionVectors")
    table.clone(copy)
    DeltaTable.convertToDelta(own, f"parquet.`{parquet}`")

    texts = {
        (entry.operation, entry.user_metadata)
        for each in (path, copy, parquet)
        for entry in history(open_storage(each), None)
    }
    assert {text for _, text in texts} == {"own"}
    assert {operation for operation, _ in texts} == {
        *("CREATE TABLE", "WRITE", "OPTIMIZE", "DELETE", "RESTORE", "SET TBLPROPERTIES"),
        *("DROP FEATURE", "CLONE", "CONVERT"),
    }
    assert own.conf.get(LAST_COMMIT) == "0"
    assert active.conf.get(LAST_COMMIT, None) == before


def test_a_setting_without_effect_is_told(spark: SparkSession, tmp_path: Path) -> None:
    session = enable(spark.newSession())
    session.conf.set("spark.databricks.delta.checkpoint.partSize", "10")

    with pytest.warns(UnusedSettingWarning, match="partSize has no effect.*one file"):
        session.range(3).write.format("delta").save(str(tmp_path / "t"))


def test_the_text_of_a_session_is_in_each_of_its_commits(
    spark: SparkSession, tmp_path: Path
) -> None:
    session = enable(spark.newSession())
    table = f"delta.`{tmp_path / 't'}`"
    session.conf.set(USER_METADATA, "by night")

    session.sql(f"CREATE TABLE {table} (id INT) USING delta")
    session.sql(f"INSERT INTO {table} VALUES (1), (2)")
    session.sql(f"ALTER TABLE {table} SET TBLPROPERTIES ('k' = 'v')")
    session.sql(f"ALTER TABLE {table} ADD CONSTRAINT positive CHECK (id > 0)")
    session.sql(f"DELETE FROM {table} WHERE id = 1")
    session.sql(f"RESTORE TABLE {table} TO VERSION AS OF 3")
    session.range(1).selectExpr("5 AS id").write.format("delta").mode("append").option(
        "userMetadata", "by hand"
    ).save(str(tmp_path / "t"))
    session.conf.unset(USER_METADATA)
    session.sql(f"TRUNCATE TABLE {table}")
    told = session.sql(f"DESCRIBE HISTORY {table}").orderBy("version").collect()

    assert [row["userMetadata"] for row in told] == ["by night"] * 6 + ["by hand", None]
