"""The change feed as a stream, by every engine that has one."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

COMMITS = 50
ROWS = {"small": 4_000, "full": 100_000}
FILES_PER_BATCH = 5


def prepare_feed(scale: str, workdir: Path) -> dict[str, Any]:
    """Write a table of fifty commits: inserts, and updates with change files, in turn."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    rows = ROWS[scale]
    for number in range(COMMITS):
        add = writer.data_file(f"part-{number:02}.parquet", number * rows, rows)
        if number % 2 == 0:
            writer.commit([{"add": add}])
            continue
        data = pq.read_table(workdir / "table" / add["path"])
        images = pa.array(["update_preimage", "update_postimage"] * (rows // 2))
        name = f"_change_data/cdc-{number:02}.parquet"
        (workdir / "table" / name).parent.mkdir(exist_ok=True)
        pq.write_table(data.append_column("_change_type", images), workdir / "table" / name)
        size = (workdir / "table" / name).stat().st_size
        change = {"path": name, "partitionValues": {}, "size": size, "dataChange": False}
        writer.commit([{"cdc": change}, {"add": add}], "UPDATE")
    return {"table": str(writer.table), "rows": COMMITS * rows}


def drained(load: Callable[[Any, str, dict[str, str]], Any]) -> Callable[[Any, Any], int]:
    """Return a run that reads the whole feed, some files a batch, and counts its rows."""

    def run(context: Any, params: dict[str, Any]) -> int:
        options = {
            "readChangeFeed": "true",
            "startingVersion": "0",
            "maxFilesPerTrigger": str(FILES_PER_BATCH),
        }
        frame = load(context.spark, params["table"], options)
        checkpoint = tempfile.mkdtemp(prefix="truckee-bench-")
        try:
            writer = frame.writeStream.format("noop").option("checkpointLocation", checkpoint)
            query = writer.trigger(availableNow=True).start()
            query.awaitTermination()
            return sum(progress["numInputRows"] for progress in query.recentProgress)
        finally:
            shutil.rmtree(checkpoint, ignore_errors=True)

    return run


def fast_lane(spark: Any, table: str, options: dict[str, str]) -> Any:
    """Load a stream as `truckee.readStream` does."""
    import truckee

    return truckee.readStream(spark).options(**options).load(table)


def python_lane(spark: Any, table: str, options: dict[str, str]) -> Any:
    """Load a stream through PySpark's Python Data Source."""
    return spark.readStream.format("truckee").options(**options).load(table)


def delta_spark(spark: Any, table: str, options: dict[str, str]) -> Any:
    """Load a stream of Delta's own source."""
    return spark.readStream.format("delta").options(**options).load(table)
