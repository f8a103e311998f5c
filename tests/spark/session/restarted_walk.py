"""Takes steps in a session, stops it, starts another one, and takes them again."""

from __future__ import annotations

import sys
from pathlib import Path

import truckee
from session_walk import Walk, run
from step_scripts import print_outcome

for name in ("first", "second"):
    folder = Path(sys.argv[1]) / name
    spark = truckee.session("walk", **{"spark.sql.warehouse.dir": str(folder / "warehouse")})
    run(Walk(spark, folder, spark), ("save", "merge", "history"), writes=True)
    spark.stop()
    print_outcome(name, "ok")
