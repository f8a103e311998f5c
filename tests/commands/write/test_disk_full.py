"""A disk that is full: the write fails, the table is what it was, and room is enough to go on.

The disk is a small file system in memory. Without the right to mount one, these are left out.
"""

from __future__ import annotations

import os
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import truckee
from truckee import DeltaTable
from truckee.doors.enable import enable

pytestmark = [pytest.mark.spark, pytest.mark.slow]

MEGABYTE = 1024 * 1024
TEXTS = "concat_ws('', transform(sequence(1, {}), n -> sha2(concat(id, '-', n), 256)))"
Step = Callable[[SparkSession, str], object]


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of six megabytes."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(folder)]
    if os.geteuid() != 0 or subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("a full disk left out: no right to mount a file system")
    yield folder
    # Spark may still have a file of it open.
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def noise(spark: SparkSession, start: int, end: int) -> DataFrame:
    """Rows of about a kilobyte that cannot be compressed."""
    return spark.range(start, end, 1, 2).selectExpr("id", f"{TEXTS.format(24)} AS text")


def append(spark: SparkSession, path: str) -> object:
    truckee.write(noise(spark, 1000, 9000)).mode("append").save(path)
    return None


def overwrite(spark: SparkSession, path: str) -> object:
    truckee.write(noise(spark, 1000, 9000)).mode("overwrite").save(path)
    return None


def update(spark: SparkSession, path: str) -> object:
    return DeltaTable.forPath(spark, path).update(set={"text": TEXTS.format(200)})


def merge(spark: SparkSession, path: str) -> object:
    table = DeltaTable.forPath(spark, path).alias("t")
    merge = table.merge(noise(spark, 500, 9000).alias("s"), "t.id = s.id")
    return merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


def optimize(spark: SparkSession, path: str) -> object:
    fill(Path(path).parent, spare=MEGABYTE)
    return DeltaTable.forPath(spark, path).optimize().executeCompaction()


def stream(spark: SparkSession, path: str) -> object:
    source = f"{Path(path).parents[1]}/source"
    truckee.write(noise(spark, 1000, 9000)).save(source)
    query = (
        spark.readStream.format("delta")
        .load(source)
        .writeStream.format("delta")
        .option("checkpointLocation", f"{Path(path).parents[1]}/checkpoint")
        .trigger(availableNow=True)
        .start(path)
    )
    query.awaitTermination()
    return None


def commit(spark: SparkSession, path: str) -> object:
    """A small change for whose commit there is no room at all."""
    fill(Path(path).parent, spare=0)
    return DeltaTable.forPath(spark, path).delete("id < 100")


def fill(folder: Path, spare: int) -> None:
    """Leave so many bytes of the disk."""
    with (folder / "filler").open("wb") as filler:
        found = os.statvfs(folder)
        filler.write(b"\0" * max(0, found.f_bavail * found.f_frsize - spare))


def make_room(spark: SparkSession, disk: Path) -> None:
    """Have room on the disk.

    Writers of Parquet that fail keep their deleted files open until Java collects its garbage.
    """
    (disk / "filler").unlink(missing_ok=True)
    for _ in range(20):
        spark._jvm.System.gc()  # type: ignore[union-attr]
        found = os.statvfs(disk)
        if found.f_bavail * found.f_frsize > 2 * MEGABYTE:
            return
        time.sleep(0.5)
    raise AssertionError("files that were deleted are still open")


# Invariant 67.
@pytest.mark.parametrize(
    "step", [append, overwrite, update, merge, optimize, stream, commit], ids=lambda f: f.__name__
)
def test_a_write_to_a_full_disk_changes_nothing_and_says_so(
    spark: SparkSession, disk: Path, step: Step
) -> None:
    truckee.install()
    enable(spark)
    path = str(disk / "t")
    for half in (0, 1):
        rows = noise(spark, 500 * half, 500 * half + 500)
        truckee.write(rows.coalesce(1)).mode("append").save(path)
    before = truckee.open(path)
    version, rows_before = before.version, before.to_arrow(columns=["id"]).num_rows

    try:
        with pytest.raises(Exception, match=r"(?i)no space left|disk|cannot write"):
            step(spark, path)

        table = truckee.open(path)
        assert (table.version, table.to_arrow().num_rows) == (version, rows_before)
        named = {file.path for file in table.snapshot().files()}
        left = {str(file.relative_to(path)) for file in Path(path).glob("*.parquet")} - named
        assert left == set()
        make_room(spark, disk)
        DeltaTable.forPath(spark, path).delete("id < 10")
        assert truckee.open(path).to_arrow(columns=["id"]).num_rows == rows_before - 10
    finally:
        truckee.uninstall()
