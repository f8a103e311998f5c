"""Feeds read without a JVM, from opening the table: inserts, vectors, a thousand commits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases import feed_ten_commits, feed_thousand_commits, feed_vector_deletes
from benchmarks.reading import read_by_pyarrow

TITLE = "feeds without a JVM"
WARMUP = 1
# deltalake takes more than a minute for the feed of the vectors.
REPETITIONS = 2
IMPORTS = {
    "truckee": ("truckee.local_table",),
    "pyarrow": ("pyarrow.parquet",),
    "deltalake": ("deltalake",),
}
NOTES = {
    "pyarrow": "the limit: reads the files once, without log, vectors and the columns of the feed",
    "deltalake": "its rows are not compared: it shows other changes where vectors delete",
}
FEEDS = {
    "(a) ten commits": (feed_ten_commits, 0),
    "(b) deletes by vector": (feed_vector_deletes, 1),
    "(c) a thousand commits": (feed_thousand_commits, 0),
}
VARIANTS = {name: {"kind": name, "start": start} for name, (_, start) in FEEDS.items()}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    tables = {}
    for number, (name, (case, _)) in enumerate(FEEDS.items()):
        folder = workdir / str(number)
        folder.mkdir()
        tables[name] = case.prepare(scale, folder)["table"]
    return {"tables": tables}


def run_truckee(context: Any, params: dict[str, Any]) -> None:
    import truckee

    table = truckee.open(params["tables"][params["kind"]])
    for _ in table.changes(startingVersion=params["start"]).to_batches():
        pass


def run_pyarrow(context: Any, params: dict[str, Any]) -> None:
    read_by_pyarrow(params["tables"][params["kind"]], lambda batch: int(batch.num_rows))


def run_deltalake(context: Any, params: dict[str, Any]) -> None:
    from deltalake import DeltaTable

    table = DeltaTable(params["tables"][params["kind"]])
    for _ in table.load_cdf(starting_version=params["start"]):
        pass


ENGINES = {"truckee": run_truckee, "pyarrow": run_pyarrow, "deltalake": run_deltalake}
