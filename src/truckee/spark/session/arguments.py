"""Arguments of the front door: a session, a path, a DataFrame, and nothing else in their place."""

from __future__ import annotations

import os
from typing import TypeAlias

from pyspark.sql import DataFrame, SparkSession

PathLike: TypeAlias = str | os.PathLike[str]
_CONNECT = "pyspark.sql.connect."


def checked_session(given: object) -> SparkSession:
    """Return a session, or raise TypeError if something else was given."""
    if _is_a(given, SparkSession):
        return given  # type: ignore[return-value]
    raise TypeError(
        f"the first argument has to be a SparkSession, and is {_shown(given)}\n"
        "hint: the session comes first, as in truckee.read(spark) and "
        "DeltaTable.forPath(spark, path)"
    )


def checked_path(given: object) -> str:
    """Return a path as text, or raise TypeError if it is neither text nor a `pathlib.Path`."""
    if isinstance(given, str | os.PathLike):
        return str(os.fspath(given))
    raise TypeError(f"a path has to be text or a pathlib.Path, and is {_shown(given)}")


def checked_frame(given: object, *, what: str) -> DataFrame:
    """Return a DataFrame of Spark, or raise TypeError if something else was given."""
    if _is_a(given, DataFrame):
        return given  # type: ignore[return-value]
    can_be_made = type(given).__name__ in ("DataFrame", "Table", "list")
    hint = "\nhint: make one with spark.createDataFrame(...)" if can_be_made else ""
    raise TypeError(f"{what} has to be a DataFrame of Spark, and is {_shown(given)}{hint}")


def _is_a(given: object, kind: type) -> bool:
    """Return whether an object is of a class of PySpark, or of its namesake for Spark Connect."""
    theirs = type(given)
    is_remote = theirs.__module__.startswith(_CONNECT) and theirs.__name__ == kind.__name__
    return isinstance(given, kind) or is_remote


def _shown(given: object) -> str:
    kind = type(given)
    where = "" if kind.__module__ == "builtins" else f"{kind.__module__.partition('.')[0]}."
    text = f" ({given!r})" if isinstance(given, str | os.PathLike | int) else ""
    return f"of type {where}{kind.__name__}{text}"
