"""Every table of the corpus with two versions or more: its diffs against its snapshots.

The rows of two versions, as plain multisets, say what their diff has to be.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import truckee
from corpus import CorpusTable, corpus_tables
from golden_rows import _cast, _countable
from truckee.arrow.columns import arrow_schema
from truckee.changes.missing_files import missing_paths
from truckee.errors import DeltaError, DiffSchemaError
from truckee.local_table import LocalTable
from truckee.log.files.segment import list_commits
from truckee.log.snapshot import Snapshot
from truckee.protocol.schema import StructField
from truckee.scan.snapshot_scan import scan_files

pytestmark = pytest.mark.golden

MOST_PAIRS = int(os.environ.get("TRUCKEE_DIFF_PAIRS", "3"))
TABLES = [
    table
    for table in corpus_tables()
    if table.group != "invalid" and len(list(table.path.glob("_delta_log/*.json"))) > 1
]


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_a_diff_turns_one_version_into_the_other(table: CorpusTable, tmp_path: Path) -> None:
    opened = truckee.open(str(table.ready(tmp_path)))
    found = [
        difference
        for start, end in pairs(readable_versions(opened))
        for difference in differences(opened, start, end)
    ]

    assert found == []


def differences(opened: LocalTable, start: int, end: int) -> list[str]:
    before, after = opened.snapshot(start), opened.snapshot(end)
    newest = before if start > end else after
    try:
        diff = opened.diff(start, end).to_arrow()
    except DiffSchemaError:
        # A table that was written anew with another type has no rows that could be compared.
        return [] if has_other_types(before, after) else [f"{start}..{end}: other types"]
    schema = pa.schema([field for field in diff.schema if field.name != "_change_type"])
    expected = rows_at(opened, after, newest, schema)
    expected.subtract(rows_at(opened, before, newest, schema))
    signs = {"insert": 1, "update_postimage": 1, "delete": -1, "update_preimage": -1}
    for row, kind in zip(
        hashable(diff.select(schema.names)), diff["_change_type"].to_pylist(), strict=True
    ):
        expected[row] -= signs[kind]
    wrong = {row: count for row, count in expected.items() if count}
    return [f"{start}..{end}: {wrong}"] if wrong else []


def pairs(versions: list[int]) -> Iterator[tuple[int, int]]:
    """Yield the first and the last version, both ways, and some that follow each other."""
    if len(versions) < 2:
        return
    yield versions[0], versions[-1]
    yield versions[-1], versions[0]
    neighbours = list(pairwise(versions))
    yield from neighbours[:: -(-len(neighbours) // MOST_PAIRS)]


def readable_versions(opened: LocalTable) -> list[int]:
    """Return the versions whose files are all there."""
    found = []
    for version in list_commits(opened.snapshot().storage, 0):
        try:
            snapshot = opened.snapshot(version)
            paths = missing_paths(snapshot.storage, scan_files(snapshot))
            is_whole = next(paths, None) is None and bool(snapshot.schema.names)
        except DeltaError:
            continue
        found += [version] if is_whole else []
    return found


def rows_at(opened: LocalTable, at: Snapshot, newest: Snapshot, schema: pa.Schema) -> Counter[Any]:
    """Return the rows of a version with the columns of another one."""
    rows = opened.to_arrow(version=at.version)
    columns = []
    for field in newest.schema.fields:
        same = same_column(field, at, newest)
        wanted = schema.field(field.name).type
        values = pa.nulls(rows.num_rows, wanted) if same is None else rows[same].cast(wanted)
        columns.append(values)
    return Counter(hashable(pa.table(columns, names=schema.names)))


def same_column(field: StructField, at: Snapshot, newest: Snapshot) -> str | None:
    modes = [of.properties.column_mapping_mode for of in (newest, at)]
    if "none" in modes:
        found = at.schema.field(field.name)
    else:
        places = {theirs.physical_name: theirs for theirs in at.schema.fields}
        found = places.get(field.physical_name)
    return None if found is None else found.name


def has_other_types(before: Snapshot, after: Snapshot) -> bool:
    one, other = arrow_schema(before.schema), arrow_schema(after.schema)
    shared = set(one.names) & set(other.names)
    return any(one.field(name).type != other.field(name).type for name in shared)


def hashable(rows: pa.Table) -> list[Any]:
    columns = [_cast(column, _countable(column.type)).to_pylist() for column in rows.columns]
    if not columns:
        return [()] * rows.num_rows
    return [tuple(map(frozen, row)) for row in zip(*columns, strict=True)]


def frozen(value: Any) -> Any:
    """Return a value that equals others as Spark groups them."""
    if isinstance(value, float):
        return "NaN" if value != value else value + 0.0
    if isinstance(value, dict):
        return tuple(frozen(item) for item in value.values())
    if isinstance(value, list):
        items = [frozen(item) for item in value]
        is_map = all(isinstance(item, tuple) for item in value)
        return tuple(sorted(items, key=repr) if is_map else items)
    return tuple(map(frozen, value)) if isinstance(value, tuple) else value
