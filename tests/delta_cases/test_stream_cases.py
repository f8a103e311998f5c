"""What Delta's own suite of CDC streams holds, held of truckee; see `streams.py`."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from zlib import crc32

import pytest
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

import truckee
from delta_cases.form import Row
from delta_cases.running import Copies, in_order, made_at_times, plain
from delta_cases.streams import CASES, RESTART, Seen, StreamCase
from session_settings import set_as
from truckee.doors.enable import enable


@pytest.fixture(scope="module")
def copies(spark: SparkSession, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Copies]:
    truckee.install()
    yield Copies(enable(spark), tmp_path_factory.mktemp("stream-cases"))
    truckee.uninstall()


class Stream:
    """A query of a feed that keeps the rows of each batch."""

    def __init__(self, spark: SparkSession, case: StreamCase, path: Path) -> None:
        self.spark, self.case, self.path = spark, case, path
        self.batches: list[list[Row]] = []
        self.start()

    def start(self) -> None:
        reader = self.spark.readStream.format("delta").option("readChangeFeed", "true")
        rows = reader.options(**self.case.options).load(str(self.path)).drop("_commit_timestamp")
        rows = rows.select(*self.case.columns) if self.case.columns else rows
        writer = rows.writeStream.foreachBatch(self.take)
        self.query = writer.option("checkpointLocation", f"{self.path}-checkpoint").start()

    def take(self, batch: DataFrame, _: int) -> None:
        self.batches.append([plain(row) for row in batch.collect()])

    def seen(self) -> list[list[Row]]:
        """Return the batches since this was asked last."""
        self.query.processAllAvailable()
        found, self.batches = [batch for batch in self.batches if batch], []
        return found


@contextmanager
def streaming(spark: SparkSession, case: StreamCase, path: Path) -> Iterator[Stream]:
    stream = Stream(spark, case, path)
    try:
        yield stream
    finally:
        stream.query.stop()


@pytest.mark.parametrize(
    ("case", "way"),
    [
        pytest.param(
            case,
            case.ways[crc32(case.fact.encode()) % len(case.ways)],
            id=case.fact,
            marks=() if case.quick else pytest.mark.slow,
        )
        for case in CASES
    ],
)
def test_a_case_of_deltas_suite_of_streams(
    spark: SparkSession, copies: Copies, case: StreamCase, way: str
) -> None:
    path = copies.copy(case.table, way)
    table = f"delta.`{path}`"
    with set_as(spark, case.conf):
        for statement in case.before:
            spark.sql(statement.replace("{t}", table)).collect()
        made_at_times(case.times_ms, path)
        if not case.error:
            take_steps(spark, case, path, table)
            return
        with pytest.raises(PySparkException) as caught:
            take_steps(spark, case, path, table)
        assert case.error in str(caught.value)


def take_steps(spark: SparkSession, case: StreamCase, path: Path, table: str) -> None:
    with streaming(spark, case, path) as stream:
        for step in case.steps:
            take_step(spark, stream, step, table)
        assert stream.seen() == []


def take_step(spark: SparkSession, stream: Stream, step: str | Seen, table: str) -> None:
    if step == RESTART:
        stream.query.stop()
        stream.start()
    elif isinstance(step, Seen):
        check(stream, step)
    else:
        spark.sql(step.replace("{t}", table)).collect()


def check(stream: Stream, expected: Seen) -> None:
    batches = stream.seen()
    assert in_order(row for batch in batches for row in batch) == in_order(expected.rows)
    if expected.batches is not None:
        assert tuple(map(len, batches)) == tuple(expected.batches)
