"""Every table of the corpus read with pyarrow alone, as executors of a Python data source do."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from corpus import CorpusTable, corpus_tables
from golden_rows import _cast, _countable, _normalised, checker
from truckee.arrow.columns import arrow_schema
from truckee.arrow.read import TableRead, read_parts, tasks
from truckee.changes.plan import plan_changes
from truckee.log.snapshot import load_snapshot
from truckee.options.feed import feed_options
from truckee.scan.scan_file import ScanFile
from truckee.scan.snapshot_scan import scan_files
from truckee.storage import open_storage

pytestmark = pytest.mark.golden

READABLE = [table for table in corpus_tables() if table.group != "invalid"]


@pytest.mark.parametrize("table", READABLE, ids=str)
def test_rows_of_every_stated_version(table: CorpusTable, tmp_path: Path) -> None:
    path = str(table.ready(tmp_path))
    found: list[str] = []
    for entry in table.expected.get("snapshots", []):
        snapshot = load_snapshot(open_storage(path), entry["version"])
        read = TableRead(
            url=path,
            store_options={},
            schema=snapshot.schema,
            partition_columns=snapshot.partition_columns,
            mapping_mode=snapshot.properties.column_mapping_mode,
        )

        rows = all_rows(read, scan_files(snapshot))

        found += differences(rows, table.expected, entry)
    assert found == []


@pytest.mark.parametrize("table", [t for t in READABLE if t.expected.get("cdf")], ids=str)
def test_change_feed_of_every_stated_range(table: CorpusTable, tmp_path: Path) -> None:
    path = str(table.ready(tmp_path))
    found: list[str] = []
    for entry in table.expected["cdf"]:
        if "error" in entry:
            continue
        options = {"startingVersion": entry["start"], "endingVersion": entry["end"]}
        given = {name: value for name, value in options.items() if value is not None}
        plan = plan_changes(open_storage(path), feed_options(given))
        read = TableRead(
            url=path,
            store_options={},
            schema=plan.schema,
            partition_columns=plan.partition_columns,
            mapping_mode=plan.column_mapping_mode,
            is_feed=True,
        )

        rows = all_rows(read, plan.files)

        found += differences(rows, table.expected, entry)
    assert found == []


def all_rows(read: TableRead, files: Iterable[ScanFile]) -> pa.Table:
    batches = [batch for task in tasks(files) for batch in read_parts(read, task)]
    return pa.Table.from_batches(batches, arrow_schema(read.output))


def differences(rows: pa.Table, expected: dict[str, Any], entry: dict[str, Any]) -> list[str]:
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
