"""Feeds read without a JVM, from opening the table: inserts, vectors, a thousand commits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from benchmarks.cases import feed_ten_commits, feed_thousand_commits, feed_vector_deletes

TITLE = "feeds without a JVM: ten commits, deletes by vector, a thousand commits"
WARMUP = 1
REPETITIONS = 3
IMPORTS = {"truckee": ("truckee.local_table",), "deltalake": ("deltalake",)}
NOTES = {"deltalake": "its rows are not compared: it shows other changes where vectors delete"}
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


def run_deltalake(context: Any, params: dict[str, Any]) -> None:
    from deltalake import DeltaTable

    table = DeltaTable(params["tables"][params["kind"]])
    for _ in table.load_cdf(starting_version=params["start"]):
        pass


ENGINES = {"truckee": run_truckee, "deltalake": run_deltalake}
