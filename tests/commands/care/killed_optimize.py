"""OPTIMIZE, Z-order and PURGE in turns, with changes in between, until the process is killed."""

from __future__ import annotations

import sys

from dml_tables import numbers
from truckee.spark.session.session import session
from truckee.table import DeltaTable
from truckee.writer import write


def main(path: str) -> None:
    spark = session("killed", master="local[2]", **{"spark.ui.enabled": "false"})
    table = DeltaTable.forPath(spark, path)
    print("ready", flush=True)
    sys.stdin.readline()
    for turn in range(1000):
        write(numbers(spark, 0, 50)).mode("append").save(path)
        table.delete(f"id % 10 = {turn % 10}")
        table.optimize().executeCompaction()
        table.update(f"id % 7 = {turn % 7}", {"v": "v + 1"})
        table.optimize().purge()
        table.optimize().executeZOrderBy("v", "id")


if __name__ == "__main__":
    main(sys.argv[1])
