"""Count the rows of one partition out of a hundred, in a table of very many files."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.many_files import SCHEMA, prepare_many_files

TITLE = "one partition of a table of 100,000 files, counted, from opening the table"
SPARK = True
WARMUP = 1
REPETITIONS = 5
NOTES = {"spark-parquet": "the files of that partition alone, which it is given"}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    return prepare_many_files(scale, workdir)


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    import truckee

    frame = truckee.read(context.spark).load(params["table"])
    return int(frame.where(f"day = date'{params['day']}'").count())


def run_spark_parquet(context: Any, params: dict[str, Any]) -> int:
    folder = f"{params['table']}/day={params['day']}"
    return int(context.spark.read.schema(SCHEMA.partition(",")[0]).parquet(folder).count())


def run_delta_spark(context: Any, params: dict[str, Any]) -> int:
    frame = context.spark.read.format("delta").load(params["table"])
    return int(frame.where(f"day = date'{params['day']}'").count())


def run_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable, QueryBuilder

    query = QueryBuilder().register("t", DeltaTable(params["table"]))
    text = f"SELECT count(*) AS n FROM t WHERE day = date '{params['day']}'"
    return int(query.execute(text).read_all()["n"][0].as_py())


ENGINES = {
    "truckee": run_truckee,
    "spark-parquet": run_spark_parquet,
    "deltalake": run_deltalake,
    "delta-spark": run_delta_spark,
}
