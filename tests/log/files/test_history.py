"""Version and timestamp, each from the other; and who did what."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from builders import history
from truckee.errors.log import (
    NoCommitsFoundError,
    NotADeltaTableError,
    TimestampTooEarlyError,
    TimestampTooLateError,
    TruncatedLogError,
    VersionNotFoundError,
)
from truckee.log.files.history import (
    HistoryEntry,
    commit_timestamps,
    earliest_version,
    latest_version,
    version_as_of,
    version_at_or_after,
)
from truckee.log.files.history import history as table_history
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.paths import commit_path
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage


def table_with_times(folder: Path, *times_ms: int) -> LocalStorage:
    """Return a table whose commit files have these times."""
    storage = LocalStorage(str(folder))
    history(storage).empty(len(times_ms))
    for version, time_ms in enumerate(times_ms):
        os.utime(folder / commit_path(version), ns=(time_ms * 1_000_000, time_ms * 1_000_000))
    return storage


def table_with_late_recording(folder: Path) -> LocalStorage:
    """Return a table with in-commit timestamps from version 2 on; the files' times are later."""
    storage = table_with_times(folder, 1000, 2000)
    table = history(storage)
    table._version = 2
    for time_ms in (3000, 4000, 5000):
        table.info(in_commit_timestamp=time_ms).then()
    return storage


def cleaned(storage: Storage, first_kept: int) -> Storage:
    """Delete commits as a clean-up does, below a checkpoint."""
    write_checkpoint(load_snapshot(storage, first_kept))
    for version in range(first_kept):
        storage.delete(commit_path(version))
    return storage


def test_the_latest_version_of_commits_and_checkpoints() -> None:
    storage = history().empty(5).storage

    assert latest_version(storage) == 4
    assert latest_version(cleaned(storage, 3)) == 4
    storage.delete(commit_path(4))
    storage.delete(commit_path(3))
    assert latest_version(storage) == 3


def test_the_earliest_version_is_the_earliest_commit() -> None:
    storage = history().empty(5).storage

    assert earliest_version(storage) == 0
    assert earliest_version(cleaned(storage, 3)) == 3


def test_without_commits_the_earliest_one_is_yet_to_come() -> None:
    storage = cleaned(history().empty(3).storage, 2)
    storage.delete(commit_path(2))

    assert earliest_version(storage) == 3


def test_nothing_is_known_of_what_is_no_table() -> None:
    for ask in (latest_version, earliest_version, table_history):
        with pytest.raises(NotADeltaTableError):
            ask(MemoryStorage())


def test_timestamps_are_file_times_made_monotonic(tmp_path: Path) -> None:
    storage = table_with_times(tmp_path, 1000, 900, 5000)

    assert commit_timestamps(storage, 0, 2) == {0: 1000, 1: 1001, 2: 5000}
    assert commit_timestamps(storage, 1, 1) == {1: 1001}


def test_timestamps_are_recorded_ones_where_there_are(tmp_path: Path) -> None:
    storage = table_with_late_recording(tmp_path)

    assert commit_timestamps(storage, 0, 4) == {0: 1000, 1: 2000, 2: 3000, 3: 4000, 4: 5000}


def test_timestamps_of_commits_that_are_gone_are_refused() -> None:
    storage = cleaned(history().empty(5).storage, 3)

    with pytest.raises(VersionNotFoundError):
        commit_timestamps(storage, 2, 4)


@pytest.mark.parametrize(
    ("timestamp_ms", "version"), [(1000, 0), (1999, 0), (2000, 1), (2001, 1), (3000, 2)]
)
def test_as_of_takes_the_latest_version_at_or_before(
    tmp_path: Path, timestamp_ms: int, version: int
) -> None:
    storage = table_with_times(tmp_path, 1000, 2000, 3000)

    assert version_as_of(storage, timestamp_ms) == version


@pytest.mark.parametrize(
    ("timestamp_ms", "version"), [(1500, 0), (2999, 1), (3000, 2), (3999, 2), (4500, 3), (5000, 4)]
)
def test_as_of_goes_by_recorded_times_from_where_they_start(
    tmp_path: Path, timestamp_ms: int, version: int
) -> None:
    storage = table_with_late_recording(tmp_path)

    assert version_as_of(storage, timestamp_ms) == version


def test_a_time_before_history_is_refused(tmp_path: Path) -> None:
    storage = table_with_times(tmp_path, 1000, 2000)

    with pytest.raises(TimestampTooEarlyError) as raised:
        version_as_of(storage, 999)

    assert raised.value.sentence() == (
        f"timestamp 1970-01-01T00:00:00.999Z is before the earliest version of {tmp_path} that "
        "can be read, version 0 at 1970-01-01T00:00:01.000Z\n"
        "hint: use that time or a later one"
    )
    assert raised.value.code == "DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION"


def test_a_time_after_history_is_refused(tmp_path: Path) -> None:
    storage = table_with_times(tmp_path, 1000, 2000)

    with pytest.raises(TimestampTooLateError) as raised:
        version_as_of(storage, 2001)

    assert raised.value.sentence() == (
        f"timestamp 1970-01-01T00:00:02.001Z is after the latest version of {tmp_path}, "
        "version 1 at 1970-01-01T00:00:02.000Z\n"
        "hint: use that time or an earlier one"
    )
    assert raised.value.code == "DELTA_TIMESTAMP_GREATER_THAN_COMMIT"


def test_as_of_finds_only_versions_that_can_be_rebuilt(tmp_path: Path) -> None:
    storage = table_with_times(tmp_path, 1000, 2000, 3000, 4000)
    write_checkpoint(load_snapshot(storage, 2))
    storage.delete(commit_path(0))

    with pytest.raises(TimestampTooEarlyError) as raised:
        version_as_of(storage, 2500)

    assert raised.value.earliest == 2
    assert version_as_of(storage, 3500) == 2


def test_as_of_needs_commits_and_a_way_to_read_them() -> None:
    only_checkpoint = cleaned(history().empty(3).storage, 2)
    only_checkpoint.delete(commit_path(2))
    beheaded = history(MemoryStorage("memory://b")).empty(3).storage
    beheaded.delete(commit_path(0))

    with pytest.raises(NoCommitsFoundError) as raised:
        version_as_of(only_checkpoint, 0)
    assert raised.value.sentence() == (
        "the log of memory://t has no commit left, only checkpoints\n"
        "hint: read the table by version; its commits and their times are gone"
    )
    with pytest.raises(TruncatedLogError):
        version_as_of(beheaded, 0)
    with pytest.raises(NotADeltaTableError):
        version_as_of(MemoryStorage(), 0)


@pytest.mark.parametrize(
    ("timestamp_ms", "version"),
    [(0, 0), (1000, 0), (1001, 1), (2000, 1), (2001, 2), (3000, 2), (3001, 3), (5000, 4)],
)
def test_at_or_after_takes_the_first_version_that_is_not_older(
    tmp_path: Path, timestamp_ms: int, version: int
) -> None:
    storage = table_with_late_recording(tmp_path)

    assert version_at_or_after(storage, timestamp_ms) == version


def test_there_is_nothing_at_or_after_a_time_to_come(tmp_path: Path) -> None:
    assert version_at_or_after(table_with_late_recording(tmp_path), 5001) is None
    assert version_at_or_after(table_with_times(tmp_path / "x", 1000), 1001) is None


def test_history_is_newest_first_and_has_every_column(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    history(storage).then().info(
        in_commit_timestamp=5,
        user_id="u",
        user_name="me",
        operation="DELETE",
        operation_parameters={"predicate": '["(id = 1)"]', "auto": True, "n": None},
        job={"jobId": "7"},
        notebook={"notebookId": "8"},
        cluster_id="c",
        read_version=0,
        isolation_level="Serializable",
        is_blind_append=False,
        operation_metrics={"numDeletedRows": "3", "odd": 4},
        user_metadata="hello",
        engine_info="engine",
    ).then()
    os.utime(tmp_path / commit_path(0), ns=(3_000_000, 3_000_000))

    newest, oldest = table_history(storage)

    assert newest == HistoryEntry(
        version=1,
        timestamp_ms=5,
        user_id="u",
        user_name="me",
        operation="DELETE",
        operation_parameters={"predicate": '["(id = 1)"]', "auto": "true", "n": None},
        job={"jobId": "7"},
        notebook={"notebookId": "8"},
        cluster_id="c",
        read_version=0,
        isolation_level="Serializable",
        is_blind_append=False,
        operation_metrics={"numDeletedRows": "3", "odd": "4"},
        user_metadata="hello",
        engine_info="engine",
    )
    assert oldest == HistoryEntry(version=0, timestamp_ms=3)


def test_history_takes_whatever_commit_info_holds() -> None:
    storage = history().empty(1).storage
    storage.write(
        commit_path(1),
        b'{"commitInfo":{"operation":["x"],"operationMetrics":3,"isBlindAppend":"no","job":"j"}}\n',
    )

    newest, _ = table_history(storage)

    assert (newest.operation, newest.operation_metrics) == ('["x"]', None)
    assert (newest.is_blind_append, newest.job) == (None, None)


@pytest.mark.parametrize("checkpoint_at", [None, 3, 9])
def test_a_limit_keeps_the_newest(checkpoint_at: int | None) -> None:
    storage = history().empty(10).storage
    if checkpoint_at is not None:
        write_checkpoint(load_snapshot(storage, checkpoint_at))

    assert [entry.version for entry in table_history(storage, 3)] == [9, 8, 7]
    assert [entry.version for entry in table_history(storage, 99)] == list(range(9, -1, -1))


def test_history_begins_where_the_log_does() -> None:
    storage = cleaned(history().empty(5).storage, 3)

    assert [entry.version for entry in table_history(storage)] == [4, 3]


def test_history_of_a_table_without_commits_is_empty() -> None:
    storage = cleaned(history().empty(3).storage, 2)
    storage.delete(commit_path(2))

    assert table_history(storage) == []
