"""What users do on S3, with Spark's own connector; handed to spark-submit, which has the settings.

Its arguments are the table's URL and the endpoint of the server, which counts requests.
"""

from __future__ import annotations

import sys
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from pyspark.sql import SparkSession

import truckee
from s3_server import S3Server
from step_scripts import print_outcome
from truckee import DeltaTable
from truckee.doors.enable import enable
from truckee.log.files.commits import read_commits
from truckee.log.snapshot import load_snapshot
from truckee.spark.session.settings import session_storage

PROPERTIES = {
    "delta.enableDeletionVectors": "true",
    "delta.enableChangeDataFeed": "true",
    "delta.checkpointInterval": "3",
}
WRITERS = 4


def main(url: str, endpoint: str) -> None:
    spark = enable(SparkSession.builder.appName("s3a").getOrCreate())
    steps = Steps(spark, url, S3Server(endpoint))
    for step in (
        steps.write,
        steps.commit,
        steps.change,
        steps.read,
        steps.feed,
        steps.stream,
        steps.race,
        steps.care,
    ):
        print_outcome(step.__name__, step())
    spark.stop()


class Steps:
    """The steps, in order; each builds on the table that the ones before it left."""

    def __init__(self, spark: SparkSession, url: str, server: S3Server) -> None:
        self.spark, self.url, self.server = spark, url, server

    @property
    def table(self) -> DeltaTable:
        return DeltaTable.forPath(self.spark, self.url)

    def write(self) -> Any:
        rows = self.spark.range(0, 20, 1, 2).selectExpr("id", "id % 2 AS p", "'a' AS v")
        truckee.write(rows).partitionBy("p").options(**PROPERTIES).save(self.url)
        return self._count_by("v")

    def commit(self) -> Any:
        """Append, and return the requests for the commit, and the reads of each new file."""
        self.server.requests()
        rows = self.spark.range(20, 30, 1, 1).selectExpr("id", "id % 2 AS p", "'b' AS v")
        rows.write.format("delta").mode("append").save(self.url)
        requests = self.server.requests()
        into_log = [r for r in requests if r.endswith(f"/_delta_log/{1:020d}.json")]
        read = Counter(r for r in requests if r.startswith("GET ") and r.endswith(".parquet"))
        return [[request.partition(" ")[0] for request in into_log], list(read.values())]

    def change(self) -> Any:
        deleted = self.table.delete("id % 10 = 3").collect()
        updated = self.spark.sql(f"UPDATE delta.`{self.url}` SET v = 'u' WHERE id < 5").collect()
        merged = self.spark.sql(
            f"MERGE INTO delta.`{self.url}` t USING (SELECT * FROM VALUES (29, 1, 'm'), "
            "(30, 0, 'm') AS s(id, p, v)) s ON t.id = s.id WHEN MATCHED THEN UPDATE SET * "
            "WHEN NOT MATCHED THEN INSERT *"
        ).collect()
        return [list(rows[0]) for rows in (deleted, updated, merged)]

    def read(self) -> Any:
        """Read, and return by how many requests a data file costs more than by plain Parquet.

        The first number is the most of a file without a deletion vector, the second of one with it.
        """
        files = list(load_snapshot(session_storage(self.spark, self.url)).files())
        self.server.requests()
        counted = self._count_by("v")
        ours = Counter(self.server.requests())
        places = [f"{self.url}/{file.path}" for file in files]
        plain_rows = self.spark.read.schema("id bigint, v string").parquet(*places)
        plain_rows.groupBy("v").count().collect()
        plain = Counter(self.server.requests())
        more: dict[bool, int] = {True: 0, False: 0}
        for file in files:
            of_file = sum(n for request, n in ours.items() if request.endswith(file.path))
            by_plain = sum(n for request, n in plain.items() if request.endswith(file.path))
            has_vector = file.deletion_vector is not None
            more[has_vector] = max(more[has_vector], of_file - by_plain)
        return [counted, any(file.deletion_vector for file in files), more[False], more[True]]

    def feed(self) -> Any:
        changes = self.table.changes(startingVersion=0)
        return {row[0]: row[1] for row in changes.groupBy("_change_type").count().collect()}

    def stream(self) -> Any:
        feed = self.spark.readStream.format("delta").option("readChangeFeed", "true")
        rows = feed.option("startingVersion", "0").option("maxFilesPerTrigger", "3").load(self.url)
        writer = rows.writeStream.format("delta").trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{self.url}-seen-at")
        writer.start(f"{self.url}-seen").awaitTermination()
        return truckee.read(self.spark).load(f"{self.url}-seen").count()

    def race(self) -> Any:
        """Let several threads append at once; return the versions and the numbers of the rows."""
        url = f"{self.url}-raced"
        truckee.write(self.spark.range(0, 1, 1, 1)).save(url)

        def append(number: int) -> None:
            truckee.write(self.spark.range(number, number + 1, 1, 1)).mode("append").save(url)

        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(append, range(1, 2 * WRITERS + 1)))
        versions = [commit.version for commit in read_commits(session_storage(self.spark, url), 0)]
        return [versions, sorted(row.id for row in truckee.read(self.spark).load(url).collect())]

    def care(self) -> Any:
        self.spark.sql(f"OPTIMIZE delta.`{self.url}`")
        self.spark.sql(f"REORG TABLE delta.`{self.url}` APPLY (PURGE)")
        self.spark.conf.set("spark.databricks.delta.retentionDurationCheck.enabled", "false")
        self.spark.sql(f"VACUUM delta.`{self.url}` RETAIN 0 HOURS")
        storage = session_storage(self.spark, self.url)
        found = {file.path for file in storage.list_tree("")}
        named = {file.path for file in load_snapshot(storage).files()}
        checkpoints = [path for path in found if ".checkpoint" in path]
        data = {path for path in found if path.endswith(".parquet")} - set(checkpoints)
        return [sorted(data ^ named), bool(checkpoints), self._count_by("v")]

    def _count_by(self, column: str) -> dict[str, int]:
        counted = truckee.read(self.spark).load(self.url).groupBy(column).count().collect()
        return {row[0]: row[1] for row in counted}


if __name__ == "__main__":
    main(*sys.argv[1:])
