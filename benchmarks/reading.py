"""Reading a table, or its feed, from opening it to the last row, by every engine."""

from __future__ import annotations

import os
import random
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

SCAN_ROWS = {"small": 2_000_000, "full": 20_000_000}
FILES = 16
Run = Callable[[Any, dict[str, Any]], Any]


def prepare_scan(scale: str, workdir: Path, deleted: float = 0.0) -> dict[str, Any]:
    """Write a table of sixteen files, of each of which a share of the rows is deleted."""
    from benchmarks.data_tables import TableWriter

    table = workdir / "table"
    writer = TableWriter(table)
    rows = SCAN_ROWS[scale] // FILES
    adds = [writer.data_file(f"part-{i:02}.parquet", i * rows, rows) for i in range(FILES)]
    writer.commit([{"add": add} for add in adds])
    if deleted:
        chosen = random.Random(7)
        count = int(rows * deleted)
        writer.mark(adds, (chosen.sample(range(rows), count) for _ in adds))
    return {"table": str(table)}


def read_by_pyarrow(
    table: str, consume: Callable[[Any], int], columns: Sequence[str] | None = None
) -> int:
    """Return the sum of what a function returns for every batch of the data files of a table.

    Each thread reads whole files, and consumes their batches itself. This is the limit for
    `truckee.open`, which also passes the batches on to one stream.
    """
    from pyarrow.parquet import ParquetFile

    def consumed(path: Path) -> int:
        file = ParquetFile(path, pre_buffer=False)
        batches = file.iter_batches(columns=columns, use_threads=False)
        return sum(map(consume, batches))

    with ThreadPoolExecutor(os.cpu_count()) as threads:
        return sum(threads.map(consumed, sorted(Path(table).glob("part-*.parquet"))))


def sum_of(frame: Any) -> int:
    """Return the sum of one column."""
    return int(frame.selectExpr("sum(x)").first()[0])


def filtered_sum_of(frame: Any) -> int:
    """Return the sum of one column, of rows with a certain text."""
    return int(frame.where("s like '%7%'").selectExpr("sum(x)").first()[0])


def all_of(frame: Any) -> None:
    """Make every column of every row.

    Not by `format("noop")`: delta-spark cannot read a table with vectors for it (it fails with
    "Cannot work with a non-pinned table snapshot").
    """
    frame._jdf.queryExecution().toRdd().count()


def scan_engines(done: Callable[[Any], Any], *, has_vectors: bool) -> dict[str, Run]:
    """Return how each engine reads the rows of a table."""

    def truckee_run(context: Any, params: dict[str, Any]) -> Any:
        import truckee

        return done(truckee.read(context.spark).load(params["table"]))

    def parquet_run(context: Any, params: dict[str, Any]) -> Any:
        answer = done(context.spark.read.parquet(params["table"] + "/part-*.parquet"))
        return None if has_vectors else answer  # it knows of no vector, and reads every row

    def delta_run(context: Any, params: dict[str, Any]) -> Any:
        return done(context.spark.read.format("delta").load(params["table"]))

    def deltalake_run(context: Any, params: dict[str, Any]) -> Any:
        from deltalake import DeltaTable, QueryBuilder

        query = QueryBuilder().register("t", DeltaTable(params["table"]))
        if done is not all_of:
            where = "WHERE s LIKE '%7%'" if done is filtered_sum_of else ""
            return query.execute(f"SELECT sum(x) AS x FROM t {where}").read_all()["x"][0].as_py()
        for _ in query.execute("SELECT * FROM t"):
            pass
        return None

    return {
        "truckee": truckee_run,
        "spark-parquet": parquet_run,
        "deltalake": deltalake_run,
        "delta-spark": delta_run,
    }


def feed_engines(*, start: int, is_limited_by_parquet: bool = False) -> dict[str, Run]:
    """Return how each engine reads the changes of a table from a version on."""

    def truckee_run(context: Any, params: dict[str, Any]) -> Any:
        import truckee

        return all_of(truckee.table_changes(context.spark, params["table"], start))

    def delta_run(context: Any, params: dict[str, Any]) -> Any:
        reader = context.spark.read.format("delta").option("readChangeFeed", "true")
        return all_of(reader.option("startingVersion", start).load(params["table"]))

    def deltalake_run(context: Any, params: dict[str, Any]) -> Any:
        from deltalake import DeltaTable

        for _ in DeltaTable(params["table"]).load_cdf(starting_version=start):
            pass

    def parquet_run(context: Any, params: dict[str, Any]) -> Any:
        return all_of(context.spark.read.parquet(params["table"] + "/part-*.parquet"))

    engines: dict[str, Run] = {
        "truckee": truckee_run,
        "deltalake": deltalake_run,
        "delta-spark": delta_run,
    }
    if is_limited_by_parquet:
        engines["spark-parquet"] = parquet_run
    return engines
