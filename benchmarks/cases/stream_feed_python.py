"""The feed as a stream, by PySpark's Python Data Source and by delta-spark's source."""

from __future__ import annotations

from benchmarks.streams import delta_spark, drained, prepare_feed, python_lane

TITLE = '5 M changed rows of 50 commits by format("truckee"), 5 files a batch'
SPARK = True
WARMUP = 1
REPETITIONS = 5
ENGINES = {"truckee": drained(python_lane), "delta-spark": drained(delta_spark)}
NOTES = {"truckee": 'the lane of Spark Connect: spark.readStream.format("truckee")'}
prepare = prepare_feed
