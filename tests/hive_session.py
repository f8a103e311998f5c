"""A session on a Hive metastore: Derby, in a folder, which one process at a time may open."""

from __future__ import annotations

from pathlib import Path

from pyspark.sql import SparkSession

import truckee


def hive_settings(folder: Path) -> dict[str, str]:
    """Return the settings by which Spark finds a metastore in a folder, or makes one there."""
    database = folder / "metastore"
    return {
        "spark.master": "local[2]",
        "spark.driver.host": "localhost",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.sql.session.timeZone": "UTC",
        "spark.sql.catalogImplementation": "hive",
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
        "spark.driver.extraJavaOptions": f"-Dderby.system.home={folder}",
        "spark.hadoop.javax.jdo.option.ConnectionURL": (
            f"jdbc:derby:;databaseName={database};create=true"
        ),
    }


def hive_session(folder: Path) -> SparkSession:
    """Return a session of truckee on the metastore in a folder."""
    builder = SparkSession.builder.enableHiveSupport()
    for key, value in hive_settings(folder).items():
        builder = builder.config(key, value)
    return truckee.configure(builder).getOrCreate()
