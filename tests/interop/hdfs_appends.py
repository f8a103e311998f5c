"""A driver that appends to a table from several threads; run as a script.

It waits for a line on its standard input, then prints a line for each number that was committed.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

from pyspark.sql import SparkSession

import truckee


def main(url: str, first: int, threads: int, appends: int) -> None:
    spark = truckee.session("hdfs-appends", master="local[2]", **{"spark.driver.memory": "700m"})
    truckee.read(spark).load(url).count()
    print("ready", flush=True)
    sys.stdin.readline()
    firsts = [first + thread * appends for thread in range(threads)]
    with ThreadPoolExecutor(threads) as pool:
        for done in [pool.submit(append, spark, url, number, appends) for number in firsts]:
            done.result()
    spark.stop()


def append(spark: SparkSession, url: str, first: int, appends: int) -> None:
    """Append numbers one by one, each in a commit of its own."""
    for number in range(first, first + appends):
        truckee.write(spark.range(number, number + 1, 1, 1)).mode("append").save(url)
        print(number, flush=True)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))
