"""Every table of the corpus read with pyarrow alone, by `truckee.open`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pytest

import truckee
from corpus import CorpusTable, corpus_tables
from golden.test_log import READ_REFUSALS, REFUSED_TO_READ
from golden_rows import _cast, _countable, _normalised, checker
from truckee.arrow.compare.rows import ArrowRows
from truckee.errors import DeltaError

pytestmark = pytest.mark.golden

READABLE = [table for table in corpus_tables() if table.group != "invalid"]
CODES = {
    "cdf-not-enabled": {"DELTA_MISSING_CHANGE_DATA"},
    "version-not-available": {"DELTA_CDC_START_VERSION_AFTER_LATEST", "DELTA_VERSION_NOT_FOUND"},
    "invalid-range": {"DELTA_INVALID_CDC_RANGE"},
    "missing-file": {"DELTA_CHANGE_DATA_FILE_NOT_FOUND"},
}


@pytest.mark.parametrize("table", READABLE, ids=str)
def test_rows_of_every_stated_version(table: CorpusTable, tmp_path: Path) -> None:
    opened = truckee.open(str(table.ready(tmp_path)))
    found: list[str] = []
    for entry in table.expected.get("snapshots", []):
        found += differences(opened.rows(version=entry["version"]), table.expected, entry)
    assert found == []


@pytest.mark.parametrize("table", [t for t in READABLE if t.expected.get("cdf")], ids=str)
def test_change_feed_of_every_stated_range(table: CorpusTable, tmp_path: Path) -> None:
    opened = truckee.open(str(table.ready(tmp_path)))
    found: list[str] = []
    for entry in table.expected["cdf"]:
        if "error" in entry:
            found += wrongly_read(opened, entry)
        else:
            feed = opened.changes(startingVersion=entry["start"], endingVersion=entry["end"])
            found += differences(feed, table.expected, entry) + timestamps(feed, entry)
    assert found == []


@pytest.mark.parametrize("table", REFUSED_TO_READ, ids=str)
def test_an_invalid_table_is_refused_as_the_log_refuses_it(
    table: CorpusTable, tmp_path: Path
) -> None:
    with pytest.raises(READ_REFUSALS[table.expected["error"]["kind"]]):
        truckee.open(table.ready(tmp_path)).to_arrow()


def wrongly_read(opened: Any, entry: dict[str, Any]) -> list[str]:
    try:
        opened.changes(startingVersion=entry["start"], endingVersion=entry["end"]).to_arrow()
    except DeltaError as error:
        expected = CODES.get(entry["error"])
        is_expected = expected is None or error.code in expected
        return [] if is_expected else [f"{entry['error']}: {error.code}"]
    return [f"read, though {entry['error']}"]


def timestamps(feed: ArrowRows, entry: dict[str, Any]) -> list[str]:
    stated = entry.get("commit_timestamps")
    if stated is None:
        return []
    rows = feed.select(["_commit_version", "_commit_timestamp"]).to_arrow()
    moments = pc.divide(rows["_commit_timestamp"].cast(pa.int64()), 1000).to_pylist()
    found = dict(zip(rows["_commit_version"].to_pylist(), moments, strict=True))
    return [
        f"version {version}: {at} instead of {stated[str(version)]}"
        for version, at in found.items()
        if at != stated[str(version)]
    ]


def differences(of: ArrowRows, expected: dict[str, Any], entry: dict[str, Any]) -> list[str]:
    rows = of.to_arrow()
    if "columns" not in entry:
        stated = entry["row_count"]
        return [] if rows.num_rows == stated else [f"{rows.num_rows} rows, not {stated}"]
    types = checker().column_types(expected, entry)
    columns = [rows.column(name) for name in entry["columns"]]
    values = [_cast(column, _countable(column.type)).to_pylist() for column in columns]
    normalised = [
        [_normalised(value, kind) for value, kind in zip(row, types, strict=True)]
        for row in zip(*values, strict=True)
    ]
    found: list[str] = checker().differences(entry, normalised)
    return found
