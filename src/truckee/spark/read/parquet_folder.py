"""The columns of a folder of Parquet files, as Spark sees them."""

from __future__ import annotations

import re

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from truckee.protocol.schema import StructType
from truckee.spark.jvm.jvm_errors import quiet_errors
from truckee.spark.schema_conversion import from_spark

_CLASS_OF_ERROR = re.compile(r"^[\w.$]+Exception: ")


def parquet_folder_schema(spark: SparkSession, path: str) -> StructType | str:
    """Return the columns of all files together, those of partition folders last, or what is wrong.

    Every footer is read, since files may differ in their columns.
    """
    try:
        with quiet_errors():
            frame = spark.read.option("mergeSchema", "true").parquet(path)
    except PySparkException as error:
        return str(error).splitlines()[0]
    except Py4JJavaError as error:
        text = str(error.java_exception.toString()).splitlines()[0]
        return _CLASS_OF_ERROR.sub("", text)
    return from_spark(frame.schema)
