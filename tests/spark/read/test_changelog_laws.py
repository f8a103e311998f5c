"""Both engines show the same derived and net changes, over histories that are made up."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from feed_histories import STEPS, History, Shape, made_up_rows
from keyed_histories import Change, KeyedHistory
from truckee.errors import ChangeDataFileNotFoundError
from truckee.table import DeltaTable

pytestmark = pytest.mark.property

NET = {"deduplicationMode": "netChanges", "changeFeed": "derived"}


def by_spark(spark: SparkSession, path: object, *span: int, **shape: Any) -> Counter[Any]:
    frame = DeltaTable.forPath(spark, str(path)).changes(*span, **shape)
    return Counter(tuple(row) for row in frame.drop("_commit_timestamp").collect())


def by_arrow(path: object, *span: int, **shape: Any) -> Counter[Any]:
    rows = truckee.open(str(path)).changes(*span, **shape).to_arrow().drop(["_commit_timestamp"])
    return Counter(tuple(row.values()) for row in rows.to_pylist())


@pytest.mark.parametrize("shape", [Shape("none", True), Shape("name", False)], ids=str)
def test_both_engines_agree(spark: SparkSession, tmp_path: Path, shape: Shape) -> None:
    history = History(tmp_path / "t", shape)
    random = Random(4)
    history.append(made_up_rows(history, random))
    while history.last < 14:
        random.choice(STEPS)(history, random)
    span = 2, history.last

    for asked in ({"changeFeed": "derived"}, NET, {"deduplicationMode": "netChanges"}):
        assert by_spark(spark, history.path, *span, **asked) == by_arrow(
            history.path, *span, **asked
        )


def test_a_filter_on_the_version_is_applied_to_the_net_and_not_below_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    history = KeyedHistory(tmp_path / "t", Random(11), 7)
    net = DeltaTable.forPath(spark, str(history.table)).changes(1, keys="id", **NET)

    found = net.where("_commit_version > 4").drop("_commit_timestamp").collect()

    shown = Counter(Change(kind, key, v, version) for key, v, kind, version in found)
    expected = history.net(1, history.last, updates=False)
    assert shown == Counter({c: n for c, n in expected.items() if c.version > 4})
    exchanges = str(net._jdf.queryExecution().executedPlan()).count("Exchange hashpartitioning")
    assert exchanges == 1


def test_files_that_are_gone_are_told_with_the_versions_that_still_work(
    spark: SparkSession, tmp_path: Path
) -> None:
    history = KeyedHistory(tmp_path / "t", Random(2), 5)
    (history.table.path / "f2.parquet").unlink()

    for read in (by_arrow, lambda *a, **k: by_spark(spark, *a, **k)):
        with pytest.raises(ChangeDataFileNotFoundError) as caught:
            read(history.table, 1, changeFeed="derived")
        assert caught.value.readable_from == 4
        assert sum(read(history.table, 4, changeFeed="derived").values()) > 0
