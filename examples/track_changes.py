"""Which orders changed, how, and since when: an update and a delete, seen through the feed.

Run it with `python examples/track_changes.py`; it writes below the current folder.
"""

from __future__ import annotations

import truckee
from truckee import DeltaTable

PATH = "track-changes/orders"
ENDS_WITH = [
    (1, "update_preimage", 2, "new"),
    (1, "update_postimage", 2, "paid"),
    (2, "delete", 3, "new"),
]
"""The changes: version, type, id, status."""


def main() -> list[tuple[object, ...]]:
    spark = truckee.session()
    orders = spark.createDataFrame([(1, "new"), (2, "new"), (3, "new")], "id int, status string")
    on = {"delta.enableChangeDataFeed": "true", "delta.enableDeletionVectors": "true"}
    truckee.write(orders).mode("overwrite").options(**on).save(PATH)

    table = DeltaTable.forPath(spark, PATH)
    last = table.history(1).collect()[0]["version"]
    table.update("id = 2", {"status": "'paid'"})
    table.delete("id = 3")

    changes = table.changes(startingVersion=last + 1)
    in_order = changes.sort("_commit_version", changes["_change_type"].desc())
    found = in_order.select("_commit_version", "_change_type", "id", "status").collect()
    for version, kind, order, status in found:
        print(f"version {version}: {kind:<16} {order} {status}")
    return [tuple(row) for row in found]


if __name__ == "__main__":
    main()
