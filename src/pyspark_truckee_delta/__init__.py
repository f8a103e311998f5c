"""Where PySpark looks for `format("delta")` by itself, if no Delta JAR claims the name."""

from truckee.datasource.source import DeltaSource as DefaultSource

__all__ = ["DefaultSource"]
