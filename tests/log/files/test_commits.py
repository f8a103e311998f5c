"""Commits in order, with their timestamps."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from builders import history
from truckee.errors.log import (
    CorruptLogFileError,
    LogFileNotFoundError,
    NotADeltaTableError,
    VersionNotFoundError,
    VersionsNotContiguousError,
)
from truckee.log.files.commits import read_commit, read_commits
from truckee.log.files.log_files import read_commit_info, read_in_order
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage


def set_time(storage: LocalStorage, version: int, timestamp_ms: int) -> None:
    path = Path(storage.root) / commit_path(version)
    os.utime(path, ns=(timestamp_ms * 1_000_000, timestamp_ms * 1_000_000))


def test_a_commit_gives_its_actions_by_kind() -> None:
    commit = (
        history()
        .add("a")
        .then()
        .info(operation="UPDATE")
        .delete("a", rows=[1])
        .cdc("c")
        .txn("app", 7)
        .domain("d")
        .commit()
    )

    assert commit.version == 1
    assert commit.commit_info is not None
    assert commit.commit_info.operation == "UPDATE"
    assert [file.path for file in commit.adds] == ["a"]
    assert [file.path for file in commit.removes] == ["a"]
    assert [file.path for file in commit.cdc_files] == ["c"]
    assert [txn.version for txn in commit.set_transactions] == [7]
    assert [domain.domain for domain in commit.domain_metadata] == ["d"]
    assert commit.metadata is None
    assert commit.protocol is None


def test_version_ranges_are_inclusive_at_both_ends() -> None:
    storage = history().empty(6).storage

    assert [commit.version for commit in read_commits(storage, 2, 4)] == [2, 3, 4]
    assert [commit.version for commit in read_commits(storage, 4)] == [4, 5]


def test_a_range_is_cut_at_the_latest_version() -> None:
    storage = history().empty(3).storage

    assert [commit.version for commit in read_commits(storage, 2, 9)] == [2]
    assert list(read_commits(storage, 3)) == []


def test_a_start_that_was_cleaned_up_is_refused() -> None:
    storage = history().empty(5).storage
    storage.delete(commit_path(0))
    storage.delete(commit_path(1))

    with pytest.raises(VersionNotFoundError) as raised:
        next(read_commits(storage, 1))

    assert raised.value.sentence() == (
        "Cannot time travel Delta table to version 1: it is not available in "
        "memory://t\nhint: the log has versions 2 to 4"
    )


def test_a_gap_is_refused_before_the_first_commit_is_seen() -> None:
    storage = history().empty(5).storage
    storage.delete(commit_path(3))

    with pytest.raises(VersionsNotContiguousError) as raised:
        next(read_commits(storage, 1))

    assert (raised.value.missing, raised.value.found) == (3, 4)


def test_a_commit_that_is_not_there_is_refused() -> None:
    with pytest.raises(VersionNotFoundError):
        read_commit(history().empty(2).storage, 5)
    with pytest.raises(NotADeltaTableError):
        read_commit(MemoryStorage(), 0)


def test_half_written_json_names_its_file_and_line() -> None:
    storage = history().add("a").storage
    whole = storage.read(commit_path(0))
    storage.write(commit_path(0), whole[:-20])

    with pytest.raises(CorruptLogFileError) as raised:
        read_commit(storage, 0)

    assert raised.value.sentence() == (
        "line 3 of _delta_log/00000000000000000000.json of memory://t cannot be read: "
        "Input data was truncated\n"
        "hint: the file may be incomplete; restore it from a copy"
    )


def test_a_field_of_the_wrong_type_names_its_file_and_line() -> None:
    storage = history().add("a").storage
    text = storage.read(commit_path(0)).replace(b'"size":100', b'"size":"big"')
    storage.write(commit_path(0), text)

    with pytest.raises(CorruptLogFileError) as raised:
        read_commit(storage, 0)

    assert raised.value.sentence() == (
        "line 3 of _delta_log/00000000000000000000.json of memory://t cannot be read: "
        "Expected `int`, got `str` - at `$.add.size`\n"
        "hint: the file may be incomplete; restore it from a copy"
    )


def test_unknown_actions_and_fields_are_ignored() -> None:
    storage = MemoryStorage()
    storage.write(
        commit_path(0),
        b'{"somethingNew":{"x":1}}\n{"txn":{"appId":"a","version":1,"colour":"red"}}\n\n',
    )

    commit = read_commit(storage, 0)

    assert len(commit.actions) == 1
    assert commit.set_transactions[0].app_id == "a"


def test_file_times_become_monotonic(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    history(storage).empty(4)
    for version, timestamp_ms in enumerate((5000, 4000, 4000, 9000)):
        set_time(storage, version, timestamp_ms)

    times = [commit.timestamp_ms for commit in read_commits(storage, 0)]

    assert times == [5000, 5001, 5002, 9000]


def test_an_in_commit_timestamp_wins_over_the_files_time() -> None:
    commit = history().info(in_commit_timestamp=1234).commit()

    assert commit.timestamp_ms == 1234


def test_commit_info_is_found_wherever_it_stands() -> None:
    storage = MemoryStorage()
    storage.write("first", b'{"commitInfo":{"operation":"A"}}\n{"txn":{}}\n')
    storage.write("last", b'{"txn":{}}\n{ "commitInfo" : {"operation":"B"}}')
    storage.write("pretty", b'{\n "commitInfo": {\n  "operation": "C"\n }\n}\n')
    storage.write("long", b'{"commitInfo":{"operation":"D","x":"' + b"y" * 40_000 + b'"}}\n')
    storage.write("late", b'{"txn":{"x":"' + b"y" * 40_000 + b'"}}\n{"commitInfo":{"z":1}}\n')
    storage.write("none", b'{"txn":{}}\n')

    assert read_commit_info(storage, "first") == {"operation": "A"}
    assert read_commit_info(storage, "last") == {"operation": "B"}
    assert read_commit_info(storage, "pretty") == {"operation": "C"}
    assert (read_commit_info(storage, "long") or {})["operation"] == "D"
    assert read_commit_info(storage, "late") == {"z": 1}
    assert read_commit_info(storage, "none") is None


def test_a_broken_commit_info_is_no_missing_one() -> None:
    storage = MemoryStorage()
    storage.write("x", b'{"commitInfo":{"operation":"A"')

    with pytest.raises(CorruptLogFileError) as raised:
        read_commit_info(storage, "x")

    assert raised.value.sentence() == (
        "x of memory://t cannot be read: Input data was truncated\n"
        "hint: the file may be incomplete; restore it from a copy"
    )


class FarAway(MemoryStorage):
    """Memory that calls itself remote, so that files are read ahead in threads."""

    @property
    def root(self) -> str:
        return "s3://bucket/t"


def test_files_read_ahead_come_in_the_order_asked_for() -> None:
    storage = FarAway()
    paths = [f"{number}" for number in range(100)]
    for path in paths:
        storage.write(path, path.encode())

    assert list(read_in_order(storage, paths)) == [path.encode() for path in paths]


def test_a_file_that_vanished_is_named() -> None:
    storage = FarAway()
    storage.write("a", b"{}")

    with pytest.raises(LogFileNotFoundError) as raised:
        list(read_in_order(storage, ["a", "b"]))

    assert raised.value.sentence() == (
        "b of s3://bucket/t is gone, but the log needs it\n"
        "hint: a log cleanup may have deleted it meanwhile; open the table again"
    )


def test_an_empty_file_is_damaged() -> None:
    storage = MemoryStorage("memory://t")
    storage.write("_delta_log/00000000000000000003.json", b"")

    with pytest.raises(CorruptLogFileError) as raised:
        list(read_in_order(storage, ["_delta_log/00000000000000000003.json"]))

    assert raised.value.sentence() == (
        "_delta_log/00000000000000000003.json of memory://t cannot be read: it is "
        "empty\n"
        "hint: the file may be incomplete; restore it from a copy"
    )
