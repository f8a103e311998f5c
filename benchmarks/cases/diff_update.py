"""The diff of two versions between which one percent of twenty million rows was updated by vector.

Beside it the recorded feed of the same range, and `exceptAll` both ways, which is what one would do
without a diff. The table without the feed is the same one, its change files not known.
"""

from __future__ import annotations

import os
import random
from pathlib import Path
from typing import Any

TITLE = "what 1 % of 20 M rows, updated by vector, differ in"
SPARK = True
# A short query gets faster for its first thirty runs, while the JVM compiles it.
WARMUP = 60
REPETITIONS = 31
ROUNDS = {"diff by keys": (20, 9), "diff, feed off": (3, 5), "exceptAll both ways": (0, 2)}
# These two are compared, and the machine is never equally fast for a minute.
IN_TURN = ("diff", "recorded feed")
VARIANTS = {
    "diff": {"how": "diff", "table": "on"},
    "diff by keys": {"how": "keys", "table": "on"},
    "diff, feed off": {"how": "diff", "table": "off"},
    "recorded feed": {"how": "feed", "table": "on"},
    "exceptAll both ways": {"how": "exceptAll", "table": "on"},
}
ROWS = {"small": 2_000_000, "full": 20_000_000}
FILES = 16


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "on")
    rows = ROWS[scale] // FILES
    adds = [writer.data_file(f"part-{i:02}.parquet", i * rows, rows) for i in range(FILES)]
    writer.commit([{"add": add} for add in adds])
    chosen = random.Random(7)
    updated = [sorted(chosen.sample(range(rows), rows // 100)) for _ in adds]
    ids = [i * rows + row for i, of in enumerate(updated) for row in of]
    new = writer.file_of("part-new.parquet", ids, step=1)
    cdc = writer.change_file("_change_data/cdc-00.parquet", ids, step=1)
    writer.mark(adds, iter(updated), [{"add": new}, {"cdc": cdc}], "UPDATE")
    _without_feed(workdir / "on", workdir / "off")
    return {"folder": str(workdir)}


def _without_feed(table: Path, copy: Path) -> None:
    for path in table.rglob("*"):
        target = copy / path.relative_to(table)
        if path.is_dir():
            target.mkdir(parents=True, exist_ok=True)
        elif path.suffix == ".json":
            target.parent.mkdir(parents=True, exist_ok=True)
            lines = path.read_text().splitlines(keepends=True)
            kept = "".join(line for line in lines if not line.startswith('{"cdc"'))
            target.write_text(kept.replace("enableChangeDataFeed", "noChangeDataFeed"))
        else:
            target.parent.mkdir(parents=True, exist_ok=True)
            os.link(path, target)


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    import truckee
    from truckee import DeltaTable

    path = f"{params['folder']}/{params['table']}"
    table = DeltaTable.forPath(context.spark, path)
    match params["how"]:
        case "diff":
            frame = table.diff(0, 1)
        case "keys":
            frame = table.diff(0, 1, keys=["id"])
        case "feed":
            frame = table.changes(startingVersion=1, endingVersion=1)
        case _:
            one, other = (
                truckee.read(context.spark).option("versionAsOf", version).load(path)
                for version in (0, 1)
            )
            frame = one.exceptAll(other).unionAll(other.exceptAll(one))
    return int(frame._jdf.queryExecution().toRdd().count())


ENGINES = {"truckee": run_truckee}
