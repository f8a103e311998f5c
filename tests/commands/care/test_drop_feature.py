"""DROP FEATURE deletionVectors: the table stops using vectors first."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dml_tables import FEED, VECTORS, Table, create_table, numbers
from truckee.care.health.findings import Severity
from truckee.errors.commands.alter import AbsentFeatureDropError, FeatureRetentionError
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.protocol.actions import RemoveFile
from truckee.table import DeltaTable
from writing import rust_rows


def opened(table: Table) -> DeltaTable:
    return DeltaTable.forPath(table.spark, str(table.path))


def operations(table: Table) -> list[str | None]:
    return [entry.operation for entry in history(table.storage, None)][::-1]


def test_vectors_are_switched_off_and_purged_before_the_feature_goes(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS | FEED)
    opened(table).delete("id in (3, 4)")
    [vector] = [name for name in table.files_on_disk() if name.endswith(".bin")]
    before = table.rows()

    opened(table).dropFeatureSupport("deletionVectors")

    assert operations(table)[2:] == [
        "UNSET TBLPROPERTIES",
        "REORG",
        "Deletion Vector Tombstones",
        "DROP FEATURE",
    ]
    assert table.rows() == before
    assert table.rows(1) == before
    assert table.changes(2) == []
    assert len(rust_rows(table.path)) == 8
    assert "deletionVectors" not in table.snapshot.configuration.features
    assert table.snapshot.metadata.configuration == {
        "delta.enableChangeDataFeed": "true",
        "delta.requireCheckpointProtectionBeforeVersion": "5",
    }
    [kept] = [remove for remove in table.snapshot.tombstones() if remove.path.endswith(".bin")]
    assert kept == RemoveFile(
        path=vector, deletion_timestamp=kept.deletion_timestamp, data_change=False
    )
    assert [f for f in opened(table).doctor().findings if f.severity is Severity.ERROR] == []

    opened(table).delete("id = 5")

    assert all(add.deletion_vector is None for add in table.snapshot.files())


def test_a_table_without_vectors_is_only_switched_off(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS)
    files = {add.path for add in table.snapshot.files()}

    spark.sql(f"ALTER TABLE delta.`{table.path}` DROP FEATURE deletionVectors")

    assert operations(table)[1:] == ["UNSET TBLPROPERTIES", "DROP FEATURE"]
    assert {add.path for add in table.snapshot.files()} == files


def test_truncating_history_switches_off_and_then_waits(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10), properties=VECTORS)
    opened(table).delete("id = 3")

    with pytest.raises(FeatureRetentionError):
        opened(table).dropFeatureSupport("deletionVectors", truncateHistory=True)

    assert operations(table)[2:] == [
        "UNSET TBLPROPERTIES",
        "REORG",
        "Deletion Vector Tombstones",
        "Empty Commit",
    ]
    assert not load_snapshot(table.storage).properties.enable_deletion_vectors


def test_a_table_without_the_feature_is_left_alone(spark: SparkSession, tmp_path: Path) -> None:
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 10))

    with pytest.raises(AbsentFeatureDropError):
        opened(table).dropFeatureSupport("deletionVectors")

    assert table.version == 0
