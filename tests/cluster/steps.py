"""What users do, on a cluster of two executors in processes of their own; run as a script.

The Python of the executors is what `PYSPARK_PYTHON` names, and has no truckee. With a second
argument, an executor is killed during each step.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import truckee
from step_scripts import print_outcome
from truckee import DeltaTable
from truckee.commands.ddl.alter_constraints import add_constraint
from truckee.commands.dml import marked_files
from truckee.spark.dml import row_bitmaps
from truckee.spark.session.python_workers import workers_have_truckee
from truckee.spark.session.settings import session_storage

PROPERTIES = {"delta.enableDeletionVectors": "true", "delta.enableChangeDataFeed": "true"}


def main(folder: Path, kills: bool) -> None:
    spark = truckee.session(
        "cluster",
        **{
            "master": "local-cluster[2,1,1024]",
            "spark.speculation": "true" if kills else "false",
            "spark.deploy.maxExecutorRetries": "-1",
            "spark.sql.shuffle.partitions": "2",
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.local.dir": str(folder / "local"),
        },
    )
    path = str(folder / "lake" / "orders")
    steps = Steps(spark, path)
    for step in (
        steps.workers,
        steps.write,
        steps.constraint,
        steps.delete,
        steps.update,
        steps.merge,
        steps.read,
        steps.feed,
        steps.stream,
        steps.retry,
        steps.clone,
        steps.stored,
        steps.format,
        steps.shipped,
    ):
        if kills:
            threading.Thread(target=kill_an_executor, args=(spark,), daemon=True).start()
        print_outcome(step.__name__, step())
    spark.stop()


class Steps:
    """The steps, in order; each builds on the table that the ones before it left."""

    def __init__(self, spark: SparkSession, path: str) -> None:
        self.spark = spark
        self.path = path

    @property
    def table(self) -> DeltaTable:
        return DeltaTable.forPath(self.spark, self.path)

    def workers(self) -> Any:
        return workers_have_truckee(self.spark)

    def write(self) -> Any:
        rows = self.spark.range(0, 100, 1, 4).selectExpr("id", "id % 2 AS p", "'a' AS v")
        truckee.write(rows).partitionBy("p").options(**PROPERTIES).save(self.path)
        return self._count_and_sum()

    def constraint(self) -> Any:
        add_constraint(self.spark, session_storage(self.spark, self.path), "positive", "id >= 0")
        bad = self.spark.range(-1, 3, 1, 2).selectExpr("id", "id % 2 AS p", "'a' AS v")
        said = _error(lambda: truckee.write(bad).mode("append").save(self.path))
        return said and said[0]

    def delete(self) -> Any:
        return [list(row) for row in self.table.delete("id % 10 = 3").collect()]

    def update(self) -> Any:
        return [list(row) for row in self.table.update("id < 10", {"v": "'u'"}).collect()]

    def merge(self) -> Any:
        source = self.spark.range(95, 105, 1, 2).selectExpr("id", "id % 2 AS p", "'m' AS v")
        merge = self.table.alias("t").merge(source.alias("s"), "t.id = s.id")
        done = merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()
        return [list(row) for row in done.collect()]

    def read(self) -> Any:
        values = self.table.toDF().groupBy("v").count().orderBy("v").collect()
        return [self._count_and_sum(), {row[0]: row[1] for row in values}]

    def feed(self) -> Any:
        changes = self.table.changes(startingVersion=0)
        return {row[0]: row[1] for row in changes.groupBy("_change_type").count().collect()}

    def stream(self) -> Any:
        options = {"readChangeFeed": "true", "startingVersion": "0", "maxFilesPerTrigger": "3"}
        rows = truckee.readStream(self.spark).options(**options).load(self.path)
        writer = rows.writeStream.format("memory").queryName("seen")
        query = writer.trigger(availableNow=True).start()
        query.awaitTermination()
        return self.spark.table("seen").count()

    def retry(self) -> Any:
        """Write with tasks of which the first attempt fails when it has made files already."""

        def fails_first(number: int) -> int:
            from pyspark import TaskContext

            if number % 50 == 49 and TaskContext.get().attemptNumber() == 0:
                raise ValueError("the first attempt fails")
            return number

        path = f"{self.path}-retried"
        rows = self.spark.range(0, 100, 1, 2).select(F.udf(fails_first, "long")("id").alias("id"))
        truckee.write(rows).option("maxRecordsPerFile", 20).save(path)
        named = {file.path for file in truckee.open(path).snapshot().files()}
        there = {file.name for file in Path(path).glob("*.parquet")}
        return [truckee.read(self.spark).load(path).count(), len(named), sorted(there - named)]

    def clone(self) -> Any:
        target = f"{self.path}-clone"
        self.table.clone(target, isShallow=False)
        return truckee.read(self.spark).load(target).count()

    def stored(self) -> Any:
        """Merge where tasks write all rows that they find to vectors."""
        row_bitmaps.MOST_SENT = marked_files.MOST_SENT = 0
        path = f"{self.path}-stored"
        rows = self.spark.range(0, 100, 1, 4).selectExpr("id", "id % 2 AS p", "'a' AS v")
        truckee.write(rows).options(**PROPERTIES).save(path)
        source = self.spark.range(90, 110, 1, 4).selectExpr("id", "id % 2 AS p", "'m' AS v")
        table = DeltaTable.forPath(self.spark, path)
        merge = table.alias("t").merge(source.alias("s"), "t.id = s.id")
        merge = merge.whenMatchedDelete("s.id = 99").whenMatchedUpdate(set={"v": "t.v || s.v"})
        merge.whenNotMatchedInsertAll().whenNotMatchedBySourceDelete("t.id < 5").execute()
        row_bitmaps.MOST_SENT = marked_files.MOST_SENT = 1024 * 1024
        kinds = table.changes(startingVersion=1).groupBy("_change_type").count().collect()
        named = {add.deletion_vector for add in truckee.open(path).snapshot().files()}
        files = {vector.file_path for vector in named if vector is not None}
        there = {file.name for file in Path(path).glob("*.bin")}
        return [{row[0]: row[1] for row in kinds}, table.toDF().count(), sorted(there ^ files)]

    def format(self) -> Any:
        truckee.register(self.spark)
        rows = self.spark.range(3).write.format("truckee")
        return [
            _error(lambda: self.spark.read.format("truckee").load(self.path).count()),
            _error(lambda: rows.mode("append").save(f"{self.path}-written")),
            Path(f"{self.path}-written").exists(),
        ]

    def shipped(self) -> Any:
        """Ship truckee with the application, as `spark-submit --py-files` does."""
        package = Path(truckee.__file__).parent
        archive = shutil.make_archive(f"{self.path}-package", "zip", package.parent, package.name)
        self.spark.sparkContext.addPyFile(archive)
        truckee.register(self.spark)
        rows = self.spark.range(3).write.format("truckee")
        rows.mode("append").save(f"{self.path}-shipped")
        read = self.spark.read.format("truckee")
        return [read.load(self.path).count(), read.load(f"{self.path}-shipped").count()]

    def _count_and_sum(self) -> list[int]:
        return list(self.table.toDF().agg(F.count("*"), F.sum("id")).collect()[0])


def _error(action: Callable[[], object]) -> list[str] | None:
    """Return the name and the first line of the error that an action raises."""
    try:
        action()
    except Exception as error:
        return [type(error).__name__, str(error).partition("\n")[0]]
    return None


def kill_an_executor(spark: SparkSession) -> None:
    """Kill one of the executors of this application, shortly after a step has begun."""
    time.sleep(random.uniform(0.1, 1.5))
    application = spark.sparkContext.applicationId
    found = []
    for process in Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command and application.encode() in command:
            found.append(int(process.name))
    if found:
        os.kill(random.choice(found), signal.SIGKILL)


if __name__ == "__main__":
    main(Path(sys.argv[1]), len(sys.argv) > 2)
