"""A query from the feed of one table into another, run as a script, to be killed at any moment.

It has its session ready before it is told, by a line on stdin, in which lane to run and how many
files a batch may have.
"""

from __future__ import annotations

import sys
from pathlib import Path

from truckee.spark.session.session import session
from truckee.streaming.fast_lane import stream_frame
from truckee.streaming.sink import write_batch

OPTIONS = {"readChangeFeed": "true", "startingVersion": "0"}
RENAMED = {"_change_type": "change", "_commit_version": "version", "_commit_timestamp": "at"}


def main(folder: Path) -> None:
    spark = session("killed", master="local[2]")
    lane, limit = sys.stdin.readline().split()
    options = {**OPTIONS, "maxFilesPerTrigger": limit}
    source, copy = str(folder / "source"), str(folder / "copy")
    if lane == "fast":
        frame = stream_frame(spark, source, options)
    else:
        frame = spark.readStream.format("truckee").options(**options).load(source)
    writer = frame.withColumnsRenamed(RENAMED).writeStream.trigger(availableNow=True)
    writer = writer.option("checkpointLocation", str(folder / "checkpoint"))
    if lane == "fast":
        query = writer.foreachBatch(write_batch(copy)).start()
    else:
        query = writer.format("truckee").start(copy)
    query.awaitTermination()


if __name__ == "__main__":
    main(Path(sys.argv[1]))
