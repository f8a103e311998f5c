"""The laws of the feed, read by Spark from histories that Hypothesis makes up.

snapshot(a) with changes(a+1..b) applied is snapshot(b), as multisets; changes(a..c) is
changes(a..b) then changes(b+1..c); and all of them are what a plain model of the table says.
"""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from itertools import count
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.sql import DataFrame, SparkSession

import truckee
from feed_histories import COLUMNS, Change, History, Row, Shape, histories

pytestmark = pytest.mark.property

SHAPES = [Shape(mapping, parted) for mapping in ("none", "name", "id") for parted in (False, True)]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_laws_of_the_feed(
    spark: SparkSession, tmp_path_factory: pytest.TempPathFactory, shape: Shape
) -> None:
    root, numbers = tmp_path_factory.mktemp("laws"), count()

    def folder() -> Path:
        return root / f"t{next(numbers)}"

    @settings(
        max_examples=5,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.data())
    def laws_hold(data: st.DataObject) -> None:
        history = data.draw(histories(folder, shape, commits=(10, 16)))
        a = data.draw(st.integers(0, history.last // 2), label="a")
        b = data.draw(st.integers(a, history.last - 1), label="b")
        check_laws(spark, history, a, b)

    laws_hold()


def check_laws(spark: SparkSession, history: History, a: int, b: int) -> None:
    """Check the laws for the versions a <= b < last."""
    last = history.last
    with ThreadPoolExecutor(3) as pool:
        whole = pool.submit(feed, spark, history, a, last)
        first = pool.submit(feed, spark, history, a, b)
        rest = pool.submit(feed, spark, history, b + 1, last)
        before = pool.submit(snapshot, spark, history, a)
        between = pool.submit(snapshot, spark, history, b)

    assert whole.result() == history.feed(a, last)
    assert first.result() + rest.result() == whole.result()
    assert before.result() == history.rows(a)
    assert between.result() == history.rows(b)
    after_a = Counter({c: n for c, n in whole.result().items() if a < c.version <= b})
    assert _with(before.result(), after_a) == between.result()


def feed(spark: SparkSession, history: History, start: int, end: int) -> Counter[Change]:
    frame = truckee.table_changes(spark, str(history.path), start, end)
    columns = ("_commit_version", "_change_type", *_own_columns(frame))
    return Counter(
        Change(version, kind, _row(values))
        for version, kind, *values in frame.select(*columns).collect()
    )


def snapshot(spark: SparkSession, history: History, version: int) -> Counter[Row]:
    frame = truckee.read(spark).option("versionAsOf", version).load(str(history.path))
    return Counter(_row(values) for values in frame.select(*_own_columns(frame)).collect())


def _own_columns(frame: DataFrame) -> list[str]:
    return [name for name in COLUMNS if name in frame.columns]


def _row(values: object) -> Row:
    found = (*values, None)[:3]  # type: ignore[misc]
    return Row(*found)


def _with(rows: Counter[Row], changes: Counter[Change]) -> Counter[Row]:
    found = Counter(rows)
    for change, times in changes.items():
        gains = change.type in ("insert", "update_postimage")
        found[change.row] += times if gains else -times
    assert min(found.values(), default=0) >= 0
    return +found
