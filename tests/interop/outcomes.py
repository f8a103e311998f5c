"""What a statement leads to, in either engine. delta-spark's process imports this by itself.

So nothing but the standard library and pyspark may be imported here.
"""

from __future__ import annotations

from typing import Any

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException


def outcome(spark: Any, request: dict[str, Any]) -> dict[str, Any]:
    """Run one example, and return what it answers and what the table has afterwards.

    The request holds texts: `settings`, statements that come `before`, the `statement` with its
    `arguments`, the `table` to look at, and statements that clean up `after`. `location` is where
    the table lies, None where the catalog has to be asked.
    """
    for key, value in request["settings"].items():
        spark.conf.set(key, value)
    try:
        for statement in request["before"]:
            spark.sql(statement).collect()
        found = _answer(spark, request["statement"], request["arguments"])
        found["table"] = _rows(spark.sql(f"SELECT * FROM {request['table']}"))
        found["location"] = request["location"]
        if found["location"] is None:
            detail = spark.sql(f"DESCRIBE DETAIL {request['table']}").first()
            found["location"] = detail["location"].removeprefix("file:")
        return found
    finally:
        for key in request["settings"]:
            spark.conf.unset(key)
        for statement in request["after"]:
            spark.sql(statement)


def _answer(spark: Any, statement: str, arguments: dict[str, Any]) -> dict[str, Any]:
    try:
        frame = spark.sql(statement, arguments) if arguments else spark.sql(statement)
        return {
            "error": None,
            "columns": frame.schema.simpleString(),
            "rows": _rows(frame),
        }
    except PySparkException as error:
        condition = error.getCondition()
        return {"error": condition or type(error).__name__, "said": str(error)[:400]}
    except Py4JJavaError as error:  # of a class that PySpark does not know
        return {"error": error.java_exception.getErrorClass(), "said": str(error)[:400]}


def _rows(frame: Any) -> list[list[Any]]:
    return sorted(([_plain(value) for value in row] for row in frame.collect()), key=repr)


def _plain(value: Any) -> Any:
    return value if isinstance(value, (int, str, bool, float, type(None))) else str(value)
