"""What users do with names in a Hive metastore; run as a script, which prints what came of it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pyarrow as pa
from deltalake import write_deltalake
from pyspark.sql import SparkSession
from pyspark.sql.types import StructType

from hive_session import hive_session
from step_scripts import print_outcome
from truckee import DeltaTable
from truckee.spark.schema_conversion import to_java


def main(folder: Path) -> None:
    spark = hive_session(folder)
    steps = Steps(spark, folder)
    for step in (
        steps.entry,
        steps.rows,
        steps.shown,
        steps.old_entry,
        steps.changed_elsewhere,
        steps.external,
        steps.renamed,
        steps.beside_hive_tables,
        steps.stream,
        steps.dropped,
    ):
        print_outcome(step.__name__, step())
    spark.stop()


class Steps:
    """The steps, in order; each builds on what the ones before it left."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark = spark
        self.folder = folder
        self.metastore = spark._jsparkSession.sharedState().externalCatalog()

    def sql(self, text: str) -> list[list[Any]]:
        return [list(row) for row in self.spark.sql(text).collect()]

    def entry(self) -> Any:
        """Create a table, and return what the metastore itself is told of it."""
        self.sql(
            "CREATE TABLE orders (id BIGINT, day STRING COMMENT 'of sale', n INT) USING delta "
            "PARTITIONED BY (day) COMMENT 'all of them' TBLPROPERTIES "
            "('delta.enableDeletionVectors' = 'true', 'delta.enableChangeDataFeed' = 'true')"
        )
        return _entry(self.metastore.getTable("default", "orders"))

    def rows(self) -> Any:
        self.sql("INSERT INTO orders VALUES (1, 'a', 1), (2, 'b', 2), (3, 'b', 3), (4, 'c', 4)")
        self.sql("DELETE FROM orders WHERE id = 2")
        self.sql("UPDATE orders SET n = 30 WHERE id = 3")
        self.sql(
            "MERGE INTO orders t USING (SELECT 4 AS id, 'c' AS day, 40 AS n) s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET *"
        )
        return self.sql("SELECT * FROM default.orders ORDER BY id")

    def shown(self) -> Any:
        columns = self.spark.catalog.listColumns("orders")
        described = self.spark.catalog.getTable("orders")
        return {
            "columns": [[c.name, c.dataType, c.description, c.isPartition] for c in columns],
            "partitions": self.sql("SHOW PARTITIONS orders"),
            "properties": [p for p in self.sql("SHOW TBLPROPERTIES orders") if "enable" in p[0]],
            "table": [described.description, described.tableType],
        }

    def old_entry(self) -> Any:
        """Have the metastore tell of other columns, as some engines keep them and let them age."""
        other = StructType().add("id", "string").add("gone", "integer")
        self.metastore.alterTableSchema("default", "orders", to_java(self.spark, other))
        kept = _entry(self.metastore.getTable("default", "orders"))["columns"]
        described = [row[:2] for row in self.sql("DESCRIBE orders")[:3]]
        return [kept, described, self.sql("SELECT * FROM orders WHERE id > 1 ORDER BY id")]

    def changed_elsewhere(self) -> Any:
        """Let another engine add a column and rows, right after this session has read the table."""
        place = f"{self.folder}/grown"
        self.sql(f"CREATE TABLE grown USING delta LOCATION '{place}' AS SELECT 1L AS id")
        self.sql("CREATE VIEW seen AS SELECT id FROM grown")
        before = [self.sql("SELECT * FROM grown"), self.sql("SELECT * FROM seen")]
        more = pa.table({"id": [2], "s": ["new"]})
        write_deltalake(place, more, mode="append", schema_mode="merge")
        return [
            before,
            self.sql("SELECT id, s FROM grown ORDER BY id"),
            self.sql("SELECT * FROM seen ORDER BY id"),
            self.sql("SHOW COLUMNS IN grown"),
            self.spark.table("grown").columns,
        ]

    def external(self) -> Any:
        """Give a second name to a table, and drop it: the files stay."""
        place = f"{self.folder}/warehouse/orders"
        self.sql(f"CREATE TABLE again USING delta LOCATION '{place}'")
        found = [_entry(self.metastore.getTable("default", "again"))["type"]]
        found += self.sql("SELECT count(*) FROM again")
        self.sql("DROP TABLE again")
        return [*found, *self.sql("SELECT count(*) FROM orders")]

    def renamed(self) -> Any:
        self.sql(f"CREATE DATABASE sales LOCATION '{self.folder}/sales'")
        self.spark.range(3).write.format("delta").saveAsTable("sales.before")
        self.sql("ALTER TABLE sales.before RENAME TO sales.after")
        self.spark.range(3, 5).write.format("delta").mode("append").saveAsTable("sales.after")
        versions = DeltaTable.forName(self.spark, "spark_catalog.sales.after").history()
        names = [row[1] for row in self.sql("SHOW TABLES IN sales")]
        return [names, self.spark.table("sales.after").count(), versions.count()]

    def beside_hive_tables(self) -> Any:
        """Hive's own tables stay Hive's, and rows go to and fro."""
        self.sql("CREATE TABLE plain (id BIGINT, n INT) STORED AS ORC")
        self.sql("INSERT INTO plain SELECT id, n FROM orders WHERE id > 1")
        self.sql(
            "MERGE INTO orders t USING plain s ON t.id = s.id "
            "WHEN MATCHED THEN UPDATE SET n = t.n + s.n"
        )
        provider = _entry(self.metastore.getTable("default", "plain"))["provider"]
        return [provider, self.sql("SELECT id, n FROM orders ORDER BY id")]

    def stream(self) -> Any:
        feed = self.spark.readStream.option("readChangeFeed", "true").option("startingVersion", 0)
        writer = feed.table("orders").writeStream.trigger(availableNow=True)
        writer = writer.option("checkpointLocation", f"{self.folder}/checkpoint")
        writer.toTable("changes", format="delta").awaitTermination()
        return self.sql("SELECT _change_type, count(*) FROM changes GROUP BY 1 ORDER BY 1")

    def dropped(self) -> Any:
        self.sql("DROP DATABASE sales CASCADE")
        self.sql("DROP TABLE orders")
        places = ("sales/after", "warehouse/orders", "grown/_delta_log")
        return [(self.folder / place).exists() for place in places]


def _entry(found: Any) -> dict[str, Any]:
    properties = found.properties().keySet().toSeq()
    return {
        "provider": found.provider().get(),
        "type": found.tableType().name(),
        "columns": [str(name) for name in found.schema().fieldNames()],
        "partition columns": found.partitionColumnNames().size(),
        "properties of Delta": [
            key for key in _texts_of(properties) if key.lower().startswith("delta.")
        ],
        "comment": found.comment().get() if found.comment().isDefined() else None,
    }


def _texts_of(items: Any) -> list[str]:
    return [str(items.apply(index)) for index in range(items.size())]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
