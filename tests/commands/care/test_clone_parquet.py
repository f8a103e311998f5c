"""SHALLOW CLONE of Parquet files, by name and by path."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from truckee.commands.care.clone import CloneRequest
from truckee.commands.care.clone_parquet import clone_parquet
from truckee.doors.enable import enable
from truckee.errors.commands.clone import CloneSourceError, NonEmptyCloneError
from truckee.errors.commands.create import ConversionError
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.protocol.paths import decode_path
from truckee.storage import LocalStorage
from truckee.table import DeltaTable
from writing import rust_rows

SHALLOW = CloneRequest(is_shallow=True)
SOURCE = "files_to_clone"


@pytest.fixture
def session(spark: SparkSession) -> Iterator[SparkSession]:
    enabled = enable(spark)
    yield enabled
    enabled.sql(f"DROP TABLE IF EXISTS {SOURCE}")


def test_a_folder_of_files_is_shared_and_stays_as_it_is(
    session: SparkSession, tmp_path: Path
) -> None:
    folder = tmp_path / "files"
    session.range(0, 4, 1, 2).selectExpr("id", "id % 2 as p").write.partitionBy("p").parquet(
        str(folder)
    )
    before = sorted(path.name for path in folder.rglob("*.parquet"))

    target = f"{tmp_path}/c"
    [row] = clone_parquet(session, LocalStorage(str(folder)), target, SHALLOW).collect()

    snapshot = load_snapshot(LocalStorage(target))
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    assert tuple(row) == (size, len(before), 0, 0, 0, 0)
    assert snapshot.partition_columns == ("p",)
    assert all(f"{folder}/p=" in decode_path(add.path) for add in snapshot.files())
    assert (snapshot.protocol.min_reader_version, snapshot.protocol.min_writer_version) == (1, 1)
    [entry] = history(LocalStorage(target), None)
    assert (entry.operation, entry.operation_parameters) == (
        "CLONE",
        {"source": f"parquet.`file:{folder}`", "sourceVersion": "-1"},
    )
    table = DeltaTable.forPath(session, target)
    table.delete("id = 1")
    assert sorted(row.id for row in table.toDF().collect()) == [0, 2, 3]
    assert len(rust_rows(target)) == 3
    assert sorted(path.name for path in folder.rglob("*.parquet")) == before


def test_a_table_of_the_catalog_says_the_types_of_its_partitions(
    session: SparkSession, tmp_path: Path
) -> None:
    session.sql(
        f"CREATE TABLE {SOURCE} USING parquet PARTITIONED BY (p) AS SELECT 1L AS id, '07' AS p"
    )

    session.sql(
        f"CREATE TABLE delta.`{tmp_path}/c` SHALLOW CLONE {SOURCE} "
        "TBLPROPERTIES ('delta.appendOnly' = 'true')"
    )

    found = session.read.format("delta").load(f"{tmp_path}/c").collect()
    assert [tuple(row) for row in found] == [(1, "07")]
    [entry] = history(LocalStorage(f"{tmp_path}/c"), None)
    assert (entry.operation_parameters or {})["source"] == f"spark_catalog.default.{SOURCE}"
    assert "appendOnly" in load_snapshot(LocalStorage(f"{tmp_path}/c")).configuration.features
    with pytest.raises(NonEmptyCloneError):
        session.sql(f"REPLACE TABLE delta.`{tmp_path}/c` SHALLOW CLONE {SOURCE}")


@pytest.mark.parametrize("clause", ["DEEP CLONE {}", "SHALLOW CLONE {} VERSION AS OF 0"])
def test_files_have_no_versions_and_are_not_copied(
    session: SparkSession, tmp_path: Path, clause: str
) -> None:
    session.sql(f"CREATE TABLE {SOURCE} USING parquet AS SELECT 1L AS id")

    with pytest.raises(CloneSourceError):
        session.sql(f"CREATE TABLE delta.`{tmp_path}/c` {clause.format(SOURCE)}")

    assert not (tmp_path / "c").exists()


def test_a_folder_without_files_is_refused(session: SparkSession, tmp_path: Path) -> None:
    with pytest.raises(ConversionError):
        clone_parquet(session, LocalStorage(str(tmp_path / "none")), f"{tmp_path}/c", SHALLOW)

    assert not (tmp_path / "c").exists()
