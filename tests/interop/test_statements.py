"""Every example of the documentation's SQL page, run by delta-spark and by truckee, side by side.

Both start with a table that they made themselves. They must answer the same, record the same
history, leave the same table behind, and read the rows of each other's.
"""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from interop.delta_spark import DeltaSpark
from interop.outcomes import outcome
from interop.table_facts import table_facts
from scripts.sql_examples.example import NAME, START, Example, Placed, ways_of
from scripts.sql_examples.page import EXAMPLES
from truckee import DeltaTable
from truckee.doors.enable import enable

pytestmark = pytest.mark.interop

Run = Callable[[dict[str, Any]], dict[str, Any]]

CASES = [
    pytest.param(example, way, id=f"{number}-{way}-{example.statement[:40]}")
    for number, (example, way) in enumerate(ways_of(EXAMPLES))
    if example.differs is None
]
_OUTCOME = """
from outcomes import outcome
result = outcome(spark, arguments["request"])
"""
# Ids of expressions and of tables, and physical names of columns, are drawn anew each time.
_DRAWN = re.compile(r"#\d+L?|[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")


@pytest.fixture(scope="module")
def engines(spark: SparkSession, delta_spark: DeltaSpark) -> dict[str, Run]:
    enabled = enable(spark)
    # A vacuum lists in ten thousand tasks otherwise.
    delta_spark.sql("SET spark.sql.sources.parallelPartitionDiscovery.parallelism = 2")
    return {
        "theirs": lambda request: delta_spark.run(_OUTCOME, request=request),
        "ours": lambda request: outcome(enabled, request),
    }


@pytest.fixture(scope="module")
def starts(engines: dict[str, Run], tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The table that every example starts with, made by either engine."""
    folders = {name: tmp_path_factory.mktemp(name) / "start" for name in engines}
    for name, run in engines.items():
        table = f"delta.`{folders[name]}`"
        texts = [statement.replace("{t}", table) for statement in START]
        run(_request(before=texts[:-1], statement=texts[-1], table=table))
    return folders


@pytest.mark.parametrize(("example", "way"), CASES)
def test_a_statement_does_the_same_in_both_engines(
    spark: SparkSession,
    delta_spark: DeltaSpark,
    engines: dict[str, Run],
    starts: dict[str, Path],
    tmp_path: Path,
    example: Example,
    way: str,
) -> None:
    requests = {}
    for name in engines:
        folder = tmp_path / name / "t"
        shutil.copytree(starts[name], folder)
        placed = Placed(example, way, str(folder), str(folder.with_name("other")))
        requests[name] = _request_of(placed)
    answers = _side_by_side(engines, requests)

    found = {
        name: _shown(example, answer, table_facts(answer["location"]), tmp_path / name)
        for name, answer in answers.items()
    }
    assert found["ours"] == found["theirs"]
    if example.operation is not None:
        rows = found["ours"]["table"]
        theirs, ours = (answers[name]["location"] for name in ("theirs", "ours"))
        delta_spark.forget()
        assert _as_rows(delta_spark.read(ours)) == rows
        read = DeltaTable.forPath(spark, theirs).toDF().collect()
        assert _as_rows([row.asDict(recursive=True) for row in read]) == rows


def _side_by_side(
    engines: dict[str, Run], requests: dict[str, dict[str, Any]]
) -> dict[str, dict[str, Any]]:
    """Return what each engine answers; the other process works while this one does."""
    with ThreadPoolExecutor(1) as waiting:
        theirs = waiting.submit(engines["theirs"], requests["theirs"])
        ours = engines["ours"](requests["ours"])
        return {"theirs": theirs.result(), "ours": ours}


def _request_of(placed: Placed) -> dict[str, Any]:
    example = placed.example
    names = [placed.table, placed.other] if placed.way == NAME else []
    entered = [f"CREATE TABLE {placed.table} USING delta LOCATION '{placed.folder}'"]
    return _request(
        settings=dict(example.settings),
        before=[
            *(f"DROP TABLE IF EXISTS {name}" for name in names),
            *(entered if names else ()),
            *(placed.text(statement) for statement in example.before),
        ],
        statement=placed.text(example.statement),
        arguments=dict(example.arguments),
        table=placed.other if example.makes_other else placed.table,
        after=["DROP VIEW IF EXISTS a_view"],
        location=_location(placed),
    )


def _location(placed: Placed) -> str | None:
    """Return where the table lies; None if the statement decides."""
    if placed.way == NAME:
        return None
    return placed.other_folder if placed.example.makes_other else placed.folder


def _request(**given: Any) -> dict[str, Any]:
    nothing = {"settings": {}, "before": [], "arguments": {}, "after": [], "location": None}
    return {**nothing, **given}


def _shown(
    example: Example, answer: dict[str, Any], facts: dict[str, Any], folder: Path
) -> dict[str, Any]:
    """What both engines have to agree on."""
    shown = {key: answer.get(key) for key in ("error", "columns", "table")}
    rows = answer.get("rows")
    shown["rows"] = len(rows) if example.varies and rows is not None else rows
    told = json.dumps({**shown, **facts}, default=str, sort_keys=True).replace(str(folder), "")
    plain: dict[str, Any] = json.loads(_DRAWN.sub("", told))
    return plain


def _as_rows(found: list[dict[str, Any]]) -> list[list[Any]]:
    return sorted((list(row.values()) for row in found), key=repr)
