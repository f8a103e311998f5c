"""Reads a table with vectors on an executor that is a process of its own.

Run as `python cluster_classes.py TABLE FOLDER [SETTING=VALUE ...]`. The executor knows
our classes only through the JARs. Prints the rows of the table and of its feed from version 2 on,
and their number by SQL, or the error.
"""

from __future__ import annotations

import sys

import truckee
from truckee.errors import DeltaError

table, folder, *settings = sys.argv[1:]
try:
    spark = truckee.session(
        **{
            "master": "local-cluster[1,1,1024]",
            "spark.truckee.classes.folder": folder,
            **dict(setting.split("=", 1) for setting in settings),
        }
    )
    rows = truckee.read(spark).load(table).repartition(4).groupBy("id").count().collect()
    print(sorted(row.id for row in rows))
    changes = truckee.table_changes(spark, table, 2)
    print(sorted((row.id, row._change_type, row._commit_version) for row in changes.collect()))
    print(spark.sql(f"SELECT count(*) FROM delta.`{table}`").first()[0])
except DeltaError as error:
    print(repr(error))
