"""Which orders changed, how, and since when: an update and a delete, seen through the feed.

Run it with `python examples/track_changes.py`; it writes below the current folder.
"""

from __future__ import annotations

import truckee
from truckee import DeltaTable

PATH = "track-changes/orders"


def main() -> None:
    spark = truckee.session()
    orders = spark.createDataFrame([(1, "new"), (2, "new"), (3, "new")], "id int, status string")
    on = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    truckee.write(orders).mode("overwrite").options(**on).save(PATH)

    table = DeltaTable.forPath(spark, PATH)
    last = table.history(1).collect()[0]["version"]
    table.update("id = 2", {"status": "'paid'"})
    table.delete("id = 3")

    changes = table.changes(startingVersion=last + 1)
    for row in changes.sort("_commit_version", changes["_change_type"].desc()).collect():
        version, kind = row["_commit_version"], row["_change_type"]
        print(f"version {version}: {kind:<16} {row['id']} {row['status']}")


if __name__ == "__main__":
    main()
