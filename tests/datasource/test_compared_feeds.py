"""Feeds whose rows are compared, by `format("truckee")`: what its tasks yield, without Spark."""

from __future__ import annotations

import pickle
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest
from pyspark import cloudpickle

import truckee
from feed_histories import STEPS, History, Shape, made_up_rows
from keyed_histories import KeyedHistory
from truckee.datasource.source import SourceReader, StreamReader, TruckeeSource

SHAPES: list[dict[str, Any]] = [
    {"changeFeed": "derived"},
    {"changeFeed": "derived", "deduplicationMode": "none", "includeChangeSource": True},
    {"changeFeed": "auto", "keys": "id", "includeSchemaVersion": True},
    {"deduplicationMode": "netChanges", "keys": "id", "computeUpdates": True},
    {"deduplicationMode": "netChanges", "changeFeed": "derived", "schemaMode": "follow"},
    {"changeFeed": "derived", "schemaMode": "superset"},
]
LIMIT: Any = None


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> KeyedHistory:
    return KeyedHistory(tmp_path_factory.mktemp("keyed") / "t", Random(3), 6)


def source(path: object, **options: object) -> TruckeeSource:
    text = {name.lower(): str(value) for name, value in options.items()}
    return TruckeeSource({"path": str(path), "readchangefeed": "true", **text})


def rows_of_tasks(reader: SourceReader | StreamReader, tasks: Iterable[Any]) -> list[Any]:
    """Run each task as a worker does, from what was sent to it."""
    sent = [pickle.loads(cloudpickle.dumps(task)) for task in tasks]
    return [row for task in sent for batch in reader.read(task) for row in batch.to_pylist()]


def counted(rows: Iterable[Mapping[str, Any]]) -> Counter[Any]:
    return Counter(tuple(row.items()) for row in rows)


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_a_batch_read_has_the_rows_of_every_other_door(
    keyed: KeyedHistory, shape: dict[str, Any]
) -> None:
    of = source(keyed.table, startingVersion=2, **shape)
    reader = of.reader(of.schema())

    found = rows_of_tasks(reader, reader.partitions())

    expected = truckee.open(str(keyed.table)).changes(2, **shape).to_arrow()
    assert counted(found) == counted(expected.to_pylist())
    assert of.schema().names == expected.schema.names


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_the_batches_of_a_stream_are_the_batch_read(
    keyed: KeyedHistory, shape: dict[str, Any]
) -> None:
    of = source(keyed.table, startingVersion=0, **shape)
    reader = of.streamReader(of.schema())
    assert isinstance(reader, StreamReader)

    start = reader.initialOffset()
    end = reader.latestOffset(start, LIMIT)
    found = rows_of_tasks(reader, reader.partitions(start, end))

    expected = truckee.open(str(keyed.table)).changes(0, **shape).to_arrow()
    assert counted(found) == counted(expected.to_pylist())
    assert reader.latestOffset(end, LIMIT) == end


def test_rows_that_are_not_compared_are_read_by_other_tasks(tmp_path: Path) -> None:
    random = Random(5)
    history = History(tmp_path / "t", Shape("none", False))
    history.append(made_up_rows(history, random))
    while history.last < 10:
        random.choice(STEPS)(history, random)
    of = source(history.path, startingVersion=1, changeFeed="derived")
    reader = of.reader(of.schema())

    tasks = list(reader.partitions())

    assert len(tasks) == 2
    found = rows_of_tasks(reader, tasks)
    expected = truckee.open(str(history.path)).changes(1, changeFeed="derived").to_arrow()
    assert counted(found) == counted(expected.to_pylist())


def test_some_columns_are_read(keyed: KeyedHistory) -> None:
    options = {"changeFeed": "derived", "columns": "_commit_version,v"}
    of = source(keyed.table, startingVersion=1, **options)
    reader = of.reader(of.schema())

    found = rows_of_tasks(reader, reader.partitions())

    assert {tuple(row) for row in found} == {("_commit_version", "v")}
