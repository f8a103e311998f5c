"""Rounds of everything that makes the JVM call Python, and what the process holds after them.

Prints two lines of JSON: what is held after the first rounds, and what after the others, for which
the process has few descriptors to spare.
"""

from __future__ import annotations

import gc
import json
import resource
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path

from pyspark.sql import DataFrame, SparkSession
from pyspark.sql.functions import col

import truckee
from truckee import DeltaTable
from truckee.spark.jvm import bridge
from truckee.streaming.sink import write_batch

sys.path.append(str(Path(__file__).parents[2]))
from simultaneous_calls import call_at_once

SPARE_DESCRIPTORS = 12


class Rounds:
    """One table, and what is done to it in turn."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        self.spark, self.root = spark, root
        self.path, self.copy = str(root / "t"), str(root / "copy")
        self.batches = 0
        new = truckee.write(spark.range(20)).option("delta.enableChangeDataFeed", True)
        new.option("delta.enableDeletionVectors", True).save(self.path)

    def run(self, number: int) -> None:
        kinds = self.kinds()
        kinds[number % len(kinds)](number)

    def kinds(self) -> tuple[Callable[[int], None], ...]:
        """What a round may be, in turn."""
        return (
            self.count,
            self.join,
            self.append,
            self.delete,
            self.update,
            self.merge,
            self.feed,
            self.stream_to_table,
            self.stream_to_function,
            self.count_in_a_thread,
        )

    def rows(self) -> DataFrame:
        return truckee.read(self.spark).load(self.path)

    def count(self, number: int) -> None:
        self.rows().groupBy("id").count().count()

    def join(self, number: int) -> None:
        self.rows().join(self.rows().groupBy("id").count(), "id").orderBy("id").collect()

    def append(self, number: int) -> None:
        truckee.write(self.spark.range(100, 103)).mode("append").save(self.path)

    def delete(self, number: int) -> None:
        DeltaTable.forPath(self.spark, self.path).delete("id = 102")

    def update(self, number: int) -> None:
        DeltaTable.forPath(self.spark, self.path).update("id = 101", {"id": "id + 1000"})

    def merge(self, number: int) -> None:
        table = DeltaTable.forPath(self.spark, self.path)
        source = self.spark.range(90, 101).alias("s")
        merge = table.alias("t").merge(source, "t.id = s.id")
        merge.whenMatchedDelete().whenNotMatchedInsertAll().execute()

    def feed(self, number: int) -> None:
        feed = truckee.read(self.spark).option("readChangeFeed", True).option("startingVersion", 1)
        feed.load(self.path).groupBy("_change_type").count().collect()

    def stream_to_table(self, number: int) -> None:
        stream = truckee.readStream(self.spark).option("ignoreChanges", True).load(self.path)
        self.finish(stream.writeStream.foreachBatch(write_batch(self.copy)), "copy")

    def stream_to_function(self, number: int) -> None:
        def take(batch: DataFrame, _: int) -> None:
            self.batches += batch.filter(col("id") >= 0).count()

        feed = truckee.readStream(self.spark).option("readChangeFeed", True).load(self.path)
        self.finish(feed.writeStream.foreachBatch(take), f"function-{number}")

    def count_in_a_thread(self, number: int) -> None:
        thread = threading.Thread(target=self.count, args=(number,))
        thread.start()
        thread.join()

    def finish(self, writer: object, checkpoint: str) -> None:
        where = str(self.root / "checkpoints" / checkpoint)
        query = writer.option("checkpointLocation", where)  # type: ignore[attr-defined]
        query.trigger(availableNow=True).start().awaitTermination()


def held(rounds: Rounds, most: dict[str, int] | None = None) -> dict[str, int]:
    """What is held once both sides have collected their garbage, and spoken once more.

    The JVM may hold what the last queries used a little longer than this, so it is looked at again
    while there is more than `most`; a leak stays.
    """
    for attempt in range(20):
        gc.collect()
        rounds.spark._jvm.System.gc()  # type: ignore[union-attr]
        time.sleep(0.5)
        rounds.count(0)
        found = _held_now(rounds)
        if attempt >= 2 and (most is None or all(found[name] <= most[name] for name in most)):
            break
    return found


def _held_now(rounds: Rounds) -> dict[str, int]:
    gateway = rounds.spark.sparkContext._gateway
    assert gateway is not None
    return {
        "threads": threading.active_count(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "proxies": len(gateway.gateway_property.pool),
        "functions": len(bridge._functions),
    }


def main() -> None:
    root, first, then = Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
    spark = truckee.session(
        **{"master": "local[2]", "spark.sql.shuffle.partitions": 2, "spark.ui.enabled": False}
    )
    rounds = Rounds(spark, root)
    # Connections are kept for as many calls as may come at the same time in the rounds.
    call_at_once(spark, 4)
    for number in range(first):
        rounds.run(number)
    before = held(rounds)
    print(json.dumps(before), flush=True)
    limit = before["descriptors"] + SPARE_DESCRIPTORS
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, limit))
    for number in range(then):
        rounds.run(number)
    print(json.dumps(held(rounds, before)), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
