"""A long life of one session: what it holds before and after many operations and micro-batches.

Four threads do SQL, DML, streams and care, each on a table of its own, while a query takes one file
after another. Prints two lines of JSON: what is held after a short life and a rest, and what after
the long life and a rest. Spark's own pools of threads shrink after a minute.
"""

from __future__ import annotations

import gc
import json
import os
import re
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from pyspark.sql import SparkSession

import truckee
from truckee.doors.enable import enable
from truckee.spark.jvm import bridge

sys.path.append(str(Path(__file__).parent))
sys.path.append(str(Path(__file__).parents[2]))
from many_rounds import Rounds

from simultaneous_calls import call_at_once

THREADS = 4
MEGABYTE = 1024 * 1024


class Life(Rounds):
    """Rounds that also have statements, and care for the table."""

    def __init__(self, spark: SparkSession, root: Path) -> None:
        super().__init__(spark, root)
        self.table = f"delta.`{self.path}`"

    def kinds(self) -> tuple[Callable[[int], None], ...]:
        statements = (
            f"INSERT INTO {self.table} SELECT id + 500 FROM range(3)",
            f"UPDATE {self.table} SET id = id + 1000 WHERE id = 501",
            f"DELETE FROM {self.table} WHERE id >= 500",
            f"MERGE INTO {self.table} t USING (SELECT id FROM range(5, 25)) s ON t.id = s.id "
            "WHEN MATCHED AND s.id = 7 THEN DELETE WHEN NOT MATCHED THEN INSERT *",
            f"SELECT count(*) FROM table_changes_by_path('{self.path}', 1)",
            f"DESCRIBE HISTORY {self.table} LIMIT 3",
            f"DESCRIBE DETAIL {self.table}",
            f"OPTIMIZE {self.table}",
            f"VACUUM {self.table} DRY RUN",
            f"RESTORE TABLE {self.table} TO VERSION AS OF 0",
        )
        return (*super().kinds(), *(self._sql(text) for text in statements))

    def _sql(self, text: str) -> Callable[[int], None]:
        return lambda _: self.spark.sql(text).collect() and None

    def file_by_file(self, count: int, name: str) -> int:
        """Stream a table of so many files, one in each micro-batch; return how many there were."""
        files, copy = str(self.root / name), str(self.root / f"{name}-copy")
        truckee.write(self.spark.range(0, count, 1, count)).save(files)
        stream = self.spark.readStream.format("delta").option("maxFilesPerTrigger", 1).load(files)
        query = (
            stream.writeStream.format("delta")
            .option("checkpointLocation", str(self.root / f"{name}-checkpoint"))
            .trigger(availableNow=True)
            .start(copy)
        )
        query.awaitTermination()
        assert self.spark.read.format("delta").load(copy).count() == count
        return truckee.open(copy).version + 1


def live(lives: list[Life], operations: int, batches: int, name: str) -> dict[str, int]:
    """Do so much in all threads at once; return what was done."""
    with ThreadPoolExecutor(len(lives) + 1) as pool:
        query = pool.submit(lives[0].file_by_file, batches, name)
        done = [pool.submit(_rounds, life, operations // THREADS) for life in lives[1:]]
        return {"batches": query.result(), "operations": sum(each.result() for each in done)}


def _rounds(life: Life, count: int) -> int:
    for number in range(count):
        life.run(number)
    return count


def rested(life: Life, seconds: float, most: dict[str, int] | None = None) -> dict[str, int]:
    """What is held after some seconds of rest, once both sides have spoken again.

    What the JVM has dropped is released by the next call. It may hold what the last queries used a
    little longer, so it is looked at again while there is more than `most`; a leak stays.
    """
    time.sleep(seconds)
    for _ in range(10):
        gc.collect()
        life.spark._jvm.System.gc()  # type: ignore[union-attr]
        time.sleep(1)
        life.count(0)
        found = held_now(life.spark, life.root.parent)
        if most is not None and all(found[name] <= most[name] for name in found):
            break
    return found


def held_now(spark: SparkSession, root: Path) -> dict[str, int]:
    gateway = spark.sparkContext._gateway
    assert gateway is not None
    management = spark._jvm.java.lang.management.ManagementFactory  # type: ignore[union-attr]
    heap = management.getMemoryMXBean().getHeapMemoryUsage().getUsed()
    descriptors = management.getOperatingSystemMXBean().getOpenFileDescriptorCount()
    return {
        "threads": threading.active_count(),
        "threads of the JVM": management.getThreadMXBean().getThreadCount(),
        "descriptors": len(list(Path("/proc/self/fd").iterdir())),
        "descriptors of the JVM": descriptors,
        "megabytes of heap": heap // MEGABYTE,
        "proxies": len(gateway.gateway_property.pool),
        "functions": len(bridge._functions),
        "temporary files": sum(
            1 for part in ("local", "tmp") for each in (root / part).rglob("*") if each.is_file()
        ),
    }


def kinds_of_threads(spark: SparkSession) -> dict[str, int]:
    """How many threads the JVM has of each kind, to see who keeps them."""
    threads = spark._jvm.java.lang.Thread.getAllStackTraces().keySet().toArray()  # type: ignore[union-attr]
    names = [re.sub(r"[0-9a-f-]*\d[0-9a-f-]*", "#", thread.getName()) for thread in threads]
    return dict(Counter(names).most_common(12))


def main() -> None:
    root, rest = Path(sys.argv[1]), float(sys.argv[4])
    operations, batches = int(sys.argv[2]), int(sys.argv[3])
    for part in ("local", "tmp", *map(str, range(THREADS + 1))):
        (root / part).mkdir()
    os.environ["TMPDIR"] = str(root / "tmp")
    spark = enable(
        truckee.session(
            **{
                "master": "local[2]",
                "spark.driver.memory": "1g",
                "spark.driver.extraJavaOptions": f"-Djava.io.tmpdir={root / 'tmp'}",
                "spark.local.dir": str(root / "local"),
                "spark.sql.shuffle.partitions": 2,
                "spark.ui.enabled": False,
            }
        )
    )
    truckee.install()
    lives = [Life(spark, root / str(number)) for number in range(THREADS + 1)]
    call_at_once(spark, 2 * THREADS)
    live(lives, THREADS * len(lives[0].kinds()), 3, "first")
    before = rested(lives[0], rest)
    print(json.dumps(before), flush=True)
    start = time.monotonic()
    done = live(lives, operations, batches, "then")
    done["seconds"] = round(time.monotonic() - start)
    at_work = held_now(spark, root)
    print(json.dumps(rested(lives[0], rest, before)), flush=True)
    kinds = kinds_of_threads(spark)
    print(json.dumps({**done, "at work": at_work, "threads now": kinds}), flush=True)
    spark.stop()


if __name__ == "__main__":
    main()
