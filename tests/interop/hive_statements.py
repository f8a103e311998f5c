"""A session of truckee on a Hive metastore, in a process of its own; run as a script.

Its arguments are the folder of the metastore and statements; it tells the rows of each, by number.
"""

from __future__ import annotations

import sys
from pathlib import Path

from hive_session import hive_session
from step_scripts import print_outcome


def main(folder: Path, statements: list[str]) -> None:
    spark = hive_session(folder)
    for number, statement in enumerate(statements):
        rows = [row.asDict(recursive=True) for row in spark.sql(statement).collect()]
        print_outcome(str(number), rows)
    spark.stop()


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
