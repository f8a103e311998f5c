"""OPTIMIZE: the same rows in fewer files, and nothing in the feed."""

from __future__ import annotations

from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from dml_tables import FEED, MAPPED, VECTORS, Table, create_table, numbers
from session_settings import set_as
from truckee.table import DeltaTable
from writing import rust_rows


def small_files(
    spark: SparkSession,
    path: Path,
    *,
    num_files: int = 4,
    properties: dict[str, str] | None = None,
    partition_by: tuple[str, ...] = (),
) -> Table:
    """A table of files of ten rows each."""
    table = create_table(
        spark, path, numbers(spark, 0, 10), properties=properties, partition_by=partition_by
    )
    for start in range(10, 10 * num_files, 10):
        table.append(numbers(spark, start, start + 10))
    return table


def opened(table: Table) -> DeltaTable:
    return DeltaTable.forPath(table.spark, str(table.path))


def test_compaction_writes_small_files_together(spark: SparkSession, tmp_path: Path) -> None:
    table = small_files(spark, tmp_path / "t", properties=FEED)
    before, sizes = table.rows(), [add.size for add in table.snapshot.files()]

    [row] = opened(table).optimize().executeCompaction().collect()

    assert table.rows() == before
    assert len(rust_rows(table.path)) == 40
    [add] = table.snapshot.files()
    assert row.path == str(table.path)
    metrics = row.metrics
    assert (metrics.numFilesAdded, metrics.numFilesRemoved) == (1, 4)
    assert metrics.filesAdded.asDict() == {
        "min": add.size,
        "max": add.size,
        "avg": float(add.size),
        "totalFiles": 1,
        "totalSize": add.size,
    }
    assert metrics.filesRemoved.min == min(sizes)
    assert metrics.filesRemoved.totalSize == sum(sizes)
    assert (metrics.partitionsOptimized, metrics.numBins, metrics.numBatches) == (1, 1, 1)
    assert (metrics.totalConsideredFiles, metrics.totalFilesSkipped) == (4, 0)
    assert (metrics.zOrderStats, metrics.clusteringStats, metrics.deletionVectorStats) == (
        None,
        None,
        None,
    )
    assert (metrics.numTableColumns, metrics.numTableColumnsWithStats) == (3, 3)
    assert table.info.operation == "OPTIMIZE"
    assert table.info.operation_parameters == {
        "predicate": "[]",
        "zOrderBy": "[]",
        "clusterBy": "[]",
        "auto": False,
    }
    assert table.info.isolation_level == "SnapshotIsolation"
    assert not table.info.is_blind_append
    assert table.metrics == {
        "numAddedFiles": "1",
        "numRemovedFiles": "4",
        "minFileSize": str(add.size),
        "p25FileSize": str(add.size),
        "p50FileSize": str(add.size),
        "p75FileSize": str(add.size),
        "maxFileSize": str(add.size),
        "numDeletionVectorsRemoved": "0",
    }
    assert {action.data_change for action in (*table.last.adds, *table.last.removes)} == {False}
    assert table.changes(table.version) == []


def test_a_second_compaction_makes_no_commit(spark: SparkSession, tmp_path: Path) -> None:
    table = small_files(spark, tmp_path / "t")
    opened(table).optimize().executeCompaction()
    version = table.version

    [row] = opened(table).optimize().executeCompaction().collect()

    assert table.version == version
    assert (row.metrics.numFilesAdded, row.metrics.numBins, row.metrics.numBatches) == (0, 0, 1)
    assert (row.metrics.filesAdded.min, row.metrics.filesAdded.avg) == (None, 0.0)
    assert (row.metrics.totalConsideredFiles, row.metrics.totalFilesSkipped) == (1, 1)


def test_each_partition_is_compacted_by_itself_and_where_chooses_among_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = small_files(spark, tmp_path / "t", partition_by=("part",))
    table.append(numbers(spark, 100, 104).selectExpr("id", "v", "cast(null as int) part"))
    table.append(numbers(spark, 104, 108).selectExpr("id", "v", "cast(null as int) part"))
    before = table.rows()
    untouched = [f.path for f in table.snapshot.files() if f.partition_values["part"] != "1"]

    [row] = (
        opened(table).optimize().where("part = 1").where("part > 0").executeCompaction().collect()
    )

    assert table.rows() == before
    assert row.metrics.partitionsOptimized == 1
    assert (row.metrics.numFilesAdded, row.metrics.numFilesRemoved) == (1, 4)
    assert row.metrics.totalConsideredFiles == 4
    assert set(untouched) < {file.path for file in table.snapshot.files()}
    assert table.info.operation_parameters["predicate"] == '["(\'part = 1)","(\'part > 0)"]'

    opened(table).optimize().executeCompaction()

    assert table.rows() == before
    values = sorted(str(file.partition_values["part"]) for file in table.snapshot.files())
    assert values == ["0", "1", "None"]


def test_files_are_no_larger_than_asked_for(spark: SparkSession, tmp_path: Path) -> None:
    table = small_files(spark, tmp_path / "t", num_files=6)
    size = max(file.size for file in table.snapshot.files())
    before = table.rows()

    with set_as(spark, {"spark.databricks.delta.optimize.maxFileSize": str(2 * size)}):
        opened(table).optimize().executeCompaction()

    assert table.rows() == before
    assert table.snapshot.num_files == 3


def test_the_table_may_say_how_large_files_become(spark: SparkSession, tmp_path: Path) -> None:
    table = small_files(spark, tmp_path / "t", properties={"delta.targetFileSize": "3kb"})
    assert all(1024 < file.size < 1536 for file in table.snapshot.files())

    opened(table).optimize().executeCompaction()

    assert table.snapshot.num_files == 2


def test_batches_are_commits_of_their_own(spark: SparkSession, tmp_path: Path) -> None:
    table = small_files(spark, tmp_path / "t", partition_by=("part",))
    before, version = table.rows(), table.version

    with set_as(spark, {"spark.databricks.delta.optimize.batchSize": "1"}):
        [row] = opened(table).optimize().executeCompaction().collect()

    assert (table.version, row.metrics.numBatches) == (version + 2, 2)
    assert table.rows() == before


@pytest.mark.parametrize("mapping", [{}, MAPPED], ids=["plain", "mapped"])
def test_deleted_rows_are_left_out_and_vectors_go(
    spark: SparkSession, tmp_path: Path, mapping: dict[str, str]
) -> None:
    table = small_files(spark, tmp_path / "t", properties=VECTORS | FEED | mapping)
    opened(table).delete("id % 10 < 3")
    before = table.rows()

    [row] = opened(table).optimize().executeCompaction().collect()

    assert table.rows() == before
    assert len(rust_rows(table.path)) == 28
    [add] = table.snapshot.files()
    assert add.deletion_vector is None
    assert all(remove.deletion_vector is not None for remove in table.last.removes)
    assert row.metrics.deletionVectorStats.asDict() == {
        "numDeletionVectorsRemoved": 4,
        "numDeletionVectorRowsRemoved": 12,
    }
    assert table.changes(table.version) == []


def test_a_file_with_many_deleted_rows_is_not_rewritten_alone(
    spark: SparkSession, tmp_path: Path
) -> None:
    table = small_files(spark, tmp_path / "t", num_files=1, properties=VECTORS)
    opened(table).delete("id < 5")
    version = table.version

    opened(table).optimize().executeCompaction()

    assert table.version == version


def test_an_append_only_table_may_be_compacted(spark: SparkSession, tmp_path: Path) -> None:
    table = small_files(spark, tmp_path / "t", properties={"delta.appendOnly": "true"})
    before = table.rows()

    opened(table).optimize().executeCompaction()

    assert (table.rows(), table.snapshot.num_files) == (before, 1)


def test_rows_keep_their_ids(spark: SparkSession, tmp_path: Path) -> None:
    properties = {"delta.enableRowTracking": "true"}
    table = small_files(spark, tmp_path / "t", num_files=3, properties=properties)
    opened(table).update("id % 10 = 1", {"v": "-1"})
    before = row_ids(table)

    opened(table).optimize().executeCompaction()

    assert table.snapshot.num_files == 1
    assert row_ids(table) == before


def row_ids(table: Table) -> list[tuple[object, ...]]:
    """The rows with the ids and versions that the protocol gives them."""
    from truckee.spark.dml.target import Target

    target = Target(table.spark, table.snapshot)
    with target.only(table.snapshot.files()) as rows:
        columns = [target.old(name) for name in target.stored_schema.names]
        return sorted(tuple(row) for row in rows.select(*columns).collect())
