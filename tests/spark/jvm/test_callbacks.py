"""Calls of the JVM into Python: what they hold, and what they leave behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

import truckee
from simultaneous_calls import call_at_once
from truckee.spark.jvm import bridge
from truckee.spark.jvm.bridge import Callback, gateway

SCRIPT = Path(__file__).with_name("many_rounds.py")
KEPT = 4
ROUNDS = os.environ.get("TRUCKEE_ROUNDS", "20")


# Invariant 32.
@pytest.mark.spark
@pytest.mark.slow
def test_threads_descriptors_and_callbacks_do_not_grow_with_what_was_done(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), str(tmp_path), "10", ROUNDS],
        capture_output=True,
        text=True,
        check=False,
        timeout=1800,
    )

    assert done.returncode == 0, done.stderr
    before, after = map(json.loads, done.stdout.splitlines())
    assert set(after) == set(before)
    assert all(after[name] <= before[name] for name in before), (before, after)


def test_queries_in_new_threads_of_the_jvm_share_their_connections(
    spark: SparkSession, tmp_path: Path
) -> None:
    truckee.write(spark.range(10)).save(str(tmp_path / "t"))
    counts = [_grouped(spark, tmp_path / "t") for _ in range(2)]
    before = _connections(spark)

    counts += [_grouped(spark, tmp_path / "t") for _ in range(4)]

    assert counts == [10] * 6
    assert _connections(spark) == before


def test_threads_of_python_take_their_connections_with_them(
    spark: SparkSession, tmp_path: Path
) -> None:
    truckee.write(spark.range(10)).save(str(tmp_path / "t"))
    listed = gateway(spark)._gateway_client.deque
    before = len(listed)

    for _ in range(4):
        thread = Thread(target=_grouped, args=(spark, tmp_path / "t"))
        thread.start()
        thread.join()

    for _ in range(50):
        if len(listed) <= before:
            break
        time.sleep(0.1)
    assert len(listed) <= before


def test_a_call_within_a_call_is_answered(spark: SparkSession, tmp_path: Path) -> None:
    truckee.write(spark.range(10)).save(str(tmp_path / "t"))
    callback = Callback(lambda _, __: _grouped(spark, tmp_path / "t"))

    found = _called(spark, callback, from_new_thread=True)

    assert found == 10


def test_calls_at_the_same_time_are_answered_each(spark: SparkSession) -> None:
    found: list[int] = []

    def ask(number: int) -> None:
        callback = Callback(lambda first, _: number + int(first))
        found.append(_called(spark, callback, from_new_thread=True))

    threads = [Thread(target=ask, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(found) == [number + 7 for number in range(8)]


def test_connections_of_many_calls_at_once_are_not_kept(spark: SparkSession) -> None:
    before = _connections(spark)

    call_at_once(spark, 12)
    for _ in range(50):
        if _connections(spark) <= before + KEPT:
            break
        time.sleep(0.1)

    assert _connections(spark) <= before + KEPT


def test_a_function_is_released_when_the_jvm_has_dropped_it(spark: SparkSession) -> None:
    class Answer:
        def __call__(self, first: object, second: object) -> str:
            return f"{first}{second}"

    answer = Answer()
    found = _called(spark, Callback(answer), from_new_thread=False)
    held = answer in bridge._functions.values()
    for _ in range(20):
        gateway(spark).jvm.System.gc()
        _called(spark, Callback(lambda _, __: None), from_new_thread=False)
        if answer not in bridge._functions.values():
            break

    assert (found, held) == ("7None", True)
    assert answer not in bridge._functions.values()


def _grouped(spark: SparkSession, path: Path) -> int:
    """A count with a shuffle, for which Spark asks for files from threads of its own."""
    return truckee.read(spark).load(str(path)).groupBy("id").count().count()


def _called(spark: SparkSession, callback: Callback, *, from_new_thread: bool) -> object:
    """What the JVM is told when it calls a function with 7 and null."""
    jvm = gateway(spark).jvm
    function = jvm.java.util.concurrent.CompletableFuture.completedFuture(7)
    nothing = jvm.java.util.concurrent.CompletableFuture.completedFuture(None)
    if from_new_thread:
        return function.thenCombineAsync(nothing, callback).get()
    return function.thenCombine(nothing, callback).get()


def _connections(spark: SparkSession) -> int:
    return len(gateway(spark)._callback_server.connections)
