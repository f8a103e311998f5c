"""Starts Spark's Thrift server on a session, and sends statements through beeline."""

from __future__ import annotations

import os
import re
import socket
import subprocess
import sys
from pathlib import Path

import pyspark

import truckee
from step_scripts import print_outcome

STATEMENTS = {
    "insert by position": "INSERT INTO t VALUES (2, 'b')",
    "insert by name": "INSERT INTO t BY NAME SELECT 'c' AS s, 3L AS id",
    "update": "UPDATE t SET s = 'z' WHERE id = 1",
    "create": "CREATE TABLE u USING delta AS SELECT 1 AS a",
    "rows": "SELECT * FROM t ORDER BY id",
    "by path": "SELECT count(*) AS n FROM delta.`{folder}/t`",
    "feed": "SELECT id, _change_type FROM table_changes('t', 1) ORDER BY id, _commit_version",
    "history": "DESCRIBE HISTORY u",
    "names": "SHOW TABLES",
    "refused": "VACUUM t RETAIN 0 HOURS",
}


def main(folder: Path) -> None:
    os.chdir(folder)  # where Hive leaves files
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    spark = truckee.session(
        "thrift",
        **{
            "spark.sql.warehouse.dir": str(folder / "warehouse"),
            "spark.truckee.classes.folder": str(folder / "jars"),
            "spark.hadoop.hive.server2.thrift.port": port,
            "spark.hadoop.hive.server2.thrift.bind.host": "127.0.0.1",
        },
    )
    spark.sql(
        f"CREATE TABLE t (id BIGINT, s STRING) USING delta LOCATION '{folder}/t' "
        "TBLPROPERTIES ('delta.enableChangeDataFeed' = 'true')"
    )
    spark.sql("INSERT INTO t VALUES (1, 'a')")
    thrift = spark._jvm.org.apache.spark.sql.hive.thriftserver  # type: ignore[union-attr]
    server = thrift.HiveThriftServer2.startWithContext(spark._jsparkSession.sqlContext())
    for name, printed in beeline(port, folder).items():
        print_outcome(name, printed)
    print_outcome("here", [list(row) for row in spark.table("t").orderBy("id").collect()])
    server.stop()


def beeline(port: int, folder: Path) -> dict[str, str]:
    """Return what beeline prints for each statement: rows in CSV; and its errors as `errors`."""
    url = f"jdbc:hive2://127.0.0.1:{port}/default"
    command = [Path(pyspark.__file__).parent / "bin" / "beeline", "-u", url, "-n", "x"]
    options = ["--silent=true", "--force=true", "--outputformat=csv2"]
    for name, statement in STATEMENTS.items():
        options += ["-e", f"SELECT '{name}' AS next", "-e", statement.format(folder=folder)]
    done = subprocess.run([*command, *options], capture_output=True, text=True, check=False)
    lines = (re.sub(r"^.*jdbc:hive2:[^>]*> ?", "", line) for line in done.stdout.splitlines())
    pieces = "\n".join(line for line in lines if line).split("next\n")[1:]
    found = dict(piece.strip().partition("\n")[::2] for piece in pieces)
    return {**found, "errors": done.stderr}


if __name__ == "__main__":
    main(Path(sys.argv[1]))
