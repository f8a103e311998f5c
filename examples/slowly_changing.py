"""A table of all that customers ever were, kept by the feed of what they are (SCD type 2).

Each row says from which version on it held, and up to which; the current ones have no end.
"""

from __future__ import annotations

from pyspark.sql import functions as sf

import truckee
from truckee import DeltaTable

SOURCE, TARGET = "slowly-changing/customers", "slowly-changing/customers-history"
ENDS_WITH = [
    (1, "Porto", 0, 2),
    (2, "Lagos", 0, 1),
    (2, "Faro", 1, None),
]
"""The rows of the history: id, city, since, until."""


def main() -> list[tuple[object, ...]]:
    spark = truckee.session()
    schema = "id int, city string"
    start = spark.createDataFrame([(1, "Porto"), (2, "Lagos")], schema)
    truckee.write(start).option("delta.enableChangeDataFeed", True).save(SOURCE)
    customers = DeltaTable.forPath(spark, SOURCE)
    customers.update("id = 2", {"city": "'Faro'"})
    customers.delete("id = 1")

    changes = customers.changes(startingVersion=0)
    begins = changes.where("_change_type IN ('insert', 'update_postimage')")
    ends = changes.where("_change_type IN ('delete', 'update_preimage')")
    # A row ends with the first end after its beginning; the last one of a customer may have none.
    history = (
        begins.selectExpr("id", "city", "_commit_version AS since")
        .join(ends.selectExpr("id", "_commit_version AS end"), "id", "left")
        .groupBy("id", "city", "since")
        .agg(sf.expr("min(end) FILTER (WHERE end > since) AS until"))
    )
    truckee.write(history).save(TARGET)

    found = truckee.read(spark).load(TARGET).orderBy("id", "since")
    found.show()
    return [tuple(row) for row in found.collect()]


if __name__ == "__main__":
    main()
