"""Queries of derived and netted feeds over the fast lane."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from keyed_histories import Change, KeyedHistory
from streaming.queries import run
from truckee.errors import KeysNotUniqueError, UpdatesNeedIdentityError


def changes(rows: list[Any]) -> Counter[Change]:
    return Counter(Change(r["_change_type"], r["id"], r["v"], r["_commit_version"]) for r in rows)


def stream(spark: SparkSession, table: object, **options: Any) -> Any:
    reader = truckee.readStream(spark).option("readChangeFeed", True)
    return reader.options(startingVersion=1, **options).load(str(table))


@pytest.mark.slow
def test_each_batch_is_netted_by_itself_and_emitted_at_once(
    spark: SparkSession, tmp_path: Path
) -> None:
    history = KeyedHistory(tmp_path / "t", Random(3), 6)
    asked = {"changeFeed": "derived", "deduplicationMode": "netChanges", "computeUpdates": True}
    whole = stream(spark, history.table, **asked, maxFilesPerTrigger=1000)
    each = stream(spark, history.table, **asked, keys="id", maxFilesPerTrigger=1)

    at_once = run(whole, tmp_path / "c1")
    one_by_one = run(each, tmp_path / "c2")

    assert [len(rows) for rows in at_once.batches.values()] == [len(at_once.rows)]
    assert changes(at_once.rows) == history.net(1, 6, updates=True)
    assert len(one_by_one.batches) == 6
    assert changes(one_by_one.rows) == Counter(history.feed(1, 6))
    batch = truckee.read(spark).options(readChangeFeed=True, startingVersion=1, **asked)
    assert changes(batch.load(str(history.table)).collect()) == history.net(1, 6, updates=True)
    assert whole.dtypes == batch.load(str(history.table)).dtypes


def test_what_is_wrong_with_a_batch_ends_the_query_with_its_error(
    spark: SparkSession, tmp_path: Path
) -> None:
    history = KeyedHistory(tmp_path / "t", Random(5), 3)
    twice = stream(spark, history.table, deduplicationMode="netChanges", keys="v")
    unknown = stream(spark, history.table, deduplicationMode="netChanges", computeUpdates=True)

    writer = twice.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c1"))
    with pytest.raises(KeysNotUniqueError) as caught:
        writer.trigger(availableNow=True).start().awaitTermination()
    assert caught.value.keys == ("v",)
    with pytest.raises(UpdatesNeedIdentityError, match="name the columns that identify a row"):
        run(unknown, tmp_path / "c2")
