"""truckee, delta-spark and deltalake write one table at the same time, under an invariant.

Each moves amounts between accounts, and appends entries that nobody else touches. In every version
the amounts have the same sum; in the end every entry whose writer was told so is there, once.

`TRUCKEE_RACE_SECONDS` says for how long.
"""

from __future__ import annotations

import os
import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import deltalake
import pyarrow as pa
import pytest
from deltalake.exceptions import CommitFailedError, DeltaError
from pyspark.sql import SparkSession

import truckee
from interop.delta_spark import DeltaSpark, DeltaSparkError
from truckee.care.health.findings import Severity
from truckee.doors.enable import enable

pytestmark = pytest.mark.interop

SECONDS = float(os.environ.get("TRUCKEE_RACE_SECONDS", "20"))
ACCOUNTS, AMOUNT = 12, 100
# deltalake makes a hundred commits while Spark makes one, which would always lose.
PAUSE = 2
CONFLICT = "ConcurrentModification", "Concurrent", "MetadataChanged", "ProtocolChanged"


class Writer:
    """One engine that changes the table until the time is over."""

    def __init__(self, name: str, sql: Callable[[str], object], table: str) -> None:
        self.name, self.sql, self.table = name, sql, table
        self.dice = random.Random(name)
        self.acknowledged: list[str] = []
        self.counts: Counter[str] = Counter()
        self.error: BaseException | None = None

    def run(self, end: float, stop: threading.Event) -> None:
        number = 0
        try:
            while time.monotonic() < end and not stop.is_set():
                number += 1
                self.step(number)
        except BaseException as error:
            self.error = error
            stop.set()

    def step(self, number: int) -> None:
        what = self.append if number % 3 == 0 else self.care if number % 17 == 0 else self.move
        try:
            what(number)
            self.counts[what.__name__] += 1
        except Exception as error:
            if not is_conflict(error):
                raise
            self.counts["conflicts"] += 1

    def move(self, number: int) -> None:
        giver, taker = self.dice.sample(range(ACCOUNTS), 2)
        change = f"CASE WHEN id = {giver} THEN amount - {number} ELSE amount + {number} END"
        where = f"entry IS NULL AND id IN ({giver}, {taker})"
        self.update(change, where)

    def update(self, change: str, where: str) -> None:
        self.sql(f"UPDATE {self.table} SET amount = {change} WHERE {where}")

    def append(self, number: int) -> None:
        entry = f"{self.name}-{number}"
        self.insert(entry)
        self.acknowledged.append(entry)

    def insert(self, entry: str) -> None:
        self.sql(f"INSERT INTO {self.table} VALUES (-1, 0, '{entry}')")

    def care(self, number: int) -> None:
        self.sql(f"OPTIMIZE {self.table}")


class Merger(Writer):
    """Moves by MERGE instead of UPDATE."""

    def update(self, change: str, where: str) -> None:
        self.sql(
            f"MERGE INTO {self.table} t USING (SELECT id i, {change} a FROM {self.table} "
            f"WHERE {where}) s ON t.id = s.i AND t.entry IS NULL "
            "WHEN MATCHED THEN UPDATE SET amount = s.a"
        )


class Rust(Writer):
    """deltalake, without a JVM."""

    def __init__(self, path: Path) -> None:
        super().__init__("deltalake", lambda _: None, "")
        self.path = str(path)

    def step(self, number: int) -> None:
        super().step(number)
        time.sleep(PAUSE)

    def update(self, change: str, where: str) -> None:
        deltalake.DeltaTable(self.path).update(updates={"amount": change}, predicate=where)

    def insert(self, entry: str) -> None:
        rows = {"id": pa.array([-1], pa.int32()), "amount": pa.array([0], pa.int32())}
        deltalake.write_deltalake(self.path, pa.table({**rows, "entry": [entry]}), mode="append")

    def care(self, number: int) -> None:
        """Append: compaction by deltalake 1.6 keeps no invariant when others write.

        Three threads of it alone, which move, append and compact, make 144 of twelve accounts.
        """
        self.append(number)


def is_conflict(error: Exception) -> bool:
    """Tell whether another writer was first, for which every engine has errors of its own."""
    if isinstance(error, DeltaSparkError):
        return any(word in str(error) for word in CONFLICT)
    if isinstance(error, CommitFailedError):
        return True
    if isinstance(error, DeltaError):
        return "commit" in str(error).lower() or "not found" in str(error).lower()
    return any(word in type(error).__name__ for word in CONFLICT)


def test_three_engines_write_one_table_and_nothing_is_lost(
    spark: SparkSession, delta_spark: DeltaSpark, tmp_path: Path
) -> None:
    enable(spark)
    path, table = tmp_path / "t", f"delta.`{tmp_path / 't'}`"
    accounts = spark.range(0, ACCOUNTS, 1, 3).selectExpr(
        "CAST(id AS INT) id", f"{AMOUNT} amount", "CAST(NULL AS STRING) entry"
    )
    truckee.write(accounts).save(str(path))
    writers = [
        Writer("truckee", lambda text: spark.sql(text).collect(), table),
        Merger("truckee by merge", lambda text: spark.sql(text).collect(), table),
        Writer("delta-spark", delta_spark.sql, table),
        Rust(path),
    ]

    end, stop = time.monotonic() + SECONDS, threading.Event()
    threads = [threading.Thread(target=writer.run, args=(end, stop)) for writer in writers]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    for writer in writers:
        print(writer.name, dict(writer.counts), f"{len(writer.acknowledged)} entries")
        if writer.error is not None:
            raise writer.error
    opened = truckee.open(str(path))
    print(opened.version, "versions")
    assert [sums(path, version) for version in versions(opened.version)] == [
        (ACCOUNTS, ACCOUNTS * AMOUNT)
    ] * len(versions(opened.version))
    rows = opened.to_arrow().to_pylist()
    entries = Counter(row["entry"] for row in rows if row["entry"] is not None)
    acknowledged = [entry for writer in writers for entry in writer.acknowledged]
    assert sorted(entries) == sorted(acknowledged)
    assert set(entries.values()) <= {1}
    assert all(each.severity is not Severity.ERROR for each in opened.doctor().findings)
    theirs = delta_spark.sql(f"SELECT * FROM {table}")
    assert sorted(map(repr, map(dict.items, theirs))) == sorted(map(repr, map(dict.items, rows)))


def versions(last: int) -> range:
    """About two hundred versions up to the last."""
    return range(last, -1, -max(1, last // 200))


def sums(path: Path, version: int) -> tuple[int, int]:
    found = truckee.open(str(path)).to_arrow(version=version, where="entry IS NULL")
    amounts = found.column("amount").to_pylist()
    return len(amounts), sum(amounts)
