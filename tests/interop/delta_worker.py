"""The process that delta-spark runs in: a line of JSON in, a line of JSON out.

It runs on the Python of `.venv-delta`, so only the standard library and pyspark may be imported.
Its argument is JSON too: more settings of Spark. Each request is Python that sees `spark` and
`arguments`, and leaves its answer in `result`.
"""

from __future__ import annotations

import json
import os
import sys
import traceback
from typing import Any

from benchmarks.delta_session import delta_session

CONF = {
    "spark.master": "local[2]",
    "spark.driver.memory": "2g",
    "spark.driver.host": "localhost",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.sql.shuffle.partitions": "2",
    "spark.databricks.delta.snapshotPartitions": "2",
    "spark.sql.session.timeZone": "UTC",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
}


def main() -> None:
    # Spark prints what it likes on stdout; the answers get a channel of their own.
    replies = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    spark = delta_session("truckee-interop", {**CONF, **json.loads(sys.argv[1])})
    print(json.dumps({"result": spark.version}), file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer(spark, json.loads(line)), default=str), file=replies, flush=True)


def _answer(spark: Any, request: dict[str, Any]) -> dict[str, Any]:
    names = {"spark": spark, "arguments": request["arguments"], "result": None}
    try:
        exec(request["code"], names)
    except Exception:
        return {"error": traceback.format_exc()}
    return {"result": names["result"]}


if __name__ == "__main__":
    main()
