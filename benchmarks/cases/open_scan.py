"""A table read without a JVM, from opening it, one column or all, with and without vectors."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.reading import prepare_scan, read_by_pyarrow

TITLE = "20 M rows without a JVM"
WARMUP = 1
REPETITIONS = 5
IMPORTS = {
    "truckee": ("truckee.local_table",),
    "pyarrow": ("pyarrow.compute", "pyarrow.parquet"),
    "deltalake": ("deltalake",),
}
NOTES = {"pyarrow": "the limit: reads the files, and knows nothing of logs and vectors"}
SHARES = {"plain": 0.0, "vectors 1 %": 0.01, "vectors 30 %": 0.3}
VARIANTS = {
    f"{what}, {name}": {"what": what, "kind": name}
    for name in SHARES
    for what in ("sum of one column", "all columns")
}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    tables = {}
    for number, (name, share) in enumerate(SHARES.items()):
        folder = workdir / str(number)
        folder.mkdir()
        tables[name] = prepare_scan(scale, folder, deleted=share)["table"]
    return {"tables": tables}


def run_truckee(context: Any, params: dict[str, Any]) -> int:
    import pyarrow.compute as pc

    import truckee

    table = truckee.open(params["tables"][params["kind"]])
    if params["what"] == "all columns":
        return sum(batch.num_rows for batch in table.to_batches())
    return sum(pc.sum(batch["x"]).as_py() or 0 for batch in table.to_batches(columns=["x"]))


def run_pyarrow(context: Any, params: dict[str, Any]) -> int | None:
    import pyarrow.compute as pc

    table = params["tables"][params["kind"]]
    if params["what"] == "all columns":
        answer = read_by_pyarrow(table, lambda batch: int(batch.num_rows))
    else:
        answer = read_by_pyarrow(table, lambda batch: pc.sum(batch["x"]).as_py() or 0, ["x"])
    return answer if params["kind"] == "plain" else None


def run_deltalake(context: Any, params: dict[str, Any]) -> int:
    from deltalake import DeltaTable, QueryBuilder

    query = QueryBuilder().register("t", DeltaTable(params["tables"][params["kind"]]))
    if params["what"] == "all columns":
        return sum(batch.num_rows for batch in query.execute("SELECT * FROM t"))
    return int(query.execute("SELECT sum(x) AS x FROM t").read_all()["x"][0].as_py())


ENGINES = {"truckee": run_truckee, "pyarrow": run_pyarrow, "deltalake": run_deltalake}
