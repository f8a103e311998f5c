"""The net changes of ten commits that each update a tenth of a table, by keys."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reading import all_of

TITLE = "net changes by keys of 10 commits that each write 200,000 rows anew"
SPARK = True
WARMUP = 1
REPETITIONS = 5
ROWS = {"small": 20_000, "full": 200_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    rows = ROWS[scale]
    old = writer.data_file("part-00.parquet", 0, rows)
    writer.commit([{"add": old}])
    for number in range(1, 11):
        new = writer.data_file(f"part-{number:02}.parquet", number * rows // 10, rows)
        remove = {
            "path": old["path"],
            "dataChange": True,
            "deletionTimestamp": 0,
            "extendedFileMetadata": True,
            "partitionValues": {},
            "size": old["size"],
        }
        writer.commit([{"remove": remove}, {"add": new}])
        old = new
    return {"table": str(writer.table)}


def _run(context: Any, params: dict[str, Any], **options: Any) -> Any:
    import truckee

    reader = truckee.read(context.spark).options(readChangeFeed=True, startingVersion=1)
    return all_of(reader.options(**options).load(params["table"]))


def run_net(context: Any, params: dict[str, Any]) -> Any:
    return _run(context, params, deduplicationMode="netChanges", keys="id", changeFeed="derived")


ENGINES = {"truckee": run_net}
