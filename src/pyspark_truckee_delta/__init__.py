"""Where PySpark looks for `format("delta")` by itself, if no Delta JAR claims the name."""

from truckee.streaming.source import DeltaSource as DefaultSource

__all__ = ["DefaultSource"]
