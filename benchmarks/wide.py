"""A table of five hundred columns and few rows, for cases that differ in what is done with it.

Every run has a table of its own: hard links to one that is never changed, made outside the clock.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.dml import path_of

COLUMNS = {"small": 50, "full": 500}
ROWS = 2000

ROWS_READ = ("read all", "append")
ROWS_CHANGED = ("DELETE of a row", "UPDATE of a row", "MERGE of 100 rows")
IMPORTS = {"truckee": ("truckee.table",), "deltalake": ("deltalake",)}
NOTES = {"deltalake": "writes files anew, for it writes no vectors"}


def variants(names: Sequence[str]) -> dict[str, dict[str, Any]]:
    """Return a variant for each thing that is done."""
    return {name: {"what": name} for name in names}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    """Write the table, with and without vectors in its log, and rows to append or merge."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.parquet as pq
    from deltalake import write_deltalake

    def rows(start: int, end: int) -> pa.Table:
        ids = np.arange(start, end)
        return pa.table({"id": ids} | {f"c{i}": ids + i for i in range(COLUMNS[scale])})

    write_deltalake(workdir / "plain", rows(0, ROWS))
    marks = {"delta.enableDeletionVectors": "true"}
    write_deltalake(workdir / "table", rows(0, ROWS), configuration=marks)
    pq.write_table(rows(ROWS - 50, ROWS + 50), workdir / "source.parquet")
    return {name: str(workdir / name) for name in ("plain", "table", "source.parquet")}


def run_truckee(context: Any, params: dict[str, Any]) -> None:
    import truckee

    path, spark = path_of(context), context.spark
    table = truckee.DeltaTable.forPath(spark, path)
    match params["what"]:
        case "read all":
            truckee.read(spark).load(path).write.format("noop").mode("overwrite").save()
        case "append":
            source = spark.read.parquet(params["source.parquet"])
            truckee.write(source).mode("append").save(path)
        case what:
            _changed(table, what, spark.read.parquet(params["source.parquet"]))


def run_delta_spark(context: Any, params: dict[str, Any]) -> None:
    from delta.tables import DeltaTable

    path, spark = path_of(context), context.spark
    match params["what"]:
        case "read all":
            spark.read.format("delta").load(path).write.format("noop").mode("overwrite").save()
        case "append":
            source = spark.read.parquet(params["source.parquet"])
            source.write.format("delta").mode("append").save(path)
        case what:
            table = DeltaTable.forPath(spark, path)
            _changed(table, what, spark.read.parquet(params["source.parquet"]))


def _changed(table: Any, what: str, source: Any) -> None:
    """Do what both libraries on Spark have the same names for."""
    if what.startswith("DELETE"):
        table.delete("id = 7")
    elif what.startswith("UPDATE"):
        table.update("id = 7", {"c1": "c1 + 1"})
    else:
        merge = table.alias("t").merge(source.alias("s"), "t.id = s.id")
        merge.whenMatchedUpdateAll().whenNotMatchedInsertAll().execute()


def run_spark_parquet(context: Any, params: dict[str, Any]) -> None:
    path, spark = path_of(context), context.spark
    if params["what"] == "append":
        spark.read.parquet(params["source.parquet"]).write.parquet(f"{path}/new")
        return
    files = sorted(str(file) for file in Path(path).glob("*.parquet"))
    spark.read.parquet(*files).write.format("noop").mode("overwrite").save()


def run_deltalake(context: Any, params: dict[str, Any]) -> None:
    import pyarrow.parquet as pq
    from deltalake import DeltaTable, write_deltalake

    path = path_of(context)
    match params["what"]:
        case "read all":
            DeltaTable(path).to_pyarrow_table()
        case "append":
            write_deltalake(path, pq.read_table(params["source.parquet"]), mode="append")
        case "DELETE of a row":
            DeltaTable(path).delete("id = 7")
        case "UPDATE of a row":
            DeltaTable(path).update(updates={"c1": "c1 + 1"}, predicate="id = 7")
        case _:
            merge = DeltaTable(path).merge(
                pq.read_table(params["source.parquet"]),
                "t.id = s.id",
                source_alias="s",
                target_alias="t",
            )
            merge.when_matched_update_all().when_not_matched_insert_all().execute()


ENGINES = {
    "truckee": run_truckee,
    "deltalake": run_deltalake,
    "delta-spark": run_delta_spark,
}
