"""Growth: rows written as 10 to 20,000 files in one job."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

TITLE = "2 M rows written as 10 to 20,000 files in one job"
SPARK = True
WARMUP = 1
REPETITIONS = 3
FILES = {"small": (10, 100, 400), "full": (10, 100, 1_000, 5_000, 20_000)}
ROWS = 2_000_000
VARIANTS = {f"{count:,} files": {"count": count} for count in FILES["full"]}
IMPORTS = {"truckee": ("truckee.writer",)}
NOTES = {"spark-parquet": "df.write.parquet of the same frame, without statistics in a log"}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    workdir.mkdir(parents=True, exist_ok=True)
    return {"folder": str(workdir), "most": max(FILES[scale]), "rows": ROWS}


def reset(context: Any, params: dict[str, Any]) -> None:
    shutil.rmtree(_path(context, params), ignore_errors=True)


def _path(context: Any, params: dict[str, Any]) -> str:
    return str(Path(params["folder"]) / context.engine)


def _frame(context: Any, params: dict[str, Any]) -> Any:
    # A task writes a hundred files, so that tasks are not what is measured.
    files = min(params["count"], params["most"])
    tasks = max(2, files // 100)
    rows = context.spark.range(0, params["rows"], 1, tasks)
    return rows.selectExpr("id", "id * 2 AS x", "cast(id % 1000 AS string) AS s", "id / 7 AS f")


def _rows_a_file(params: dict[str, Any]) -> int:
    return -(-int(params["rows"]) // min(params["count"], params["most"]))


def write_truckee(context: Any, params: dict[str, Any]) -> None:
    from truckee import write

    writer = write(_frame(context, params))
    writer.option("maxRecordsPerFile", _rows_a_file(params)).save(_path(context, params))


def write_parquet(context: Any, params: dict[str, Any]) -> None:
    writer = _frame(context, params).write.option("maxRecordsPerFile", _rows_a_file(params))
    writer.parquet(_path(context, params))


ENGINES = {"truckee": write_truckee, "spark-parquet": write_parquet}
