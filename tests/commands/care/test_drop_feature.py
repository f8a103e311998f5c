"""DROP FEATURE: the table stops using the feature first."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import staging
from dml_tables import FEED, VECTORS, Table, create_table, numbers
from truckee.care.health.findings import Severity
from truckee.commands.care import drop_feature as drop_feature_module
from truckee.commands.care.drop_feature import drop_feature
from truckee.commands.ddl.alter_properties import set_properties
from truckee.errors.commands.drop_feature import (
    AbsentFeatureDropError,
    FeatureDropError,
    FeatureRetentionError,
    HistoryTruncationError,
)
from truckee.log.files.history import history
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import Protocol, RemoveFile
from truckee.protocol.paths import LogFileKind
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
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


def test_rows_lose_their_ids_before_row_tracking_goes(spark: SparkSession, tmp_path: Path) -> None:
    tracked = FEED | {"delta.enableRowTracking": "true"}
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=tracked)
    opened(table).update("id = 1", {"v": "-1"})
    before = table.rows()

    opened(table).dropFeatureSupport("rowTracking")

    assert operations(table)[2:] == [
        "SET TBLPROPERTIES",
        "ROW TRACKING UNBACKFILL",
        "DROP FEATURE",
    ]
    assert (table.rows(), table.changes(2)) == (before, [])
    assert {add.base_row_id for add in table.snapshot.files()} == {None}
    assert table.snapshot.metadata.configuration == FEED
    assert dict(table.snapshot.domain_metadata) == {}
    assert "rowTracking" not in table.snapshot.configuration.features
    assert len(rust_rows(table.path)) == 4

    opened(table).dropFeatureSupport("domainMetadata")
    opened(table).setProperties({"delta.enableRowTracking": "true"})

    ids = opened(table).toDF().select("_metadata.row_id").collect()
    assert sorted(row_id for (row_id,) in ids) == [0, 1, 2, 3]


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


def made(path: Path, **properties: str) -> LocalStorage:
    """Make a table of one file without Spark."""
    storage = LocalStorage(str(path))
    staging.create_table(storage, staging.metadata(properties=properties), staging.add("a"))
    return storage


def test_v2_checkpoints_are_switched_off_and_replaced(spark: SparkSession, tmp_path: Path) -> None:
    storage = made(tmp_path / "t", **{"delta.checkpointPolicy": "v2"})
    write_checkpoint(load_snapshot(storage))

    drop_feature(spark, storage, "v2Checkpoint")

    found = load_snapshot(storage)
    assert [entry.operation for entry in history(storage)] == [
        "DROP FEATURE",
        "SET TBLPROPERTIES",
        "CREATE TABLE",
    ]
    assert "v2Checkpoint" not in found.configuration.features
    assert found.properties.checkpoint_policy == "classic"
    classic = [load_snapshot(storage, v).segment.checkpoint for v in (1, 2)]
    assert [c and (c.version, c.kind) for c in classic] == [
        (1, LogFileKind.CHECKPOINT),
        (2, LogFileKind.CHECKPOINT),
    ]


def test_in_commit_timestamps_are_switched_off(spark: SparkSession, tmp_path: Path) -> None:
    storage = made(tmp_path / "t")
    set_properties(storage, {"delta.enableInCommitTimestamps": "true"})

    drop_feature(spark, storage, "inCommitTimestamp")

    found = load_snapshot(storage)
    unset = history(storage)[1]
    assert (unset.operation, unset.operation_parameters) == (
        "UNSET TBLPROPERTIES",
        {
            "properties": '["delta.inCommitTimestampEnablementTimestamp",'
            '"delta.inCommitTimestampEnablementVersion","delta.enableInCommitTimestamps"]',
            "ifExists": "true",
        },
    )
    assert found.metadata.configuration == {"delta.enableInCommitTimestamps": "false"}
    assert found.protocol == Protocol(min_reader_version=1, min_writer_version=2)


def test_widening_that_widened_nothing_is_switched_off(spark: SparkSession, tmp_path: Path) -> None:
    storage = made(tmp_path / "t", **{"delta.enableTypeWidening": "true"})

    drop_feature(spark, storage, "typeWidening")

    assert [entry.operation for entry in history(storage)][:2] == [
        "DROP FEATURE",
        "UNSET TBLPROPERTIES",
    ]


def test_widened_columns_are_rewritten_before_the_feature_goes(
    spark: SparkSession, tmp_path: Path
) -> None:
    widening = {"delta.enableTypeWidening": "true"}
    rows = numbers(spark, 0, 6).selectExpr("id", "v", "struct(part AS x, array(part) AS l) s")
    table = create_table(spark, tmp_path / "t", rows, properties=VECTORS | FEED | widening)
    name = f"delta.`{table.path}`"
    for column in ("v", "s.x", "s.l.element"):
        spark.sql(f"ALTER TABLE {name} ALTER COLUMN {column} TYPE BIGINT")
    table.append(spark.sql("SELECT 6L id, 1L << 40 v, struct(1L AS x, array(2L) AS l) s"))
    [wide] = [action.path for action in table.last.adds]
    opened(table).delete("id = 3")
    before = table.rows()

    spark.sql(f"ALTER TABLE {name} DROP FEATURE typeWidening")

    assert operations(table)[-4:] == [
        "UNSET TBLPROPERTIES",
        "REORG",
        "DROP FEATURE",
        "DROP FEATURE",
    ]
    assert table.rows() == before
    assert table.rows(0)[3] == (3, 30, (1, [1]))
    assert [row[0] for row in table.changes(4)] == [3, 6]
    assert wide in {add.path for add in table.snapshot.files()}
    assert "typeChanges" not in table.snapshot.metadata.schema_string
    assert "typeWidening" not in table.snapshot.configuration.features
    assert len(rust_rows(table.path)) == 6
    stored = [pq.read_schema(table.path / add.path) for add in table.snapshot.files()]
    assert {schema.field("v").type for schema in stored} == {pa.int64()}


def test_files_that_a_restore_brings_back_are_rewritten_again(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widening = {"delta.enableTypeWidening": "true"}
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=widening)
    spark.sql(f"ALTER TABLE delta.`{table.path}` ALTER COLUMN v TYPE BIGINT")
    opened(table).unsetProperties("delta.enableTypeWidening")
    before = table.rows()
    widen = drop_feature_module.widen_files

    def widen_and_restore(spark: SparkSession, storage: Storage) -> None:
        widen(spark, storage)
        monkeypatch.undo()
        opened(table).restoreToVersion(2)

    monkeypatch.setattr(drop_feature_module, "widen_files", widen_and_restore)
    opened(table).dropFeatureSupport("typeWidening")

    assert operations(table)[3:] == ["REORG", "RESTORE", "REORG", "DROP FEATURE", "DROP FEATURE"]
    assert table.rows() == before
    stored = [pq.read_schema(table.path / add.path) for add in table.snapshot.files()]
    assert {schema.field("v").type for schema in stored} == {pa.int64()}


def test_the_feature_stays_while_files_need_it(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    widening = {"delta.enableTypeWidening": "true"}
    table = create_table(spark, tmp_path / "t", numbers(spark, 0, 4), properties=widening)
    spark.sql(f"ALTER TABLE delta.`{table.path}` ALTER COLUMN v TYPE BIGINT")
    attempts: list[Storage] = []
    monkeypatch.setattr(drop_feature_module, "widen_files", lambda _, at: attempts.append(at))

    with pytest.raises(FeatureDropError, match="the table uses it"):
        opened(table).dropFeatureSupport("typeWidening")

    assert len(attempts) == 3
    assert "typeWidening" in table.snapshot.configuration.features
    assert "typeChanges" in table.snapshot.metadata.schema_string


def test_a_drop_that_is_refused_switches_nothing_off(spark: SparkSession, tmp_path: Path) -> None:
    storage = made(tmp_path / "t", **{"delta.enableInCommitTimestamps": "true"})

    with pytest.raises(HistoryTruncationError):
        drop_feature(spark, storage, "inCommitTimestamp", truncates=True)

    assert load_snapshot(storage).version == 0
