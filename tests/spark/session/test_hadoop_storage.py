"""Tables through Hadoop's file system classes, on a real one: `viewfs`, with a disk mounted.

HDFS itself needs servers that Spark's JARs do not bring. What is said of it is the choice of the
rename, and the refusal of file systems of which nothing is known.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from contracts.storage import StorageContract
from session_settings import set_as
from truckee import DeltaTable
from truckee.care.vacuum.plan import VacuumMode
from truckee.commands.care.vacuum import vacuum
from truckee.errors import (
    InvalidUrlError,
    NoAtomicRenameError,
    PathOutsideTableError,
    StorageError,
    StoragePermissionError,
)
from truckee.readwriter import read
from truckee.spark.session.hadoop_storage import ATOMIC_RENAME, HadoopStorage
from truckee.spark.session.settings import session_storage
from truckee.sql.grammar import parsed_statement
from truckee.sql.run import run_statement
from truckee.storage import Storage
from truckee.writer import write


@pytest.fixture
def lake(spark: SparkSession, tmp_path: Path) -> Iterator[str]:
    """Return a `viewfs` URL below which lies a folder of this disk."""
    name = f"lake{abs(hash(str(tmp_path)))}"
    (tmp_path / "mounted").mkdir()
    link = f"fs.viewfs.mounttable.{name}.link./data"
    with set_as(spark, {link: f"file://{tmp_path}/mounted"}):
        spark.sparkContext._jsc.hadoopConfiguration().set(link, f"file://{tmp_path}/mounted")
        yield f"viewfs://{name}/data"


class TestHadoopStorage(StorageContract):
    @pytest.fixture
    def storage(self, spark: SparkSession, lake: str) -> HadoopStorage:
        return HadoopStorage(spark, f"{lake}/t")

    # Hadoop takes no colon in a name, and Spark escapes it in the names of partitions.
    @pytest.mark.parametrize(
        "name", ["a b", "a%20b", "p=x%3Ay/f", "ünï/ço∂é", "a+b&c=d", "q?x#y", "(1)[2]{3}~'\"", ".x"]
    )
    def test_names_are_taken_letter_for_letter(self, storage: Storage, name: str) -> None:
        super().test_names_are_taken_letter_for_letter(storage, name)


def test_a_table_lives_in_a_file_system_that_only_hadoop_reaches(
    spark: SparkSession, lake: str, tmp_path: Path
) -> None:
    url = f"{lake}/orders"
    rows = spark.range(10).selectExpr("id", "cast(id % 2 as int) p")
    write(rows.coalesce(1)).partitionBy("p").option("delta.enableDeletionVectors", "true").option(
        "delta.enableChangeDataFeed", "true"
    ).save(url)
    write(rows.selectExpr("id + 10 id", "p").coalesce(1)).mode("append").save(url)

    table = DeltaTable.forPath(spark, url)
    table.delete("id = 3")
    table.update("id = 4", {"id": "40"})
    source = spark.createDataFrame([(5, 50), (99, 99)], "id bigint, other bigint")
    table.alias("t").merge(source.alias("s"), "t.id = s.id").whenMatchedUpdate(
        set={"id": "s.other"}
    ).whenNotMatchedInsert(values={"id": "s.id", "p": "1"}).execute()
    table.optimize().executeCompaction()

    expected = sorted([*(set(range(20)) - {3, 4, 5}), 40, 50, 99])
    assert sorted(row.id for row in table.toDF().collect()) == expected
    assert sorted(row.id for row in read(spark).load(url).collect()) == expected
    kinds = [row._change_type for row in table.changes(startingVersion=2).collect()]
    assert sorted(kinds) == sorted(
        ["delete", "insert", *["update_preimage", "update_postimage"] * 2]
    )
    statement = parsed_statement(f"DESCRIBE HISTORY delta.`{url}`")
    assert statement is not None
    assert [row.version for row in run_statement(spark, statement).collect()] == [5, 4, 3, 2, 1, 0]
    assert (tmp_path / "mounted" / "orders" / "_delta_log").is_dir()


def test_a_vacuum_deletes_through_hadoop(spark: SparkSession, lake: str, tmp_path: Path) -> None:
    url = f"{lake}/t"
    write(spark.range(3).coalesce(1)).save(url)
    write(spark.range(3).coalesce(1)).mode("overwrite").save(url)
    storage = session_storage(spark, url)
    with set_as(spark, {"spark.databricks.delta.retentionDurationCheck.enabled": "false"}):
        vacuum(spark, storage, retention_hours=0, mode=VacuumMode.FULL)

    files = list((tmp_path / "mounted" / "t").rglob("*.parquet"))
    assert len([file for file in files if "_delta_log" not in file.parts]) == 1
    assert DeltaTable.forPath(spark, url).toDF().count() == 3


def test_a_scheme_that_hadoop_has_not_heard_of_is_refused(spark: SparkSession) -> None:
    with pytest.raises(InvalidUrlError, match="cannot open 'unheard-of://host/t': "):
        session_storage(spark, "unheard-of://host/t")


# Invariant 51.
def test_a_commit_is_refused_where_two_writers_could_both_win(
    spark: SparkSession, lake: str
) -> None:
    above = lake.removesuffix("/data")  # beside the mount, where viewfs has no store of its own
    storage = session_storage(spark, f"{above}/t")

    with pytest.raises(NoAtomicRenameError) as caught:
        storage.put_if_absent("a", b"1")
    with pytest.raises(StoragePermissionError):  # on the word of the user it is tried
        session_storage(spark, f"{above}/t", {ATOMIC_RENAME: "ViewFS"}).put_if_absent("a", b"1")

    assert caught.value.sentence() == (
        f"{above}/t cannot be written: viewfs is not known to prevent two writers from "
        "committing the same version\n"
        f"hint: name viewfs in {ATOMIC_RENAME} if its rename fails where the target exists, for "
        "all clients at once"
    )


def test_links_are_not_followed_and_nothing_behind_one_is_deleted(
    spark: SparkSession, lake: str, tmp_path: Path
) -> None:
    storage = HadoopStorage(spark, f"{lake}/t")
    storage.write("a", b"1")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "kept").write_bytes(b"2")
    (tmp_path / "mounted" / "t" / "link").symlink_to(tmp_path / "elsewhere")

    assert [file.path for file in storage.list_tree("")] == ["a"]
    with pytest.raises(Exception, match="outside the table"):
        storage.delete("link/kept")
    assert (tmp_path / "elsewhere" / "kept").exists()


def test_a_fence_stands_around_it_too(spark: SparkSession, lake: str) -> None:
    storage = session_storage(spark, f"{lake}/t", {"spark.truckee.read.onlyBelowRoot": "true"})

    with pytest.raises(PathOutsideTableError):
        storage.read(f"{lake}/other/a")


def test_a_size_in_the_log_that_is_absurd_costs_no_tasks(
    spark: SparkSession, lake: str, tmp_path: Path
) -> None:
    url = f"{lake}/t"
    write(spark.range(3).coalesce(1)).save(url)
    commit = tmp_path / "mounted" / "t" / "_delta_log" / f"{0:020d}.json"
    commit.write_text(re.sub(r'"size":\d+', f'"size":{1 << 50}', commit.read_text()))
    (commit.parent / f".{commit.name}.crc").unlink(missing_ok=True)

    found = read(spark).load(url)

    assert found.count() == 3
    assert found.rdd.getNumPartitions() == 1


def test_a_file_that_is_too_large_is_refused_and_not_read(
    spark: SparkSession, lake: str, tmp_path: Path
) -> None:
    storage = session_storage(spark, f"{lake}/t")
    storage.write("a", b"1")
    place = tmp_path / "mounted" / "t" / "a"
    (place.parent / ".a.crc").unlink(missing_ok=True)
    os.truncate(place, 1 << 40)

    with pytest.raises(StorageError, match=r"it has 1099511627776 bytes, more than spark\.truckee"):
        storage.read("a")
    os.truncate(place, 11)
    narrow = session_storage(spark, f"{lake}/t", {"spark.truckee.storage.largestRead": "10"})
    with pytest.raises(StorageError, match=r"it has 11 bytes, more than spark\.truckee"):
        narrow.read("a")
    assert storage.read("a") == b"1" + bytes(10)
