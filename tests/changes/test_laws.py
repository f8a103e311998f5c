"""What a feed promises, whatever happened to the table: with histories that Hypothesis makes up.

Data files are lists in memory here. What is under test is the planning: which files, which of
their rows, and as which change.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from changes.tables import PROTOCOL, Table, add, cdc, metadata, remove, vector
from law_examples import examples
from staging import plan_changes
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.log.snapshot import load_snapshot
from truckee.options.feed import Bound, FeedOptions
from truckee.protocol.actions import Action
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.scan.scan_file import RowSelection, ScanFile
from truckee.storage.base import Storage
from values import read_deletion_vector

pytestmark = pytest.mark.property

Files = dict[str, frozenset[int]]
"""The live files: path -> indexes of deleted rows."""


@dataclass
class World:
    """A table, the rows of its data files, and the live files of each version."""

    table: Table = field(default_factory=Table)
    data: dict[str, list[int]] = field(default_factory=dict)
    changes: dict[str, list[tuple[str, int]]] = field(default_factory=dict)
    versions: list[Files] = field(default_factory=list)

    @property
    def live(self) -> Files:
        return self.versions[-1] if self.versions else {}

    def commit(self, files: Files, *extra: Action, data_change: bool = True) -> None:
        """Commit what leads from the live files to these."""
        actions: list[Action] = [] if self.versions else [PROTOCOL, metadata()]
        for path, gone in self.live.items():
            if files.get(path) != gone:
                actions.append(remove(path, dv=_vector(gone), data_change=data_change))
        for path, gone in files.items():
            if self.live.get(path) != gone:
                rows = len(self.data[path])
                actions.append(add(path, dv=_vector(gone), rows=rows, data_change=data_change))
        self.table.commit(*actions, *extra)
        self.versions.append(files)

    def new_file(self, rows: list[int]) -> Files:
        path = f"f{len(self.data)}"
        self.data[path] = rows
        return {path: frozenset()}

    def rows(self, files: Files) -> list[int]:
        return [
            row
            for path, gone in files.items()
            for index, row in enumerate(self.data[path])
            if index not in gone
        ]


def _vector(gone: frozenset[int]) -> DeletionVectorDescriptor | None:
    return vector(*sorted(gone)) if gone else None


@st.composite
def worlds(draw: st.DrawFn) -> World:
    world = World()
    world.commit({})
    for _ in range(draw(st.integers(1, 8))):
        draw(st.sampled_from(OPERATIONS))(world, draw)
    return world


def append(world: World, draw: st.DrawFn) -> None:
    world.commit(world.live | world.new_file(draw(st.lists(st.integers(0, 5), max_size=6))))


def overwrite(world: World, draw: st.DrawFn) -> None:
    world.commit(world.new_file(draw(st.lists(st.integers(0, 5), max_size=6))))


def delete_by_vector(world: World, draw: st.DrawFn) -> None:
    files = dict(world.live)
    for path, gone in world.live.items():
        more = draw(st.sets(st.sampled_from(range(len(world.data[path]) or 1)), max_size=4))
        now_gone = gone | {row for row in more if row < len(world.data[path])}
        files[path] = frozenset(now_gone)
        if now_gone and len(now_gone) == len(world.data[path]):
            del files[path]
    world.commit(files)


def optimize(world: World, draw: st.DrawFn) -> None:
    world.commit(world.new_file(world.rows(world.live)), data_change=False)


def restore(world: World, draw: st.DrawFn) -> None:
    world.commit(dict(draw(st.sampled_from(world.versions))))


def update_by_rewrite(world: World, draw: st.DrawFn) -> None:
    if not world.live:
        append(world, draw)
    path = draw(st.sampled_from(sorted(world.live)))
    before = world.rows({path: world.live[path]})
    rest = {other: gone for other, gone in world.live.items() if other != path}
    change_file = f"c{len(world.changes)}"
    world.changes[change_file] = [
        (kind, row + step) for row in before for kind, step in (("delete", 0), ("insert", 10))
    ]
    world.commit(rest | world.new_file([row + 10 for row in before]), cdc(change_file))


OPERATIONS = [append, overwrite, delete_by_vector, optimize, restore, update_by_rewrite]


def feed(world: World, start: int, end: int) -> Counter[tuple[int, str, int]]:
    """Return the feed as a multiset of (version, type, row)."""
    options = FeedOptions(start=Bound(version=start), end=Bound(version=end))
    plan = plan_changes(world.table.storage, options)
    return Counter(
        (file.version, kind, row) for file in plan.files for kind, row in rows_of(world, file)
    )


def rows_of(world: World, file: ScanFile) -> list[tuple[str, int]]:
    assert file.change is not None
    if file.change.type is None:
        return world.changes[file.path]
    data = world.data[file.path]
    selected = selection(world.table.storage, file.rows, len(data))
    return [(file.change.type, data[index]) for index in selected]


def selection(storage: Storage, rows: RowSelection, count: int) -> RowBitmap:
    selected = RowBitmap(range(count))
    if rows.within is not None:
        selected = selected & read_deletion_vector(storage, rows.within)
    if rows.without is not None:
        selected = selected - read_deletion_vector(storage, rows.without)
    return selected


def applied(rows: list[int], changes: Counter[tuple[int, str, int]]) -> Counter[int]:
    found = Counter(rows)
    for (_, kind, row), times in changes.items():
        found[row] += times if kind == "insert" else -times
    return found


# Invariant 11.
@given(worlds(), st.data())
@settings(max_examples=examples(120), deadline=None)
def test_a_snapshot_with_the_changes_since_then_is_the_later_snapshot(
    world: World, data: st.DataObject
) -> None:
    last = len(world.versions) - 1
    a = data.draw(st.integers(0, last - 1))
    b = data.draw(st.integers(a + 1, last))

    changes = feed(world, a + 1, b)

    later = applied(world.rows(world.versions[a]), changes)
    assert +later == Counter(world.rows(world.versions[b]))
    assert min(later.values(), default=0) >= 0


# Invariant 12.
@given(worlds(), st.data())
@settings(max_examples=examples(120), deadline=None)
def test_a_feed_is_the_feed_up_to_a_version_and_the_feed_after_it(
    world: World, data: st.DataObject
) -> None:
    last = len(world.versions) - 1
    a = data.draw(st.integers(0, last))
    c = data.draw(st.integers(a, last))
    b = data.draw(st.integers(a, c))

    parts = feed(world, a, b) + (feed(world, b + 1, c) if b < c else Counter())

    assert feed(world, a, c) == parts


@given(worlds())
@settings(max_examples=examples(120), deadline=None)
def test_the_model_has_the_files_that_the_log_has(world: World) -> None:
    snapshot = load_snapshot(world.table.storage)

    assert {file.path for file in snapshot.files()} == set(world.live)
