"""From a commit to its row in the sink of a running query; each run is one commit."""

from __future__ import annotations

import json
import shutil
import threading
from pathlib import Path
from typing import Any

from benchmarks.streams import delta_spark, fast_lane

TITLE = "from a commit to its row in the sink of a running query"
SPARK = True
WARMUP = 5
REPETITIONS = 40
_running: dict[str, Running] = {}


def prepare(scale: str, workdir: Path) -> dict[str, Any]:
    from benchmarks.data_tables import TableWriter

    writer = TableWriter(workdir / "table")
    add = writer.data_file("part-00.parquet", 0, 1)
    writer.commit([{"add": add}])
    return {"table": str(writer.table), "add": add}


class Running:
    """A query over a table of its own, whose sink tells when it has seen a row."""

    def __init__(self, context: Any, params: dict[str, Any], load: Any) -> None:
        self._table = Path(f"{params['table']}-{context.engine}")
        checkpoint = f"{self._table}-checkpoint"
        for folder in (self._table, checkpoint):
            shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(params["table"], self._table)
        self._add = params["add"]
        self._version = 0
        self._seen = threading.Event()
        options = {"readChangeFeed": "true", "startingVersion": "0"}
        frame = load(context.spark, str(self._table), options)
        writer = frame.writeStream.foreachBatch(self._look).option("checkpointLocation", checkpoint)
        self._query = writer.start()
        self._query.processAllAvailable()

    def commit_and_wait(self) -> bool:
        """Commit a row, and return once the sink has it."""
        self._seen.clear()
        self._version += 1
        name = f"part-{self._version:05}.parquet"
        shutil.copy(self._table / self._add["path"], self._table / name)
        text = json.dumps({"add": {**self._add, "path": name}}) + "\n"
        staged = self._table / "_delta_log" / ".staged"
        staged.write_text(text)
        staged.rename(self._table / "_delta_log" / f"{self._version:020}.json")
        return self._seen.wait(timeout=60)

    def _look(self, batch: Any, _: int) -> None:
        if batch.collect():
            self._seen.set()


def _run(load: Any) -> Any:
    def run(context: Any, params: dict[str, Any]) -> bool:
        if context.engine not in _running:
            _running[context.engine] = Running(context, params, load)
        return _running[context.engine].commit_and_wait()

    return run


ENGINES = {"truckee": _run(fast_lane), "delta-spark": _run(delta_spark)}
