"""One command again and again, each time over new files with deleted rows, until it is killed.

It prints `ready` before the first time.
"""

from __future__ import annotations

import sys
from collections.abc import Callable

from dml_tables import numbers
from truckee.spark.session.session import session
from truckee.table import DeltaTable
from truckee.writer import write

COMMANDS: dict[str, Callable[[DeltaTable], object]] = {
    "compaction": lambda table: table.optimize().executeCompaction(),
    "purge": lambda table: table.optimize().purge(),
    "zorder": lambda table: table.optimize().executeZOrderBy("v", "id"),
}


def main(path: str, command: str) -> None:
    spark = session("killed", master="local[2]", **{"spark.ui.enabled": "false"})
    table = DeltaTable.forPath(spark, path)
    for turn in range(1000):
        write(numbers(spark, 0, 50)).mode("append").save(path)
        table.delete(f"id % 10 = {turn % 10}")
        table.update(f"id % 7 = {turn % 7}", {"v": "v + 1"})
        if turn == 0:
            print("ready", flush=True)
        COMMANDS[command](table)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
