"""A driver that changes a table for as long as it lives, and says what is done; it is killed.

Arguments: the table, and a first number. A line is printed after each change that was made: the
change is in the table from then on, whatever happens to this process.
"""

from __future__ import annotations

import sys

import truckee
from truckee.doors.enable import enable


def main() -> None:
    path, number = sys.argv[1], int(sys.argv[2])
    spark = enable(
        truckee.session(
            **{
                "master": "local[2]",
                "spark.driver.memory": "700m",
                "spark.sql.shuffle.partitions": 2,
                "spark.ui.enabled": False,
            }
        )
    )
    table = f"delta.`{path}`"
    print("ready", flush=True)
    sys.stdin.readline()
    while True:
        for kind, statement in (
            ("insert", f"INSERT INTO {table} VALUES ({number}, 'insert')"),
            ("update", f"UPDATE {table} SET what = 'update {number}' WHERE id = 0"),
            (
                "merge",
                f"MERGE INTO {table} t USING (SELECT {number} id) s ON t.id = s.id AND "
                "t.what = 'insert' WHEN MATCHED THEN UPDATE SET what = 'merge' "
                "WHEN NOT MATCHED THEN INSERT (id, what) VALUES (s.id, 'lost')",
            ),
            ("delete", f"DELETE FROM {table} WHERE id = {number - 2}"),
        ):
            spark.sql(statement).collect()
            print(kind, number, flush=True)
        number += 1


if __name__ == "__main__":
    main()
