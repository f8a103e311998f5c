"""String options, as readers and writers of Spark take them, as typed and checked values."""

from truckee.options.feed import FEED_SWITCHES, Bound, FeedOptions, SchemaMode, feed_options
from truckee.options.text import Options, unknown_options
from truckee.options.timestamps import timestamp_ms

__all__ = [
    "FEED_SWITCHES",
    "Bound",
    "FeedOptions",
    "Options",
    "SchemaMode",
    "feed_options",
    "timestamp_ms",
    "unknown_options",
]
