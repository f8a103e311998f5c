"""Every table of the corpus read through Spark: the rows of its versions, and its change feed."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from corpus import CorpusTable, corpus_tables
from golden_rows import differences
from truckee.errors import DeltaError

pytestmark = pytest.mark.golden

_READABLE = [table for table in corpus_tables() if table.group != "invalid"]
_CODES = {
    "cdf-not-enabled": {"DELTA_MISSING_CHANGE_DATA"},
    "version-not-available": {"DELTA_CDC_START_VERSION_AFTER_LATEST", "DELTA_VERSION_NOT_FOUND"},
    "invalid-range": {"DELTA_INVALID_CDC_RANGE"},
    "missing-file": {"DELTA_CHANGE_DATA_FILE_NOT_FOUND"},
}


@pytest.mark.parametrize("table", _READABLE, ids=str)
def test_rows_of_every_stated_version(
    spark: SparkSession, table: CorpusTable, tmp_path: Path
) -> None:
    path = str(table.ready(tmp_path))

    def check(entry: dict[str, Any]) -> list[str]:
        frame = truckee.read(spark).option("versionAsOf", entry["version"]).load(path)
        return differences(frame, table.expected, entry)

    found = _found(check, table.expected.get("snapshots", []), ("version",))

    assert found == []


@pytest.mark.parametrize("table", [t for t in _READABLE if t.expected.get("cdf")], ids=str)
def test_change_feed_of_every_stated_range(
    spark: SparkSession, table: CorpusTable, tmp_path: Path
) -> None:
    path = str(table.ready(tmp_path))

    def check(entry: dict[str, Any]) -> list[str]:
        reader = truckee.read(spark).option("readChangeFeed", True)
        reader = reader.option("startingVersion", entry["start"])
        if entry["end"] is not None:
            reader = reader.option("endingVersion", entry["end"])
        if "error" in entry:
            return _wrongly_read(lambda: reader.load(path).count(), entry["error"])
        frame = reader.load(path)
        return differences(frame, table.expected, entry) + _timestamps(frame, entry)

    found = _found(check, table.expected["cdf"], ("start", "end"))

    assert found == []


def _found(
    check: Callable[[dict[str, Any]], list[str]],
    entries: Iterable[dict[str, Any]],
    keys: tuple[str, ...],
) -> list[str]:
    """Return the differences of all entries, read side by side: most of the time is planning."""
    stated = list(entries)
    with ThreadPoolExecutor(4) as pool:
        results = list(pool.map(check, stated))
    return [
        f"{[entry[key] for key in keys]}: {text}"
        for entry, result in zip(stated, results, strict=True)
        for text in result
    ]


def _wrongly_read(read: Callable[[], object], kind: str) -> list[str]:
    try:
        read()
    except DeltaError as error:
        expected = _CODES.get(kind)
        return [] if expected is None or error.code in expected else [f"{kind}: {error.code}"]
    return [f"read, though {kind}"]


def _timestamps(frame: Any, entry: dict[str, Any]) -> list[str]:
    stated = entry.get("commit_timestamps")
    if stated is None:
        return []
    found = {
        str(row[0]): row[1]
        for row in frame.selectExpr("_commit_version", "unix_millis(_commit_timestamp)")
        .distinct()
        .collect()
    }
    return [
        f"version {version}: {found[version]} instead of {stated[version]}"
        for version in found
        if found[version] != stated[version]
    ]
