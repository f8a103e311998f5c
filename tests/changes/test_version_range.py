from __future__ import annotations

from pathlib import Path

import pytest

from changes.tables import PROTOCOL, Table, metadata
from truckee.changes.version_range import VersionRange, resolved_range
from truckee.errors.changes import InvalidRangeError, StartAfterLatestError
from truckee.errors.log import TimestampTooEarlyError, TimestampTooLateError
from truckee.options.feed import Bound, FeedOptions
from truckee.protocol.actions import CommitInfo
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage


@pytest.fixture
def storage(tmp_path: Path) -> Storage:
    """A table with commits at 10 s (version 0), 20 s (version 1) and 30 s (version 2)."""
    table = Table(LocalStorage(str(tmp_path)))
    table.commit(PROTOCOL, metadata(), at_ms=10_000)
    table.commit(CommitInfo(), at_ms=20_000)
    table.commit(CommitInfo(), at_ms=30_000)
    return table.storage


def version(number: int) -> Bound:
    return Bound(version=number)


def time(seconds: int) -> Bound:
    return Bound(timestamp_ms=seconds * 1000)


def resolved(
    storage: Storage, start: Bound, end: Bound | None, *, out_of_range: bool = False
) -> VersionRange:
    options = FeedOptions(start=start, end=end, out_of_range=out_of_range)
    return resolved_range(storage, options, latest=2)


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (time(5), None, VersionRange(0, None)),
        (time(11), None, VersionRange(1, None)),
        (time(20), time(20), VersionRange(1, 1)),
        (time(21), time(29), VersionRange(2, 1)),
        (version(1), version(99), VersionRange(1, 99)),
        (version(0), time(29), VersionRange(0, 1)),
        (time(30), None, VersionRange(2, None)),
        (time(11), version(1), VersionRange(1, 1)),
        (version(0), version(2), VersionRange(0, 2)),
    ],
)
def test_bounds_become_versions(
    storage: Storage, start: Bound, end: Bound | None, expected: VersionRange
) -> None:
    assert resolved(storage, start, end) == expected


def test_a_window_between_two_commits_has_no_version(storage: Storage) -> None:
    assert resolved(storage, time(21), time(29)).is_empty
    assert not resolved(storage, time(20), time(29)).is_empty
    assert not resolved(storage, version(2), None).is_empty


@pytest.mark.parametrize(
    ("start", "end", "found"),
    [
        (time(29), time(21), (2, 1)),
        (version(2), time(21), (2, 1)),
        (time(21), version(1), (2, 1)),
        (version(2), version(1), (2, 1)),
        (time(30), time(10), (2, 0)),
        (version(0), version(-1), (0, -1)),
    ],
)
def test_a_range_that_ends_before_it_starts_is_refused(
    storage: Storage, start: Bound, end: Bound, found: tuple[int, int]
) -> None:
    with pytest.raises(InvalidRangeError) as raised:
        resolved(storage, start, end)

    assert raised.value.sentence() == (
        f"the change feed was asked for from version {found[0]} to version {found[1]}, which "
        "ends before it starts\n"
        "hint: swap start and end; both are inclusive"
    )
    assert raised.value.code == "DELTA_INVALID_CDC_RANGE"


@pytest.mark.parametrize("end", [None, version(1), version(5)])
def test_a_start_after_the_latest_version_is_refused(storage: Storage, end: Bound | None) -> None:
    with pytest.raises(StartAfterLatestError) as raised:
        resolved(storage, version(3), end)

    assert raised.value.sentence() == (
        f"the change feed of {storage.root} was asked for from version 3 on, "
        "but its latest version is 2\n"
        "hint: start at version 2 or before, or set spark.databricks.delta."
        "changeDataFeed.timestampOutOfRange.enabled to true, to get no rows instead"
    )
    assert raised.value.code == "DELTA_CDC_START_VERSION_AFTER_LATEST"


@pytest.mark.parametrize(("start", "end"), [(time(31), None), (version(0), time(31))])
def test_a_time_after_the_latest_commit_is_refused(
    storage: Storage, start: Bound, end: Bound | None
) -> None:
    with pytest.raises(TimestampTooLateError) as raised:
        resolved(storage, start, end)

    assert raised.value.sentence() == (
        f"timestamp 1970-01-01T00:00:31.000Z is after the latest version of {storage.root}, "
        "version 2 at 1970-01-01T00:00:30.000Z\n"
        "hint: use that time or an earlier one"
    )
    assert raised.value.code == "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"


def test_an_end_before_the_earliest_commit_is_refused(storage: Storage) -> None:
    with pytest.raises(TimestampTooEarlyError) as raised:
        resolved(storage, version(0), time(9))

    assert raised.value.sentence() == (
        f"timestamp 1970-01-01T00:00:09.000Z is before the earliest version of {storage.root} "
        "that can be read, version 0 at 1970-01-01T00:00:10.000Z\n"
        "hint: use that time or a later one"
    )
    assert raised.value.code == "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"


def test_the_start_is_resolved_before_the_end(storage: Storage) -> None:
    with pytest.raises(TimestampTooLateError):
        resolved(storage, time(31), time(9))
    with pytest.raises(TimestampTooEarlyError):
        resolved(storage, version(99), time(9))


@pytest.mark.parametrize(
    ("start", "end", "expected"),
    [
        (time(31), None, VersionRange(3, 2)),
        (version(0), time(31), VersionRange(0, 2)),
        (version(3), None, VersionRange(3, 2)),
        (version(99), version(1), VersionRange(99, 98)),
        (time(31), time(40), VersionRange(3, 2)),
        (version(1), version(99), VersionRange(1, 99)),
    ],
)
def test_with_the_switch_on_what_is_out_of_range_has_no_rows(
    storage: Storage, start: Bound, end: Bound | None, expected: VersionRange
) -> None:
    assert resolved(storage, start, end, out_of_range=True) == expected


def test_the_switch_does_not_excuse_a_range_that_ends_before_it_starts(storage: Storage) -> None:
    with pytest.raises(InvalidRangeError):
        resolved(storage, version(2), version(1), out_of_range=True)


def test_commits_with_equal_times_are_told_apart(tmp_path: Path) -> None:
    table = Table(LocalStorage(str(tmp_path)))
    for at_ms in (10_000, 10_000, 9_000):
        table.commit(CommitInfo(), at_ms=at_ms)

    at_start = FeedOptions(start=Bound(timestamp_ms=10_001), end=Bound(timestamp_ms=10_002))

    assert resolved_range(table.storage, at_start, latest=2) == VersionRange(1, 2)
