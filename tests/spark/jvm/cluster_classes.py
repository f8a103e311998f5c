"""Reads a table with vectors on an executor that is a process of its own.

Run as `python cluster_classes.py TABLE FOLDER [SETTING=VALUE ...]`. The executor knows
our classes only through the JAR. Prints the rows of the table and of its feed from version 2 on, or
the error.
"""

from __future__ import annotations

import sys

import truckee
from truckee.errors import DeltaError
from truckee.spark.session.session import session

table, folder, *settings = sys.argv[1:]
spark = session(
    **{
        "master": "local-cluster[1,1,1024]",
        "spark.truckee.classes.folder": folder,
        **dict(setting.split("=", 1) for setting in settings),
    }
)
try:
    rows = truckee.read(spark).load(table).repartition(4).groupBy("id").count().collect()
    print(sorted(row.id for row in rows))
    changes = truckee.table_changes(spark, table, 2)
    print(sorted((row.id, row._change_type, row._commit_version) for row in changes.collect()))
except DeltaError as error:
    print(repr(error))
finally:
    spark.stop()
