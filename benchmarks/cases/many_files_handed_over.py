"""Hand every file of a table of very many files to Spark, without reading one.

What is timed ends with Spark's own split of the files into tasks; divided by the number of files it
is what a file costs before its first byte is read.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.many_files import SCHEMA, prepare_many_files

TITLE = "all of 100,000 files handed to Spark and split into tasks, from opening the table"
SPARK = True
WARMUP = 1
REPETITIONS = 5
NOTES = {"spark-parquet": "with Spark's own listing of the folders"}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    return prepare_many_files(scale, workdir)


def run_truckee(context: Any, params: dict[str, Any]) -> None:
    import truckee

    _split(truckee.read(context.spark).load(params["table"]))


def run_spark_parquet(context: Any, params: dict[str, Any]) -> None:
    _split(context.spark.read.schema(SCHEMA).parquet(params["table"]))


def run_delta_spark(context: Any, params: dict[str, Any]) -> None:
    _split(context.spark.read.format("delta").load(params["table"]))


def _split(frame: Any) -> None:
    frame._jdf.queryExecution().toRdd().getNumPartitions()


ENGINES = {
    "truckee": run_truckee,
    "spark-parquet": run_spark_parquet,
    "delta-spark": run_delta_spark,
}
