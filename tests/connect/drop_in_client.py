"""A program written for delta-spark's `DeltaTable` over Spark Connect, run by `truckee.install()`.

It makes the calls of Delta's own example of Spark Connect.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import truckee

truckee.install()

from delta.connect.tables import DeltaTable as ConnectTable  # noqa: E402
from delta.tables import DeltaTable  # noqa: E402
from pyspark.sql import SparkSession  # noqa: E402


def main(url: str, folder: str) -> dict[str, Any]:
    spark = SparkSession.builder.appName("drop in").remote(url).getOrCreate()
    path = f"{folder}/drop-in"
    spark.sql("DROP TABLE IF EXISTS counted")
    missing = [
        missing_text(lambda: DeltaTable.forPath(spark, path).toDF().show()),
        missing_text(lambda: DeltaTable.forName(spark, "counted").toDF().show()),
    ]
    spark.range(5).write.format("delta").saveAsTable("counted")
    spark.range(6).write.format("delta").save(path)
    found = {
        "missing": missing,
        "by name": [
            ids(DeltaTable.forName(spark, "counted").toDF()),
            ids(spark.read.format("delta").table("counted")),
            ids(spark.sql("SELECT * FROM counted")),
        ],
        "by path": the_same_rows(spark, path),
    }
    table = DeltaTable.forPath(spark, path)
    table.update(condition="id % 2 == 0", set={"id": "id + 100"})
    found["updated"] = the_same_rows(spark, path)
    table.delete(condition="id % 2 == 0")
    found["deleted"] = the_same_rows(spark, path)
    found["before"] = ids(spark.read.format("delta").option("versionAsOf", 0).load(path))
    found["class"] = ConnectTable is DeltaTable
    return found


def missing_text(call: Any) -> str:
    try:
        call()
    except Exception as caught:
        return str(caught)
    return "no error"


def the_same_rows(spark: Any, path: str) -> list[Any]:
    return [
        ids(DeltaTable.forPath(spark, path).toDF()),
        ids(spark.read.format("delta").load(path)),
        ids(spark.sql(f"SELECT * FROM delta.`{path}`")),
    ]


def ids(frame: Any) -> list[int]:
    return sorted(row.id for row in frame.collect())


if __name__ == "__main__":
    print("found:" + json.dumps(main(*sys.argv[1:])))
