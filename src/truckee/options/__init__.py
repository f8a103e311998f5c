"""Spark's string options of readers and writers, as typed and checked values."""

from truckee.options.feed import (
    FEED_SWITCHES,
    Bound,
    FeedOptions,
    SchemaMode,
    bound,
    feed_options,
    is_feed_read,
)
from truckee.options.text import Options, unknown_options
from truckee.options.time_travel import split_path, time_travel
from truckee.options.timestamps import timestamp_ms

__all__ = [
    "FEED_SWITCHES",
    "Bound",
    "FeedOptions",
    "Options",
    "SchemaMode",
    "bound",
    "feed_options",
    "is_feed_read",
    "split_path",
    "time_travel",
    "timestamp_ms",
    "unknown_options",
]
