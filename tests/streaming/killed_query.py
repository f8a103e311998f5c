"""A query from the feed of one table into another, run as a script, to be killed at any moment."""

from __future__ import annotations

import sys
from pathlib import Path

from truckee.spark.session import session
from truckee.streaming.fast_lane import stream_frame
from truckee.streaming.sink import write_batch


def main(folder: Path, lane: str) -> None:
    spark = session("killed", master="local[2]", **{"spark.sql.shuffle.partitions": "2"})
    options = {"readChangeFeed": "true", "startingVersion": "0", "maxFilesPerTrigger": "1"}
    source = str(folder / "source")
    if lane == "fast":
        frame = stream_frame(spark, source, options)
    else:
        frame = spark.readStream.format("truckee").options(**options).load(source)
    frame = frame.withColumnsRenamed(
        {"_change_type": "change", "_commit_version": "version", "_commit_timestamp": "at"}
    )
    writer = frame.writeStream.option("checkpointLocation", str(folder / "checkpoint"))
    writer = writer.trigger(availableNow=True)
    if lane == "fast":
        query = writer.foreachBatch(write_batch(str(folder / "copy"))).start()
    else:
        query = writer.format("truckee").start(str(folder / "copy"))
    print("started", flush=True)
    query.awaitTermination()
    print("done", flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
