"""Everything that works over Spark Connect, run as a script of its own.

A process has a classic session or a remote one, so this one is told where to put its tables, and
prints what it has found as JSON. The server is PySpark's own, on loopback.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.sql import SparkSession

import truckee
from truckee.datasource.register import register
from truckee.errors.base import DeltaError
from truckee.spark.session.java import ensure_java
from truckee.streaming.sink import write_batch


def main(folder: Path) -> dict[str, Any]:
    ensure_java()
    os.environ["PYSPARK_PYTHON"] = sys.executable
    builder = SparkSession.builder.remote("local[2]").config("spark.ui.enabled", "false")
    spark = builder.config("spark.sql.session.timeZone", "UTC").getOrCreate()
    register(spark)
    try:
        return found(spark, folder)
    finally:
        spark.stop()


def found(spark: SparkSession, folder: Path) -> dict[str, Any]:
    table, copy, kept = (str(folder / name) for name in ("table", "copy", "kept"))
    # One file a commit, and so one batch of the streams below.
    rows = spark.range(0, 6, 1, 1).selectExpr("id", "concat('v', id) AS value")
    writer = rows.write.format("truckee").mode("append")
    writer.option("delta.enableChangeDataFeed", "true").save(table)
    rows.selectExpr("id + 10 AS id", "value").write.format("truckee").mode("append").save(table)

    feed = spark.read.format("truckee").option("readChangeFeed", "true")
    stream = spark.readStream.format("truckee").option("maxFilesPerTrigger", "1").load(table)
    query = (
        stream.writeStream.format("truckee")
        .option("checkpointLocation", str(folder / "checkpoint"))
        .trigger(availableNow=True)
        .start(copy)
    )
    query.awaitTermination()
    each = (
        stream.writeStream.foreachBatch(write_batch(kept, queryId="kept"))
        .option("checkpointLocation", str(folder / "each"))
        .trigger(availableNow=True)
        .start()
    )
    each.awaitTermination()
    return {
        "session": type(spark).__module__,
        "rows": ids(spark.read.format("truckee").load(table)),
        "first": ids(spark.read.format("delta").option("versionAsOf", "0").load(table)),
        "feed": feed.option("startingVersion", "1").load(table).count(),
        "copy": ids(spark.read.format("truckee").load(copy)),
        "kept": ids(spark.read.format("truckee").load(kept)),
        "refused": [
            refusal(lambda: truckee.DeltaTable.forPath(spark, table)),
            refusal(lambda: truckee.read(spark)),
            refusal(lambda: truckee.write(rows)),
            refusal(lambda: truckee.enable(spark)),
        ],
    }


def refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except DeltaError as error:
        return error.code
    return "none"


def ids(frame: Any) -> list[int]:
    return sorted(row.id for row in frame.collect())


if __name__ == "__main__":
    print("found:" + json.dumps(main(Path(sys.argv[1]))))
