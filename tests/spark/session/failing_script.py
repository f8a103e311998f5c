"""Things that fail, each of which says on stdout what a user would see, and nothing on stderr.

The last is a write whose session is stopped meanwhile.
"""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from threading import Thread
from time import sleep, time
from typing import Any

from pyspark.sql import SparkSession

import truckee
from truckee import DeltaTable
from truckee.streaming.sink import write_batch


def main(root: Path) -> None:
    settings = {
        "spark.ui.showConsoleProgress": False,
        "spark.driver.extraJavaOptions": "-XX:TieredStopAtLevel=1",
    }
    spark = truckee.session(master="local[2]", **settings)
    table, broken = root / "t", root / "broken"
    for path in (table, broken):
        truckee.write(spark.range(10)).save(path)
    next(broken.rglob("*.parquet")).unlink()
    strict = DeltaTable.create(spark).location(root / "strict")
    strict.addColumn("id", "long", nullable=False).execute()

    say("no such path", lambda: truckee.read(spark).load(root / "none"))
    say("unknown column", lambda: DeltaTable.forPath(spark, table).delete("nope = 1"))
    say("no SQL", lambda: DeltaTable.forPath(spark, table).delete("id = = 1"))
    say("no name", lambda: DeltaTable.forName(spark, "a b"))
    say("missing file", lambda: truckee.read(spark).load(broken).collect())
    say("missing file, shuffled", lambda: truckee.read(spark).load(broken).distinct().count())
    nothing = spark.sql("SELECT CAST(NULL AS BIGINT) AS id")
    say("null", lambda: truckee.write(nothing).mode("append").save(root / "strict"))
    say("stream", lambda: copied(spark, broken, root / "copy"))
    say("sink", lambda: copied(spark, table, root / "strict", nulls=True))
    say("stopped", lambda: write_and_stop(spark, root / "endless"))
    say("stopped before", lambda: truckee.read(spark).load(table).count())


def say(name: str, fails: Callable[[], Any]) -> None:
    try:
        fails()
    except Exception as error:
        shown = "".join(traceback.format_exception(error))
        found = {
            "name": name,
            "kind": type(error).__name__,
            "text": str(error),
            "has_java": "Py4J" in shown or "\tat " in shown,
            "has_other": "During handling" in shown or "direct cause" in shown,
        }
        print(json.dumps(found), flush=True)


def copied(spark: SparkSession, source: Path, target: Path, *, nulls: bool = False) -> None:
    rows = truckee.readStream(spark).load(source)
    if nulls:
        rows = rows.selectExpr("CAST(NULL AS BIGINT) AS id")
    writer = rows.writeStream.foreachBatch(write_batch(target))
    writer = writer.option("checkpointLocation", f"{target}-checkpoint").trigger(availableNow=True)
    writer.start().awaitTermination()


def write_and_stop(spark: SparkSession, target: Path) -> None:
    endless = spark.range(0, 10**15, 1, 4).selectExpr("sum(hash(id)) AS id")
    tracker = spark.sparkContext.statusTracker()

    def stop() -> None:
        deadline = time() + 60
        while time() < deadline and not tracker.getActiveStageIds():
            sleep(0.1)
        sleep(1)
        spark.stop()

    stopping = Thread(target=stop)
    stopping.start()
    try:
        truckee.write(endless).save(target)
    finally:
        stopping.join()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
