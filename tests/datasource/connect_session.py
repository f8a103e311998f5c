"""Everything that works over Spark Connect, run as a script of its own.

A process has a classic session or a remote one, so this one is told where to put its tables, and
prints what it has found as JSON. The server is PySpark's own, on loopback.
"""

from __future__ import annotations

import json
import os
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from pyspark.errors import PySparkException
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
    builder = builder.config("spark.sql.warehouse.dir", str(folder / "warehouse"))
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
        "by name": by_name(spark, table),
        "beside": refusal(lambda: truckee.enable(beside(spark))),
    }


def by_name(spark: SparkSession, table: str) -> list[str]:
    """Return what is said of tables by name, of which a Python data source is told nothing."""
    spark.sql("CREATE TABLE entered (id INT) USING delta")
    spark.sql(f"CREATE TABLE placed USING delta LOCATION '{table}'")
    ends = spark.range(1).write.format("delta").mode("append")
    return [
        refusal(lambda: spark.table("entered").collect()),
        refusal(lambda: spark.table("placed").collect()),
        refusal(lambda: spark.sql("INSERT INTO entered VALUES (1)")),
        refusal(lambda: ends.saveAsTable("saved")),
    ]


def beside(spark: SparkSession) -> SparkSession:
    """Return the classic session that PySpark has started below the server, in this process."""
    found = SparkSession._instantiatedSession
    assert found is not None
    assert found is not spark
    return found


def refusal(call: Callable[[], object]) -> str:
    try:
        call()
    except DeltaError as error:
        return error.code
    except PySparkException as error:
        # Of an error in a Python data source, Spark tells the traceback.
        found = re.search(r"errors[.]\w+[.](\w+): ", str(error))
        return found[1] if found else str(error.getCondition())
    return "none"


def ids(frame: Any) -> list[int]:
    return sorted(row.id for row in frame.collect())


if __name__ == "__main__":
    print("found:" + json.dumps(main(Path(sys.argv[1]))))
