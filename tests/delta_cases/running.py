"""Runs a case on a copy of its table, and says what came of it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import uuid4

from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import Row as SparkRow
from pyspark.sql import SparkSession

import truckee
from delta_cases.form import FEEDS, TABLES, WAYS, Case, Row
from session_settings import set_as
from truckee.local_table import LocalTable

_IMAGES = ("_commit_version", "_commit_timestamp")


class Copies:
    """Copies of the tables of the cases, each of which is written once for each way."""

    def __init__(self, spark: SparkSession, folder: Path) -> None:
        self.spark, self.folder = spark, folder

    def copy(self, table: str, way: str) -> Path:
        """Return the folder of a new copy."""
        original = self.folder / "originals" / f"{table} {way}".replace(" ", "-")
        if not original.exists():
            self._write(table, way, original)
        copied = self.folder / "copies" / uuid4().hex
        shutil.copytree(original, copied)
        return copied

    def _write(self, table: str, way: str, path: Path) -> None:
        parts, properties = WAYS[way]
        for number, query in enumerate(TABLES[table]):
            rows = self.spark.sql(query)
            writer = truckee.write(rows.coalesce(1)).mode("append")
            if number == 0:
                writer = writer.options(**properties)
                writer = writer.partitionBy(rows.columns[0]) if parts else writer
            writer.save(str(path))


class Outcome:
    """What a case left: the table, and what its last statement returned or raised."""

    def __init__(self, table: LocalTable) -> None:
        self.table, self.before = table, table.version
        self.result: list[Row] = []
        self.error = ""
        self.text = ""

    @property
    def rows(self) -> list[Row]:
        return in_order(tuple(row.values()) for row in self.table.to_arrow().to_pylist())

    @property
    def columns(self) -> list[str]:
        return list(self.table.schema.names)

    @property
    def changes(self) -> list[Row]:
        version = self.table.version
        feed = self.table.changes(version, version).to_arrow().to_pylist()
        return in_order(
            tuple(value for name, value in row.items() if name not in _IMAGES) for row in feed
        )

    @property
    def metrics(self) -> dict[str, str]:
        found = self.table.history(1)[0].operation_metrics or {}
        return {name: str(value) for name, value in found.items()}

    @property
    def commits(self) -> int:
        return self.table.version - self.before


def run(spark: SparkSession, copies: Copies, case: Case, way: str) -> Outcome:
    """Run the statements of a case on a new copy of its table."""
    path = copies.copy(case.table, way)
    name, texts = filled(case, path)
    with _catalog(spark, name, path, texts), set_as(spark, case.conf):
        for text in before_last(case, texts):
            spark.sql(text).collect()
        made_at_times(case.times_ms, path)
        outcome = Outcome(truckee.open(str(path)))
        try:
            if case.read is None:
                found = spark.sql(texts[-1])
            else:
                found = spark.read.format("delta").options(**case.read).load(str(path))
                found = found.drop("_commit_timestamp")
            outcome.result = in_order(plain(row) for row in found.collect())
        except PySparkException as error:
            outcome.error, outcome.text = str(error.getCondition()), str(error)
        except Py4JJavaError as error:  # an error of Spark's that PySpark does not know
            outcome.text = str(error)
            outcome.error = outcome.text.partition("[")[2].partition("]")[0]
        return outcome


def differences(case: Case, way: str, outcome: Outcome) -> dict[str, object]:
    """Return what came of a case where that is not what must come of it."""
    errors = (case.error,) if isinstance(case.error, str) else case.error
    found: dict[str, object] = {}
    if errors or case.says:
        if outcome.error not in errors or case.says.lower() not in outcome.text.lower():
            found["error"] = outcome.error, outcome.text
        if outcome.commits:
            found["commits"] = outcome.commits
    elif outcome.error:
        return {"error": (outcome.error, outcome.text)}
    for what in ("result", "rows", "changes"):
        expected = getattr(case, what)
        if expected is None or (what == "changes" and way not in FEEDS):
            continue
        if getattr(outcome, what) != in_order(expected):
            found[what] = getattr(outcome, what)
    if case.columns is not None and outcome.columns != list(case.columns):
        found["columns"] = outcome.columns
    if case.metrics is not None and not case.metrics.items() <= outcome.metrics.items():
        found["metrics"] = outcome.metrics
    if case.commits is not None and outcome.commits != case.commits:
        found["commits"] = outcome.commits
    return found


def filled(case: Case, path: Path) -> tuple[str, tuple[str, ...]]:
    """Return a name for the table, and the statements of a case for it."""
    name = f"case_{path.name[:12]}"
    places = {"{t}": f"delta.`{path}`", "{path}": str(path), "{n}": name, "{w}": f"{name}_w"}
    texts = []
    for text in case.statements:
        for place, value in places.items():
            text = text.replace(place, value)
        texts.append(text)
    return name, tuple(texts)


def before_last(case: Case, texts: Sequence[str]) -> Sequence[str]:
    return texts if case.read is not None else texts[:-1]


def made_at_times(times_ms: Iterable[int], path: Path) -> None:
    """Let the first commits of a table have been made at these times."""
    for version, time_ms in enumerate(times_ms):
        commit = path / "_delta_log" / f"{version:020d}.json"
        lines = [json.loads(line) for line in commit.read_text().splitlines()]
        for line in lines:
            if "commitInfo" in line:
                line["commitInfo"]["timestamp"] = time_ms
        commit.write_text("".join(json.dumps(line) + "\n" for line in lines))
        os.utime(commit, (time_ms / 1000, time_ms / 1000))


def is_named(name: str, texts: Sequence[str]) -> bool:
    """Tell whether statements call the table by its name."""
    return any(name in text.replace(f"{name}_w", "") for text in texts)


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Return rows in an order that does not depend on where they are stored."""
    return sorted(rows, key=repr)


def plain(row: SparkRow) -> Row:
    return tuple(_plain(value) for value in row)


def _plain(value: Any) -> Any:
    if isinstance(value, SparkRow):
        return {name: _plain(each) for name, each in value.asDict().items()}
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value


@contextmanager
def _catalog(spark: SparkSession, name: str, path: Path, texts: Sequence[str]) -> Iterator[None]:
    """Have the table in the catalog if a statement calls it by name; drop it and what was made."""
    named = is_named(name, texts)
    if named:
        spark.sql(f"CREATE TABLE {name} USING delta LOCATION '{path}'")
    try:
        yield
    finally:
        if any(f"{name}_w" in text for text in texts):
            spark.catalog.dropTempView(f"{name}_w")
            spark.sql(f"DROP TABLE IF EXISTS {name}_w")
        if named:
            spark.sql(f"UNCACHE TABLE IF EXISTS {name}")
            spark.sql(f"DROP TABLE {name}")
