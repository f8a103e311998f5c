"""Writing one frame of five columns, for cases that differ in how it is partitioned.

Every engine writes the same rows. Spark computes them on the fly (a range and a few expressions),
so little but writing is measured; deltalake streams them from a Parquet file. The rows are not
checked here, since reading them back would take longer than the write; the tests check them.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

ROWS = {"small": 1_000_000, "full": 10_000_000}
TASKS = 8
PARTITIONS = 100

Run = Callable[[Any, dict[str, Any]], int]


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    """Make the Parquet file that deltalake reads from."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq

    rows = ROWS[scale]
    workdir.mkdir(parents=True, exist_ok=True)
    source = workdir / "source.parquet"
    ids = np.arange(rows, dtype=np.int64)
    table = pa.table(
        {
            "id": ids,
            "day": pa.array((ids % PARTITIONS).astype(np.int32)),
            "amount": np.random.default_rng(1).random(rows) * 1000,
            "name": pa.array(np.char.add("name-", (ids % 10_007).astype(str))),
            "at": pa.array(ids * 1_000_000, pa.timestamp("us", tz="UTC")),
        }
    )
    pq.write_table(table, source)
    return {"folder": str(workdir / "tables"), "source": str(source), "rows": rows}


def reset(context: Any, params: dict[str, Any]) -> None:
    """Delete what the engine wrote last."""
    shutil.rmtree(path_of(context, params), ignore_errors=True)


def path_of(context: Any, params: dict[str, Any]) -> str:
    """Return where an engine writes."""
    return str(Path(params["folder"]) / context.engine)


def frame_of(context: Any, params: dict[str, Any]) -> Any:
    """Return the rows as a DataFrame."""
    rows = params["rows"]
    return context.spark.range(0, rows, 1, TASKS).selectExpr(
        "id",
        f"cast(id % {PARTITIONS} as int) as day",
        "rand(1) * 1000 as amount",
        "concat('name-', id % 10007) as name",
        "timestamp_seconds(id) as at",
    )


def write_engines(*partition_by: str) -> Mapping[str, Run]:
    """Return how each engine writes the rows to a new table, partitioned by columns."""

    def run_truckee(context: Any, params: dict[str, Any]) -> int:
        from truckee.writer import write

        frame = frame_of(context, params)
        write(frame).partitionBy(*partition_by).save(path_of(context, params))
        return int(params["rows"])

    def run_spark_parquet(context: Any, params: dict[str, Any]) -> int:
        frame = frame_of(context, params)
        frame.write.partitionBy(*partition_by).parquet(path_of(context, params))
        return int(params["rows"])

    def run_delta_spark(context: Any, params: dict[str, Any]) -> int:
        writer = frame_of(context, params).write.format("delta")
        writer.partitionBy(*partition_by).save(path_of(context, params))
        return int(params["rows"])

    def run_deltalake(context: Any, params: dict[str, Any]) -> int:
        import pyarrow as pa
        import pyarrow.parquet as pq
        from deltalake import write_deltalake

        source = pq.ParquetFile(params["source"])
        batches = pa.RecordBatchReader.from_batches(source.schema_arrow, source.iter_batches())
        write_deltalake(path_of(context, params), batches, partition_by=list(partition_by) or None)
        return int(params["rows"])

    return {
        "truckee": run_truckee,
        "spark-parquet": run_spark_parquet,
        "deltalake": run_deltalake,
        "delta-spark": run_delta_spark,
    }
