"""What a client of `truckee serve` does, run as a script of its own: it has no JVM and no truckee.

It is told the URL of the server and a folder, and prints what it has found as JSON.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession
from pyspark.sql import functions as F


def main(url: str, folder: str) -> dict[str, Any]:
    spark = SparkSession.builder.remote(url).getOrCreate()
    found = {
        "statements": statements(spark),
        "care": care(spark),
        "frames": frames(spark, f"{folder}/lake/by_path"),
        "stream": stream(spark, folder),
        "errors": errors(spark, f"{folder}/lake/by_path", f"{folder}/nothing"),
        "imported": sorted(name for name in sys.modules if name.partition(".")[0] == "truckee"),
    }
    # Another session of the same server has the same tables, and settings of its own.
    spark.conf.set("spark.databricks.delta.commitInfo.userMetadata", "of the first session")
    other = SparkSession.builder.remote(url).create()
    other.sql("INSERT INTO orders VALUES (9, 'other')")
    last = other.sql("DESCRIBE HISTORY orders LIMIT 1").select("operation", "userMetadata")
    found["other session"] = [tuple(row) for row in last.collect()]
    return found


def statements(spark: SparkSession) -> list[Any]:
    on = "'delta.enableChangeDataFeed' = 'true', 'delta.enableDeletionVectors' = 'true'"
    spark.sql(f"CREATE TABLE orders (id INT, status STRING) USING delta TBLPROPERTIES ({on})")
    spark.sql("INSERT INTO orders VALUES (1, 'new'), (2, 'new'), (3, 'new')")
    spark.sql("UPDATE orders SET status = 'paid' WHERE id = 2")
    spark.sql("DELETE FROM orders WHERE id = 3")
    spark.sql("""
        MERGE INTO orders t USING (SELECT 1 AS id, 'sent' AS status UNION ALL SELECT 4, 'new') s
        ON t.id = s.id
        WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *
    """)
    return [
        rows(spark.sql("SELECT * FROM orders ORDER BY id")),
        rows(spark.sql("SELECT count(*) FROM orders VERSION AS OF 1")),
        rows(
            spark.sql("""
                SELECT _change_type, count(*) FROM table_changes('orders', 2)
                GROUP BY _change_type ORDER BY _change_type
            """)
        ),
    ]


def care(spark: SparkSession) -> list[Any]:
    spark.sql("OPTIMIZE orders")
    spark.sql("VACUUM orders")
    history = spark.sql("DESCRIBE HISTORY orders").select("operation")
    return [rows(history), spark.sql("DESCRIBE DETAIL orders").first().format]


def frames(spark: SparkSession, path: str) -> list[Any]:
    numbers = spark.range(4)
    numbers.write.format("delta").save(path)
    numbers.write.format("delta").mode("overwrite").option("replaceWhere", "id >= 0").save(path)
    numbers.write.format("delta").saveAsTable("numbers")
    numbers.writeTo("numbers").append()
    target = numbers.selectExpr("id + 2 AS id").alias("s")
    target.mergeInto("numbers", F.expr("s.id = numbers.id")).whenNotMatched().insertAll().merge()
    return [
        rows(spark.read.format("delta").option("versionAsOf", "0").load(path).orderBy("id")),
        spark.table("numbers").count(),
        spark.catalog.tableExists("numbers"),
    ]


def stream(spark: SparkSession, folder: str) -> list[Any]:
    feed = spark.readStream.format("delta").option("readChangeFeed", "true")
    query = (
        feed.option("startingVersion", "1")
        .table("orders")
        .writeStream.option("checkpointLocation", f"{folder}/checkpoint")
        .trigger(availableNow=True)
        .toTable("copied")
    )
    query.awaitTermination()
    return rows(spark.sql("SELECT count(*) FROM copied"))


def errors(spark: SparkSession, path: str, nothing: str) -> list[Any]:
    spark.sql("ALTER TABLE orders ADD CONSTRAINT positive CHECK (id > 0)")
    tries: list[Callable[[], object]] = [
        lambda: spark.sql("INSERT INTO orders VALUES (-1, 'x')"),
        lambda: spark.sql("UPDATE orders SET nothing = 1"),
        lambda: spark.read.format("delta").load(nothing).count(),
        lambda: spark.sql("VACUUM orders RETAIN 0 HOURS"),
        lambda: spark.sql("OPTIMIZE orders ZORDER (id"),
        lambda: spark.sql("SELECT 1 AS other").write.format("delta").mode("append").save(path),
        lambda: spark.sql("RESTORE TABLE orders TO VERSION AS OF 99"),
    ]
    return [refusal(each) for each in tries]


def refusal(call: Callable[[], object]) -> list[Any]:
    try:
        call()
    except PySparkException as error:
        return [type(error).__name__, error.getCondition(), error.getSqlState(), str(error)]
    return ["none"]


def rows(frame: Any) -> list[Any]:
    return [list(row) for row in frame.collect()]


if __name__ == "__main__":
    print("found:" + json.dumps(main(*sys.argv[1:])))
