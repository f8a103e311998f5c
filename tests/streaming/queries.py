"""Streaming queries that run to their end, and what came out of them."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

from pyspark.sql import DataFrame, Row
from pyspark.sql.streaming import StreamingQuery


class Collected:
    """A sink that keeps the rows of each batch, and leaves out a batch that comes again."""

    def __init__(self) -> None:
        self.batches: dict[int, list[Row]] = {}

    def __call__(self, batch: DataFrame, number: int) -> None:
        self.batches.setdefault(number, batch.collect())

    @property
    def rows(self) -> list[Row]:
        return [row for _, rows in sorted(self.batches.items()) for row in rows]

    @property
    def sizes(self) -> list[int]:
        return [len(rows) for _, rows in sorted(self.batches.items())]


def run(frame: DataFrame, checkpoint: Path, **trigger: Any) -> Collected:
    """Run a query to its end; what it has read by now is what is there."""
    collected = Collected()
    query = start(frame, checkpoint, collected, **(trigger or {"availableNow": True}))
    try:
        query.awaitTermination()
    finally:
        query.stop()
    return collected


def start(frame: DataFrame, checkpoint: Path, into: Any, **trigger: Any) -> StreamingQuery:
    writer = frame.writeStream.foreachBatch(into).option("checkpointLocation", str(checkpoint))
    if trigger:
        writer = writer.trigger(**trigger)
    return writer.start()


def counted(rows: list[Row]) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row) for row in rows)


def offsets(checkpoint: Path) -> list[str]:
    """Return the offset of each batch, as it stands in the checkpoint."""
    files = sorted((checkpoint / "offsets").glob("[0-9]*"), key=lambda file: int(file.name))
    return [file.read_text().splitlines()[-1] for file in files]
