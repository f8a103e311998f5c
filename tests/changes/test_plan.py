from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import pytest
from msgspec.structs import replace

from changes.tables import PROTOCOL, Table, add, cdc, metadata, remove, vector
from counted_calls import counted_calls
from staging import plan_changes
from truckee.changes.plan import ChangePlan, open_feed
from truckee.deletion_vectors.bitmap import RowBitmap
from truckee.deletion_vectors.store import write_deletion_vectors
from truckee.errors.changes import BeyondRetentionError, ChangeDataNotRecordedError
from truckee.errors.log import VersionNotFoundError, VersionsNotContiguousError
from truckee.options.feed import Bound, FeedOptions
from truckee.protocol.actions import CommitInfo, encode_actions
from truckee.protocol.paths import commit_path
from truckee.protocol.schema import type_text
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage


def asked(
    start: int,
    end: int | None = None,
    *,
    out_of_range: bool = False,
    within_retention: bool = False,
) -> FeedOptions:
    return FeedOptions(
        start=Bound(version=start),
        end=None if end is None else Bound(version=end),
        out_of_range=out_of_range,
        within_retention=within_retention,
    )


def shown(plan: ChangePlan) -> list[tuple[int, str | None, str]]:
    found = []
    for file in plan.files:
        assert file.change is not None
        found.append((file.change.version, file.change.type, file.path))
    return found


def test_a_plan_has_the_files_of_every_version_in_order() -> None:
    table = Table.created("id long", "p string", partition_by=("p",)).commits(
        (add("a"),),
        (remove("a"), add("b")),
        (add("x"), remove("b"), cdc("c")),
    )

    plan = plan_changes(table.storage, asked(1, 3))

    assert shown(plan) == [
        (1, "insert", "a"),
        (2, "insert", "b"),
        (2, "delete", "a"),
        (3, None, "c"),
    ]
    assert (plan.start, plan.end, plan.table) == (1, 3, "memory://t")
    assert type_text(plan.schema) == "struct<id:bigint,p:string>"
    assert type_text(plan.feed_schema) == (
        "struct<id:bigint,p:string,_change_type:string,_commit_version:bigint,"
        "_commit_timestamp:timestamp>"
    )
    assert plan.configuration.partition_columns == ("p",)
    assert plan.configuration.column_mapping_mode == "none"
    assert plan.configuration.metadata.configuration == {"delta.enableChangeDataFeed": "true"}
    assert plan.size_in_bytes == 250


def test_both_ends_belong_to_the_range() -> None:
    table = Table.created().commits(*[(add(name),) for name in "abc"])

    assert shown(plan_changes(table.storage, asked(2, 2))) == [(2, "insert", "b")]


def test_the_example_of_one_file_whose_vector_changes_seven_times() -> None:
    none, both, four, two, one = None, vector(0, 9), vector(0, 1, 4, 5), vector(0, 5), vector(3)
    table = Table().commit(PROTOCOL, metadata(), add("f"))
    for before, after in [
        (none, both), (both, none), (none, four), (four, two), (two, one), (one, none)
    ]:  # fmt: skip
        table.commit(remove("f", dv=before), add("f", dv=after))

    plan = plan_changes(table.storage, asked(0))

    assert [
        (f.version, f.change.type, f.rows.within, f.rows.without) for f in plan.files if f.change
    ] == [
        (0, "insert", None, None),
        (1, "delete", both, None),
        (2, "insert", both, None),
        (3, "delete", four, None),
        (4, "insert", four, two),
        (4, "delete", two, four),
        (5, "insert", two, one),
        (5, "delete", one, two),
        (6, "insert", one, None),
    ]


def test_the_last_rows_of_a_file_do_not_bring_back_those_deleted_before() -> None:
    table = Table().commit(PROTOCOL, metadata(), add("f"))
    table.commit(add("f", dv=vector(3)), remove("f"))
    table.commit(add("f", dv=vector(3, 4)), remove("f", dv=vector(3)))
    table.commit(remove("f", dv=vector(3, 4)))

    (last,) = plan_changes(table.storage, asked(3)).files

    assert last.change is not None
    assert last.change.type == "delete"
    assert last.rows.within is None
    assert last.rows.without == vector(3, 4)


def test_an_end_after_the_latest_version_is_clipped_when_the_feed_is_read() -> None:
    table = Table.created().commit(add("a"))
    feed = open_feed(table.storage, asked(1, 2))

    assert feed.plan().end == 1
    table.commit(add("b")).commit(add("c"))
    assert shown(feed.plan()) == [(1, "insert", "a"), (2, "insert", "b")]


def test_an_open_end_is_taken_when_the_feed_is_read_while_its_schema_stays() -> None:
    table = Table.created("id long").commit(add("a"))
    feed = open_feed(table.storage, asked(1))
    table.commit(metadata("id long", "x string")).commit(add("b"))

    plan = feed.plan()

    assert shown(plan) == [(1, "insert", "a"), (3, "insert", "b")]
    assert plan.end == 3
    assert type_text(plan.schema) == "struct<id:bigint>"
    assert feed.schema == plan.feed_schema


def test_an_empty_range_has_columns_and_no_files() -> None:
    table = Table.created("id long", feed="false")
    feed = open_feed(table.storage, asked(9, out_of_range=True))
    table.commits(*[(add(str(n)),) for n in range(20)])

    plan = feed.plan()

    assert (plan.files, plan.start, plan.end) == ((), 9, 8)
    assert len(plan.feed_schema.fields) == 4


def disabled_and_enabled() -> Storage:
    """Versions 0 and 1 without the feed, on from 2, off from 5."""
    table = Table.created(feed="false").commit(add("a")).commit(metadata())
    return table.commit(add("b")).commit(add("c")).commit(metadata(feed="false")).storage


@pytest.mark.parametrize(
    ("start", "end", "found"), [(0, 4, 0), (1, 4, 1), (2, 5, 5), (2, None, 5), (2, 99, 5)]
)
def test_a_range_in_which_the_feed_was_off_is_refused(
    start: int, end: int | None, found: int
) -> None:
    feed = open_feed(disabled_and_enabled(), asked(start, end))

    with pytest.raises(ChangeDataNotRecordedError) as raised:
        feed.plan()

    shown_end = 5 if end is None else min(end, 5)
    assert raised.value.sentence() == (
        f"Error getting change data for range [{start} , {shown_end}]: no change data was "
        f"recorded at version {found}, since the change feed was off\n"
        "hint: set the option changeFeed to auto (on the command line: --feed auto), which "
        "derives these changes from the table's "
        "files, or read a range in which delta.enableChangeDataFeed is true throughout"
    )
    assert raised.value.code == "DELTA_MISSING_CHANGE_DATA"


def test_a_feed_switched_off_and_on_again_within_the_range_is_refused() -> None:
    table = Table.created().commit(add("a")).commit(metadata(feed="false")).commit(metadata())

    with pytest.raises(ChangeDataNotRecordedError) as raised:
        plan_changes(table.storage, asked(0))

    assert (raised.value.version, raised.value.end) == (2, 3)


def test_whether_the_feed_was_on_before_the_start_does_not_matter() -> None:
    plan = plan_changes(disabled_and_enabled(), asked(2, 4))

    assert shown(plan) == [(3, "insert", "b"), (4, "insert", "c")]


def test_the_old_name_of_the_property_counts() -> None:
    old_name = replace(metadata(), configuration={"delta.enableChangeDataCapture": "true"})
    table = Table().commit(PROTOCOL, old_name, add("a"))

    assert shown(plan_changes(table.storage, asked(0))) == [(0, "insert", "a")]


def test_a_gap_in_the_log_does_not_pass_in_silence() -> None:
    table = Table.created().commits((add("a"),), (add("b"),), (add("c"),))
    feed = open_feed(table.storage, asked(1))
    table.storage.delete(commit_path(2))

    with pytest.raises(VersionsNotContiguousError) as raised:
        feed.plan()

    assert raised.value.sentence() == (
        "the log of memory://t has a gap: version 2 is missing, but version 3 exists\n"
        "hint: restore _delta_log/00000000000000000002.json"
    )


@pytest.mark.parametrize("start", [-1, -5])
def test_a_start_that_never_was_is_refused(start: int) -> None:
    table = Table.created().commit(add("a"))

    with pytest.raises(VersionNotFoundError) as raised:
        plan_changes(table.storage, asked(start))

    assert raised.value.sentence() == (
        f"Cannot time travel Delta table to version {start}: it is not available in "
        f"memory://t\nhint: the log has versions 0 to 1"
    )


def test_a_start_whose_commit_was_cleaned_up_is_refused() -> None:
    table = Table.created().commits((add("a"),), (add("b"),))
    feed = open_feed(table.storage, asked(1))
    table.storage.delete(commit_path(0))
    table.storage.delete(commit_path(1))

    with pytest.raises(VersionNotFoundError) as raised:
        feed.plan()

    assert raised.value.sentence() == (
        "Cannot time travel Delta table to version 1: it is not available in "
        "memory://t\nhint: the log has version 2"
    )


def at_days(tmp_path: Path, *days: int) -> Storage:
    table = Table(LocalStorage(str(tmp_path)))
    table.commit(PROTOCOL, metadata(deletedFileRetentionDuration="interval 2 days"), at_ms=0)
    for day in days:
        table.commit(CommitInfo(), add(f"day{day}"), at_ms=day * 86_400_000)
    return table.storage


def test_a_start_older_than_deleted_files_are_kept_can_be_refused(tmp_path: Path) -> None:
    storage = at_days(tmp_path, 1, 4, 5)
    now_ms = 6 * 86_400_000

    with pytest.raises(BeyondRetentionError) as raised:
        open_feed(storage, asked(1, within_retention=True), now_ms=now_ms)

    assert raised.value.sentence() == (
        f"version 1 of {storage.root} is from 1970-01-02T00:00:00.000Z, but deleted files are "
        "only kept for 48 hours, since 1970-01-05T00:00:00.000Z\n"
        "hint: start at a later version, or raise delta.deletedFileRetentionDuration"
    )
    recent = open_feed(storage, asked(2, within_retention=True), now_ms=now_ms)
    unchecked = open_feed(storage, asked(1), now_ms=now_ms)
    assert (recent.range.start, unchecked.range.start) == (2, 1)


def test_the_latest_version_is_never_too_old(tmp_path: Path) -> None:
    storage = at_days(tmp_path, 1)

    feed = open_feed(storage, asked(1, within_retention=True), now_ms=99 * 86_400_000)

    assert shown(feed.plan()) == [(1, "insert", "day1")]


def test_timestamps_are_recorded_ones_or_those_of_files_made_monotonic(tmp_path: Path) -> None:
    table = Table(LocalStorage(str(tmp_path)))
    table.commit(PROTOCOL, metadata(), add("a"), at_ms=5_000)
    table.commit(add("b"), at_ms=5_000)
    table.commit(add("c"), at_ms=4_000)
    table.commit(CommitInfo(in_commit_timestamp=9_000, timestamp=1), add("d"), at_ms=6_000)

    def timestamps(start: int) -> list[int | None]:
        plan = plan_changes(table.storage, asked(start))
        return [file.change.timestamp_ms for file in plan.files if file.change]

    assert timestamps(0) == [5_000, 5_001, 5_002, 9_000]
    assert timestamps(2) == [5_002, 9_000]


@dataclass
class WatchedStorage(MemoryStorage):
    """A store in memory that remembers which files were read."""

    reads: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        super().__init__()

    def read(self, path: str) -> bytes:
        self.reads.append(path)
        return super().read(path)


def test_a_plan_reads_the_commits_of_its_range_and_nothing_else() -> None:
    storage = WatchedStorage()
    table = Table(storage).commit(PROTOCOL, metadata())
    (dv,) = write_deletion_vectors(storage, [RowBitmap([1])])
    table.commits((add("a"),), (remove("a"), add("a", dv=dv)), (cdc("c"),), (add("d"),))
    feed = open_feed(storage, asked(2, 3))
    storage.reads.clear()

    plan = feed.plan()

    assert len(plan.files) == 2
    assert storage.reads == [commit_path(2), commit_path(3)]


def test_the_work_of_a_plan_grows_with_its_commits_and_no_faster(tmp_path: Path) -> None:
    def calls(commits: int) -> int:
        folder = tmp_path / str(commits)
        table = Table(LocalStorage(str(folder))).commit(PROTOCOL, metadata())
        for version in range(1, commits):
            actions = CommitInfo(operation="WRITE"), add(f"part-{version:05d}.parquet")
            (folder / commit_path(version)).write_bytes(encode_actions(actions))
        assert len(plan_changes(table.storage, asked(0)).files) == commits - 1
        return counted_calls(lambda: plan_changes(table.storage, asked(0)))

    assert calls(2000) < 5 * calls(500)
