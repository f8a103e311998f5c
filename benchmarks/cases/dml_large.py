"""A hundred million rows and a driver with as little memory as Spark gives it by itself."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.dml import DELETE, IMPORTS, MERGE, prepare_table, reset, write_source

__all__ = ["IMPORTS", "reset"]

TITLE = "DELETE of 1 % and MERGE of 1 M rows in 100 M narrow rows, with 1 GB for the driver"
SPARK = True
WARMUP = 0
REPETITIONS = 1
SPARK_CONF = {"spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "200"}
ROWS = {"small": 2_000_000, "full": 100_000_000}
FILES = 20
COLUMNS = {"id": "long", "h": "long"}
SOURCE = "source.parquet"
VARIANTS = {
    "delete": {"column": "h", "share": 0.01},
    "merge": {"size": SOURCE},
}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    rows = ROWS[scale]
    params = prepare_table(workdir, rows, FILES, COLUMNS)
    write_source(workdir / SOURCE, rows // 100, rows, COLUMNS)
    return params | {"sources": {SOURCE: str(workdir / SOURCE)}}


def _run(engine: str) -> Any:
    def run(context: Any, params: dict[str, Any]) -> Any:
        return (MERGE if "size" in params else DELETE)[engine](context, params)

    return run


ENGINES = {engine: _run(engine) for engine in ("truckee", "delta-spark")}
