"""How many calls between Python and the JVM a query and a micro-batch take."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import current_thread
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from truckee.spark.jvm import bridge

ASKED, BACK, OWN = "the JVM asks", "Python calls back to answer", "Python calls by itself"


@contextmanager
def counted_calls(spark: SparkSession) -> Iterator[Counter[str]]:
    """Count the calls in the body: by the JVM, those made to answer, and all others."""
    found: Counter[str] = Counter()
    client: Any = type(spark.sparkContext._gateway._gateway_client)
    send, answer = client.send_command, bridge._Answers.call
    answering: set[int | None] = set()

    def counted_send(self: Any, command: str, *arguments: Any, **options: Any) -> Any:
        # The release of an object of the JVM comes whenever Python collects garbage.
        if not command.startswith("m\n"):
            found[BACK if current_thread().ident in answering else OWN] += 1
        return send(self, command, *arguments, **options)

    def counted_answer(self: Any, *arguments: Any) -> Any:
        found[ASKED] += 1
        answering.add(current_thread().ident)
        try:
            return answer(self, *arguments)
        finally:
            answering.discard(current_thread().ident)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client, "send_command", counted_send)
        patch.setattr(bridge._Answers, "call", counted_answer)
        yield found


@pytest.fixture
def path(spark: SparkSession, tmp_path: Path) -> str:
    path = str(tmp_path / "t")
    writer = truckee.write(spark.range(0, 100, 1, 2).selectExpr("id", "'a' AS v"))
    writer.option("delta.enableChangeDataFeed", "true").save(path)
    return path


def test_a_warm_count_asks_once_and_the_answer_makes_no_call(
    spark: SparkSession, path: str
) -> None:
    rows = truckee.read(spark).load(path).where("id > 5")
    assert rows.count() == 94

    with counted_calls(spark) as found:
        assert rows.count() == 94

    assert (found[ASKED], found[BACK]) == (1, 0)
    assert found[OWN] <= 3


def test_the_first_count_of_a_frame_makes_one_call_for_its_files(
    spark: SparkSession, path: str
) -> None:
    assert truckee.read(spark).load(path).where("id > 5").count() == 94
    rows = truckee.read(spark).load(path).where("id > 5")

    with counted_calls(spark) as found:
        assert rows.count() == 94

    assert (found[ASKED], found[BACK]) == (1, 1)


def test_the_calls_of_a_micro_batch(spark: SparkSession, path: str, tmp_path: Path) -> None:
    stream = truckee.readStream(spark).option("readChangeFeed", "true").load(path)
    writer = stream.writeStream.format("noop").option("checkpointLocation", str(tmp_path / "c"))
    query = writer.trigger(processingTime="100 milliseconds").start()
    try:
        query.processAllAvailable()
        with counted_calls(spark) as found:
            # An append is no answer to a question of the JVM.
            truckee.write(spark.range(1).selectExpr("id", "'b' AS v")).mode("append").save(path)
            query.processAllAvailable()
    finally:
        query.stop()

    # Spark asks for the latest offset several times; only the plan of the batch takes calls.
    assert 0 < found[BACK] <= 16
