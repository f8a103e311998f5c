"""Histories of tables whose rows have a key, with their expected feed.

Every commit rewrites the only file of the table, and writes a change file. The hidden columns of
row tracking have the id of each row and the version in which it last changed. So the same history
can be read as it was recorded, and derived by keys, by row ids and by whole rows.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import NamedTuple

import pyarrow as pa
from msgspec.structs import replace

from changelog_cases import PRESERVED, ROW_ID, ROW_VERSION, TRACKED
from data_tables import FEED_ON, DataTable, removed
from truckee.protocol.actions import Action, AddFile

PRE, POST = "update_preimage", "update_postimage"


class Change(NamedTuple):
    """A row of a feed."""

    kind: str
    id: int
    v: str
    version: int


class KeyedHistory:
    """A table, its rows at every version, and the feed of every version."""

    def __init__(self, path: Path, random: Random, commits: int) -> None:
        self.table = DataTable(path, "id long", "v string", properties={**TRACKED, **FEED_ON})
        self.rows: list[dict[int, str]] = [{}]
        self.changes: list[Change] = []
        self._touched: dict[int, int] = {}
        self._file: AddFile | None = None
        for _ in range(commits):
            self._commit(random)

    @property
    def last(self) -> int:
        return len(self.rows) - 1

    def feed(self, start: int, end: int) -> list[Change]:
        return [change for change in self.changes if start <= change.version <= end]

    def net(self, start: int, end: int, *, updates: bool, drop: bool = False) -> Counter[Change]:
        """The 2 x 2 of rows that were there before and are there after, by the states alone."""
        found: Counter[Change] = Counter()
        before, after = self.rows[start - 1], self.rows[end]
        feed = self.feed(start, end)
        for key in {change.id for change in feed}:
            first = min(change.version for change in feed if change.id == key)
            last = max(change.version for change in feed if change.id == key)
            kinds = (PRE, POST) if updates else ("delete", "insert")
            if key in before and key in after:
                if not (drop and before[key] == after[key]):
                    found[Change(kinds[0], key, before[key], first)] += 1
                    found[Change(kinds[1], key, after[key], last)] += 1
            elif key in before:
                found[Change("delete", key, before[key], first)] += 1
            elif key in after:
                found[Change("insert", key, after[key], last)] += 1
        return found

    def _commit(self, random: Random) -> None:
        version, rows = self.last + 1, dict(self.rows[-1])
        changes: list[Change] = []
        for key in random.sample(range(12), random.randint(1, 5)):
            old, new = rows.get(key), random.choice("abc")
            if old is None:
                changes.append(Change("insert", key, new, version))
                rows[key] = new
            elif random.random() < 0.4:
                changes.append(Change("delete", key, old, version))
                del rows[key]
            elif old != new:
                changes += [Change(PRE, key, old, version), Change(POST, key, new, version)]
                rows[key] = new
        for change in changes:
            self._touched[change.id] = version
        self.table.commit(PRESERVED, *self._actions(rows, changes, version))
        self.rows.append(rows)
        self.changes += changes

    def _actions(self, rows: dict[int, str], changes: list[Change], version: int) -> list[Action]:
        gone = [] if self._file is None else [removed(self._file)]
        data = pa.table(
            {
                "id": pa.array(rows, pa.int64()),
                "v": pa.array(rows.values(), pa.string()),
                ROW_ID: pa.array([1000 + key for key in rows], pa.int64()),
                ROW_VERSION: pa.array([self._touched[key] for key in rows], pa.int64()),
            }
        )
        self._file = replace(self.table.file(f"f{version}.parquet", data), base_row_id=0)
        told = pa.table(
            {
                "id": pa.array([change.id for change in changes], pa.int64()),
                "v": pa.array([change.v for change in changes], pa.string()),
                "_change_type": pa.array([change.kind for change in changes], pa.string()),
            }
        )
        recorded = self.table.change_file(f"_change_data/c{version}.parquet", told)
        return [*gone, self._file, recorded]
