"""Both engines give the rows that plain lists give, for plans of every kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

from feed_histories import STEPS, History, Shape, made_up_rows
from keyed_histories import KeyedHistory
from rows.row_lists import rows_of
from rows.stored_rows import stored_rows
from truckee.arrow.compare.engine import tables
from truckee.changes.diff.request import requested_diff
from truckee.options.feed import feed_options
from truckee.rows.diff import diff_rows
from truckee.rows.feed import feed_plan
from truckee.rows.plan import RowPlan
from truckee.spark.read.engine import plan_frame
from truckee.storage.base import Storage

NET = {"deduplicationMode": "netChanges"}
SHAPES: dict[str, dict[str, Any]] = {
    "recorded": {},
    "derived": {"changeFeed": "derived", "includeChangeSource": True},
    "every move": {"changeFeed": "derived", "deduplicationMode": "none"},
    "net": {**NET, "includeSchemaVersion": True},
}
KEYED: dict[str, dict[str, Any]] = {
    "derived by ids": {"changeFeed": "derived"},
    "derived by ids, apart": {"changeFeed": "derived", "computeUpdates": False},
    "derived by keys": {"changeFeed": "derived", "keys": "id"},
    "recorded by keys": {"keys": "id", "dropUnchanged": True},
    "net by ids": {**NET, "changeFeed": "derived", "computeUpdates": True},
    "net by keys": {**NET, "keys": "id", "dropUnchanged": True},
}


def plans_of(history: History, keyed: KeyedHistory) -> dict[str, tuple[Storage, RowPlan]]:
    plain = {
        name: (history.storage, plan(history.storage, 1, history.last, shape))
        for name, shape in SHAPES.items()
    }
    by_identity = {
        name: (keyed.table.storage, plan(keyed.table.storage, 2, keyed.last, shape))
        for name, shape in KEYED.items()
    }
    of_versions = requested_diff(history.storage, 2, history.last)
    return {**plain, **by_identity, "diff": (history.storage, diff_rows(of_versions))}


def plan(storage: Storage, start: int, end: int, shape: Mapping[str, object]) -> RowPlan:
    options = {"startingVersion": start, "endingVersion": end, **shape}
    return feed_plan(storage, feed_options(options))


def counted(rows: Iterable[Mapping[str, Any]]) -> Counter[Any]:
    return Counter(
        tuple(sorted((k, v) for k, v in row.items() if k != "_commit_timestamp")) for row in rows
    )


# Invariant 70.
@pytest.mark.parametrize("parted", [False, True])
def test_both_engines_give_what_plain_lists_give(
    spark: SparkSession, tmp_path: Path, parted: bool
) -> None:
    random = Random(7 + parted)
    history = History(tmp_path / "t", Shape("none", parted))
    history.append(made_up_rows(history, random))
    while history.last < 12:
        random.choice(STEPS)(history, random)
    keyed = KeyedHistory(tmp_path / "keyed", random, 6)

    for name, (storage, rows) in plans_of(history, keyed).items():
        expected = counted(rows_of(rows, stored_rows(storage)))
        by_arrow = counted(row for table in tables(rows) for row in table.to_pylist())
        by_spark = counted(row.asDict() for row in plan_frame(spark, rows).collect())
        assert expected, name
        assert by_arrow == expected, name
        assert by_spark == expected, name
