"""Write a tiny table and read it back: shows that every engine starts, and what that costs."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

TITLE = "a thousand rows written and read back"
SPARK = True
WARMUP = 1
REPETITIONS = 3
ROWS = {"small": 1_000, "full": 1_000_000}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    return {"folder": str(workdir / "tables"), "rows": ROWS[scale]}


def reset(context: Any, params: dict[str, Any]) -> None:
    shutil.rmtree(_path(context, params), ignore_errors=True)


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    import truckee

    path = _path(context, params)
    truckee.write(context.spark.range(params["rows"])).save(path)
    return _sum(truckee.read(context.spark).load(path))


def run_spark_parquet(context: Any, params: dict[str, Any]) -> int:
    path = _path(context, params)
    context.spark.range(params["rows"]).write.parquet(path)
    return _sum(context.spark.read.parquet(path))


def run_delta_spark(context: Any, params: dict[str, Any]) -> int:
    path = _path(context, params)
    context.spark.range(params["rows"]).write.format("delta").save(path)
    return _sum(context.spark.read.format("delta").load(path))


def run_deltalake(context: Any, params: dict[str, Any]) -> int:
    import pyarrow as pa
    import pyarrow.compute as pc
    from deltalake import DeltaTable, write_deltalake

    path = _path(context, params)
    write_deltalake(path, pa.table({"id": pa.array(range(params["rows"]), pa.int64())}))
    return int(pc.sum(DeltaTable(path).to_pyarrow_table()["id"]).as_py())


def _path(context: Any, params: dict[str, Any]) -> str:
    return str(Path(params["folder"]) / context.engine)


def _sum(frame: Any) -> int:
    return int(frame.selectExpr("sum(id)").first()[0])


ENGINES = {
    "truckee": run_truckee,
    "spark-parquet": run_spark_parquet,
    "deltalake": run_deltalake,
    "delta-spark": run_delta_spark,
}
