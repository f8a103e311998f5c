"""Where PySpark looks for `format("truckee")` by itself: modules named `pyspark_*`."""

from truckee.datasource.source import TruckeeSource as DefaultSource

__all__ = ["DefaultSource"]
