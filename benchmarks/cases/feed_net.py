"""The net changes of ten commits that insert twenty million rows, beside reading them as a feed."""

from __future__ import annotations

from typing import Any

from benchmarks.cases.feed_ten_commits import ROWS, prepare
from benchmarks.reading import all_of, feed_engines

__all__ = ["ROWS", "prepare"]

TITLE = "net changes of 10 commits, 20 M rows"
SPARK = True
WARMUP = 1
REPETITIONS = 5
VARIANTS = {"net changes": {"mode": "netChanges"}, "the feed as it is": {"mode": "none"}}


def run_truckee(context: Any, params: dict[str, Any]) -> Any:
    import truckee

    reader = truckee.read(context.spark).option("readChangeFeed", True)
    reader = reader.option("startingVersion", 0).option("deduplicationMode", params["mode"])
    return all_of(reader.load(params["table"]))


_PLAIN = feed_engines(start=0, is_limited_by_parquet=True)["spark-parquet"]
ENGINES = {"truckee": run_truckee, "spark-parquet": _PLAIN}
