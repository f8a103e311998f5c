"""What the driver sends to a task that reads files: as much for a large table as for a small one.

Spark sends the plan of a stage once to each executor, and to each task the files that it reads. A
table has more tasks if it has more files, but none of them may become larger. Nothing is read here:
the files and vectors that the logs name do not exist.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

import truckee
from builders import history
from session_settings import set_as
from staging import metadata
from truckee.log.snapshot import load_snapshot
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.spark.dml.target import Target
from truckee.storage.local import LocalStorage

_FILE_BYTES = 1 << 20
# Ids of broadcasts and numbers of partitions have some digits more in a large table.
_TOLERANCE = 64


@pytest.fixture
def one_file_a_task(spark: SparkSession) -> Iterator[SparkSession]:
    with set_as(spark, {"spark.sql.files.maxPartitionBytes": str(_FILE_BYTES)}):
        yield spark


def marked_table(folder: Path, num_files: int) -> str:
    """Write the log of a table: version 1 marks a fifth of the rows of every file."""
    vector = DeletionVectorDescriptor(
        storage_type="u",
        path_or_inline_dv="ab^-aqEH.-t@S}K{vb[*k^",
        offset=1,
        size_in_bytes=40_000,
        cardinality=20_000,
    )
    properties = {"delta.enableChangeDataFeed": "true"}
    made = history(LocalStorage(str(folder))).stage(metadata(properties=properties))
    paths = [f"part-{number:05}.parquet" for number in range(num_files)]
    stats = '{"numRecords":100000}'
    for path in paths:
        made.add(path, size=_FILE_BYTES, stats=stats)
    made.then()
    for path in paths:
        made.remove(path).add(path, size=_FILE_BYTES, stats=stats, deletion_vector=vector)
    made.commit()
    return str(folder)


def snapshot_rows(spark: SparkSession, table: str) -> DataFrame:
    return truckee.read(spark).load(table)


def feed_rows(spark: SparkSession, table: str) -> DataFrame:
    return truckee.table_changes(spark, table, 1)


def target_rows(spark: SparkSession, table: str) -> DataFrame:
    return Target(spark, load_snapshot(LocalStorage(table))).rows


def bytes_sent(frame: DataFrame) -> tuple[int, int, int]:
    """Return the size of the stage's plan, the size of its largest task, and how many tasks."""
    rows = frame._jdf.queryExecution().toRdd()
    jvm = frame.sparkSession._jvm
    settings = frame.sparkSession._jsparkSession.sparkContext().getConf()
    # What Spark sends plans and tasks by, whatever the settings say.
    serializer = jvm.org.apache.spark.serializer.JavaSerializer(settings).newInstance()
    tag = jvm.scala.reflect.ClassTag.AnyRef()
    plan = serializer.serialize(rows, tag).limit()
    tasks = [serializer.serialize(part, tag).limit() for part in rows.partitions()]
    return plan, max(tasks), len(tasks)


@pytest.mark.parametrize("rows_of", [snapshot_rows, feed_rows, target_rows])
def test_a_task_is_no_larger_for_a_table_of_a_thousand_files_with_vectors(
    one_file_a_task: SparkSession,
    tmp_path: Path,
    rows_of: Callable[[SparkSession, str], DataFrame],
) -> None:
    small = rows_of(one_file_a_task, marked_table(tmp_path / "small", 10))
    large = rows_of(one_file_a_task, marked_table(tmp_path / "large", 1_000))

    small_plan, small_task, small_count = bytes_sent(small)
    large_plan, large_task, large_count = bytes_sent(large)

    assert (small_count, large_count) == (10, 1_000)
    assert large_plan <= small_plan + _TOLERANCE
    assert large_task <= small_task + _TOLERANCE
