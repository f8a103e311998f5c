"""What delta-spark commits, truckee's log reads."""

from __future__ import annotations

from pathlib import Path

import pytest

from interop.delta_spark import DeltaSpark
from truckee.log.snapshot import load_snapshot
from truckee.storage import open_storage

pytestmark = pytest.mark.interop


def test_table_of_delta_spark_has_its_files_and_version(
    delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    table = tmp_path / "table"
    delta_spark.write(table, [(1, "a"), (2, "b")], "id long, name string")
    delta_spark.write(table, [(3, "c")], "id long, name string")

    snapshot = load_snapshot(open_storage(str(table)))

    assert snapshot.version == 1
    assert snapshot.num_files == 2
    assert [field.name for field in snapshot.schema.fields] == ["id", "name"]
    assert all((table / add.path).exists() for add in snapshot.files())


def test_delete_of_delta_spark_leaves_a_deletion_vector(
    delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    table = tmp_path / "table"
    delta_spark.write(
        table,
        [(n,) for n in range(10)],
        "id long",
        options={"delta.enableDeletionVectors": "true"},
    )
    delta_spark.sql(f"DELETE FROM delta.`{table}` WHERE id < 3")

    (add,) = load_snapshot(open_storage(str(table))).files()

    assert add.deletion_vector is not None
    assert add.deletion_vector.cardinality == 3
    assert len(delta_spark.read(table)) == 7


def test_snapshot_at_an_older_version_is_what_delta_spark_reads(
    delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    table = tmp_path / "table"
    for n in range(3):
        delta_spark.write(table, [(n,)], "id long")

    snapshot = load_snapshot(open_storage(str(table)), 1)

    assert snapshot.num_files == len(delta_spark.read(table, versionAsOf=1)) == 2


def test_checkpoint_of_delta_spark_is_read(delta_spark: DeltaSpark, tmp_path: Path) -> None:
    table = tmp_path / "table"
    delta_spark.sql(
        f"CREATE TABLE delta.`{table}` (id LONG) USING delta "
        "TBLPROPERTIES ('delta.checkpointInterval' = '3')"
    )
    for n in range(5):
        delta_spark.write(table, [(n,)], "id long")

    snapshot = load_snapshot(open_storage(str(table)))

    assert list((table / "_delta_log").glob("*.checkpoint*.parquet")) != []
    assert (snapshot.version, snapshot.num_files) == (5, 5)
