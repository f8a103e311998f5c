"""Sends objects of a class of ours to executors that are processes of their own.

Run as `python cluster_classes.py FOLDER [SETTING=VALUE ...]`. Executors have no truckee in their
Python: only the JAR tells them of the class. Prints how many objects they took, or the error.
"""

from __future__ import annotations

import sys
from typing import Any

from truckee.errors import DeltaError
from truckee.spark.jvm.bridge import gateway
from truckee.spark.jvm.classes import new_object
from truckee.spark.session.session import session

folder, *settings = sys.argv[1:]
spark = session(
    **{
        "master": "local-cluster[2,1,1024]",
        "spark.truckee.classes.folder": folder,
        **dict(setting.split("=", 1) for setting in settings),
    }
)
try:
    made = [new_object(spark, "truckee.TruckeeFiles$SpellOut") for _ in range(4)]
    jvm = gateway(spark).jvm
    context: Any = spark.sparkContext._jsc
    print(context.parallelize(jvm.java.util.List.of(*made), 4).count())
except DeltaError as error:
    print(repr(error))
finally:
    spark.stop()
