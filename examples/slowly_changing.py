"""A table of all that customers ever were, kept by the feed of what they are (SCD type 2).

Each row says from which version on it held, and up to which; the current ones have no end.
"""

from __future__ import annotations

import truckee
from truckee import DeltaTable

SOURCE, TARGET = "slowly-changing/customers", "slowly-changing/customers-history"


def main() -> None:
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
    history = (
        begins.alias("b")
        .join(ends.alias("e"), "id", "left")
        .where("e._commit_version IS NULL OR e._commit_version > b._commit_version")
        .selectExpr("id", "b.city", "b._commit_version AS since", "e._commit_version AS until")
    )
    truckee.write(history).save(TARGET)

    truckee.read(spark).load(TARGET).orderBy("id", "since").show()


if __name__ == "__main__":
    main()
