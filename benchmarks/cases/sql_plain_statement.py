"""Analyse statements that have nothing to do with Delta, in a session that knows Delta's SQL.

A run analyses 500 of them and runs none, so one second more than plain Spark would be 2 ms each.
Java compiles what a statement passes through for thousands of statements: before that, runs of one
engine differ by more than the engines do.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

TITLE = "500 statements that are none of Delta's, analysed and not run"
SPARK = True
WARMUP = 8
REPETITIONS = 11
STATEMENTS = 500
VARIANTS = {
    "SELECT 1": {"text": "SELECT 1"},
    "a temporary view": {"text": "SELECT id, count(*) FROM plain_view WHERE id > 3 GROUP BY id"},
    "a Parquet table": {"text": "SELECT id, count(*) FROM plain_table WHERE id > 3 GROUP BY id"},
}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    import pyarrow as pa
    import pyarrow.parquet as pq

    folder = workdir / "parquet"
    folder.mkdir(parents=True, exist_ok=True)
    pq.write_table(pa.table({"id": pa.array(range(9), pa.int64())}), folder / "rows.parquet")
    return {"folder": str(folder)}


def reset(context: Any, params: dict[str, Any]) -> None:
    if context.engine == "truckee":
        import truckee

        truckee.enable(context.spark)
    context.spark.range(9).createOrReplaceTempView("plain_view")
    context.spark.sql(
        f"CREATE TABLE IF NOT EXISTS plain_table USING parquet LOCATION '{params['folder']}'"
    )


def run(context: Any, params: dict[str, Any]) -> int:
    columns = [len(context.spark.sql(params["text"]).columns) for _ in range(STATEMENTS)]
    return sum(columns)


ENGINES = {"truckee": run, "spark-parquet": run}
