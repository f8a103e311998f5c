"""The five call traces of ARCHITECTURE.md: the calls cross their modules, and few others."""

from __future__ import annotations

import re
from pathlib import Path

from pyspark.sql import SparkSession

from scripts.call_traces import call_traces

MAP = Path(__file__).parents[1] / "ARCHITECTURE.md"
# The first words of each trace on the page, and the call.
TITLES = {
    "truckee.read": "load",
    "table.update": "update",
    "table.changes": "changes",
    "One micro-batch": "micro-batch",
    "truckee changes": "command",
}
# Modules of steps that the page describes with an `if`, which the calls do not take here.
OTHER_CASES = {
    "update": {"commands/dml/row_conflicts.py"},
    "command": {"changes/summary.py", "cli/spark.py", "spark/read/engine.py"},
}
# The most modules that a call may cross. A new ability belongs into a module that only it needs.
MOST_MODULES = {"load": 42, "update": 78, "changes": 43, "command": 48, "micro-batch": 35}


def test_a_call_crosses_the_modules_that_its_trace_names_and_few_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    described = traces_of_the_page()

    crossed = call_traces(spark, tmp_path)

    assert set(described) == set(crossed)
    for name, modules in described.items():
        assert modules - crossed[name] == OTHER_CASES.get(name, set()), name
    too_long = {n: sorted(found) for n, found in crossed.items() if len(found) > MOST_MODULES[n]}
    assert not too_long


def traces_of_the_page() -> dict[str, set[str]]:
    section = MAP.read_text().partition("## Five calls")[2].partition("\n## ")[0]
    traces = re.split(r"^\*\*`?", section, flags=re.MULTILINE)[1:]
    return {
        next(call for title, call in TITLES.items() if trace.startswith(title)): set(
            re.findall(r"`([\w/]+\.py)`", trace)
        )
        for trace in traces
    }
