"""The large engine. Whoever imports it raises errors that users of Spark know how to catch."""

from truckee.spark.exceptions import spark_class

__all__ = ["spark_class"]
