"""One run of a streaming query, in either engine. delta-spark's process imports this by itself.

So nothing but the standard library and pyspark may be imported here.
"""

from __future__ import annotations

import re
from typing import Any

from pyspark.errors import StreamingQueryException

_CLASS = re.compile(r"\[((?!STREAM_FAILED)[A-Z_0-9.]+)\]")
_STOP = "stopped before batch"


def stream_run(spark: Any, told: dict[str, Any]) -> dict[str, Any]:
    """Run a query until it has read what there is, and return its batches and its error class.

    `told` has the `source`, its `options`, the `checkpoint`, and perhaps the `target` of a sink;
    without one the rows of each batch are returned. `before` is Python that changes the stream
    (`rows`), and `each` is Python that is run for each `batch` and its `number`. With `stop_at`,
    the query stops before it runs the batch of that number, which it has planned.
    """
    rows = spark.readStream.format("delta").options(**told["options"]).load(told["source"])
    names = {"rows": rows, "spark": spark}
    exec(told.get("before") or "", names)
    rows = names["rows"]
    batches: dict[str, list[list[Any]]] = {}

    def take(batch: Any, number: int) -> None:
        if number == told.get("stop_at"):
            raise RuntimeError(_STOP)
        exec(told.get("each") or "", {"batch": batch, "number": number})
        found = [[_plain(value) for value in row] for row in batch.collect()]
        batches[str(number)] = sorted(found, key=repr)

    writer = rows.writeStream.outputMode(told.get("mode") or "append")
    writer = writer.option("checkpointLocation", told["checkpoint"]).trigger(availableNow=True)
    target = told.get("target")
    writer = writer.foreachBatch(take) if target is None else writer.format("delta")
    query = writer.start() if target is None else writer.start(target)
    try:
        query.awaitTermination()
    except StreamingQueryException as error:
        return {"batches": batches, "error": _error_class(str(error)), "said": str(error)[:2000]}
    return {"batches": batches, "error": None, "said": ""}


def _error_class(said: str) -> str | None:
    if _STOP in said:
        return None
    found = _CLASS.search(said)
    return said[:300] if found is None else found[1]


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, str, bool, float, type(None))) else str(value)
