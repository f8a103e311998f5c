"""A stream cut by any limits, and restarted anywhere, is the batch read of the same versions."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec.structs import replace

from changes.tables import PROTOCOL, Table, add, cdc, merge_info, metadata, remove, vector
from law_examples import examples
from staging import plan_changes
from streaming.streams import feed, reread, stream
from truckee.log.snapshot import load_snapshot
from truckee.options.feed import Bound, FeedOptions
from truckee.protocol.actions import Action
from truckee.protocol.deletion_vector import DeletionVectorDescriptor
from truckee.scan.scan_file import Change, ScanFile
from truckee.scan.snapshot_scan import scan_files
from truckee.storage.memory import MemoryStorage

pytestmark = pytest.mark.property

Steps = list[tuple[str, int]]
STEPS = ("append", "rewrite", "update", "delete", "optimize", "merge nothing", "comment")
NOTHING = merge_info(numTargetRowsInserted="0", numTargetRowsUpdated="0", numTargetRowsDeleted="0")


@dataclass
class Growing:
    """A table to which one thing after the other happens."""

    table: Table = field(default_factory=lambda: Table(MemoryStorage()))
    live: dict[str, DeletionVectorDescriptor | None] = field(default_factory=dict)
    files: int = 0

    def new(self, count: int, size: int = 100) -> list[Action]:
        names = [f"f{self.files + number}" for number in range(count)]
        self.files += count
        self.live |= dict.fromkeys(names)
        return [replace(add(name), size=size, modification_time=count) for name in names]

    def gone(self, count: int) -> list[Action]:
        names = list(self.live)[:count]
        return [remove(name, dv=self.live.pop(name)) for name in names]

    def take(self, step: str, count: int) -> None:
        actions: list[Action] = [] if self.table.version >= 0 else [PROTOCOL, metadata()]
        match step:
            case "append":
                actions += self.new(count, size=count * 40)
            case "rewrite":
                actions += [*self.gone(count), *self.new(count)]
            case "update":
                actions += [cdc(f"c{self.files}-{n}") for n in range(count)]
                actions += [*self.gone(count), *self.new(1)]
            case "delete":
                for name in list(self.live)[:count]:
                    before = self.live[name]
                    marked = 0 if before is None else before.cardinality
                    after = vector(*range(marked + 1))
                    actions += [add(name, dv=after), remove(name, dv=before)]
                    self.live[name] = after
            case "optimize":
                moved = [*self.gone(count), *self.new(1)]
                actions += [replace(action, data_change=False) for action in moved]  # type: ignore[type-var]
            case "merge nothing":
                actions += [NOTHING, *self.gone(1), *self.new(1)]
            case "comment":
                actions += [metadata()]
        self.table.commit(*actions)


def grown(steps: list[tuple[str, int]]) -> Growing:
    """Return a table with three files, to which steps have happened."""
    growing = Growing()
    for step in [("append", 3), *steps]:
        growing.take(*step)
    return growing


def read(files: list[ScanFile]) -> Counter[object]:
    return Counter((f.path, f.rows, f.change, f.size) for f in files)


steps = st.lists(st.tuples(st.sampled_from(STEPS), st.integers(1, 4)), max_size=8)
limits = st.fixed_dictionaries(
    {},
    optional={
        "maxFilesPerTrigger": st.integers(1, 9),
        "maxBytesPerTrigger": st.integers(1, 900).map(str),
    },
)


def drained(
    growing: Growing,
    is_feed: bool,
    options: dict[str, object],
    later: list[tuple[str, int]],
    cut: int,
) -> list[ScanFile]:
    """Read a stream to its end, with a restart after every `cut` batches, while the table grows."""
    start_stream = feed if is_feed else stream
    of = start_stream(growing.table.storage, **options)
    start, found, number = None, [], 0
    while True:
        end = of.latest_offset(start)
        if end == start:
            if not later:
                return found
            growing.take(*later.pop(0))
            continue
        assert end is not None
        assert of.latest_offset(start) == end
        number += 1
        if number % cut == 0:  # killed after the batch was planned, before it was done
            of = start_stream(growing.table.storage, **options)
        end = reread(of, end)
        found += of.plan(start, end)
        start = end


# Invariant 13.
@settings(max_examples=examples(150), deadline=None)
@given(steps, steps, limits, st.integers(1, 3))
def test_feed_from_a_version_is_the_batch_feed(
    before: list[tuple[str, int]],
    later: list[tuple[str, int]],
    options: dict[str, object],
    cut: int,
) -> None:
    growing = grown(before)

    found = drained(growing, True, {**options, "startingVersion": 0}, later, cut)

    expected = plan_changes(growing.table.storage, FeedOptions(start=Bound(version=0)))
    assert read(found) == read(list(expected.files))


@settings(max_examples=examples(150), deadline=None)
@given(steps, steps, limits, st.integers(1, 3))
def test_feed_that_begins_with_a_snapshot_is_that_snapshot_and_the_feed_after_it(
    before: list[tuple[str, int]],
    later: list[tuple[str, int]],
    options: dict[str, object],
    cut: int,
) -> None:
    growing = grown(before)
    first = load_snapshot(growing.table.storage)
    initial = scan_files(first)

    found = drained(growing, True, options, list(later), cut)

    assert Counter((f.path, f.rows) for f in found if f.version == first.version) == Counter(
        (f.path, f.rows) for f in initial
    )
    assert {f.change for f in found if f.version == first.version} <= {
        Change("insert", first.version, first.timestamp_ms)
    }
    since = FeedOptions(start=Bound(version=first.version + 1), out_of_range=True)
    expected = plan_changes(growing.table.storage, since)
    assert read([f for f in found if f.version > first.version]) == read(list(expected.files))


@settings(max_examples=examples(150), deadline=None)
@given(st.lists(st.integers(0, 4), max_size=8), limits, st.integers(1, 3))
def test_stream_of_appends_is_the_table(
    appends: list[int], options: dict[str, object], cut: int
) -> None:
    growing = grown([])
    later = [("append", count) for count in appends]

    found = drained(growing, False, options, later, cut)

    table = scan_files(load_snapshot(growing.table.storage))
    assert Counter(f.path for f in found) == Counter(f.path for f in table)
    assert all(f.change is None for f in found)
