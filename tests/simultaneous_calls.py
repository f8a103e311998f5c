"""Calls of the JVM into Python that all run at the same time."""

from __future__ import annotations

from threading import Barrier, Thread

from pyspark.sql import SparkSession

from truckee.spark.jvm.bridge import Callback, gateway


def call_at_once(spark: SparkSession, count: int) -> None:
    """Let threads of the JVM call Python; none is answered before all have called."""
    everyone = Barrier(count, timeout=60)

    def answer(_: object, __: object) -> None:
        everyone.wait()

    def call() -> None:
        futures = gateway(spark).jvm.java.util.concurrent.CompletableFuture
        one, other = futures.completedFuture(1), futures.completedFuture(2)
        one.thenCombineAsync(other, Callback(answer)).get()

    threads = [Thread(target=call) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
