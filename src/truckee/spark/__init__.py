"""The large engine. Once it is imported, our errors are also PySpark's exceptions."""

from truckee.spark.exceptions import spark_class

__all__ = ["spark_class"]
