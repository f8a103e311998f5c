"""The feed as a stream, by the fast lane and by delta-spark's source."""

from __future__ import annotations

from benchmarks.streams import delta_spark, drained, fast_lane, prepare_feed

TITLE = "5 M changed rows of 50 commits as a stream, 5 files a batch"
SPARK = True
WARMUP = 1
REPETITIONS = 5
ENGINES = {"truckee": drained(fast_lane), "delta-spark": drained(delta_spark)}
NOTES = {"truckee": "the fast lane: truckee.readStream"}
prepare = prepare_feed
