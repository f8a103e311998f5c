from __future__ import annotations

from datetime import datetime, timezone

from changes.tables import PROTOCOL, add, cdc, commit, mapped, metadata, remove
from truckee.changes.file_index import feed_files, matching_files
from truckee.changes.version_diff import version_diff
from truckee.protocol.predicates import IsNull, Predicate, all_of, column_named
from truckee.protocol.table_configuration import TableConfiguration
from truckee.scan.scan_file import ScanFile
from values import compare

TABLE = TableConfiguration(metadata("id long", "p integer", partition_by=("p",)), PROTOCOL)
ADDED = [
    add("p=1/a", partition={"p": "1"}),
    add("p=2/b", partition={"p": "2"}),
    add("n", partition={"p": None}),
]
FILES = tuple(
    feed_files(
        version_diff(commit(*actions, version=version, timestamp_ms=1000 * version))
        for version, actions in [
            (3, ADDED),
            (4, [remove("p=1/a", partition={"p": "1"}), add("p=1/c", partition={"p": "1"})]),
            (5, [cdc("_change_data/d", partition={"p": "2"})]),
        ]
    )
)


def paths(*filters: Predicate, table: TableConfiguration = TABLE) -> list[str]:
    return [file.path for file in matching_files(FILES, all_of(*filters), table, "UTC")]


def test_filters_on_constants_leave_out_whole_files() -> None:
    fourth = datetime(1970, 1, 1, 0, 0, 4, tzinfo=timezone.utc)

    assert paths() == ["p=1/a", "p=2/b", "n", "p=1/c", "p=1/a", "_change_data/d"]
    assert paths(compare("p", "=", 1)) == ["p=1/a", "p=1/c", "p=1/a"]
    assert paths(IsNull(column_named("p"))) == ["n"]
    assert paths(compare("_commit_version", ">", 3)) == ["p=1/c", "p=1/a", "_change_data/d"]
    assert paths(compare("_commit_timestamp", "<", fourth)) == ["p=1/a", "p=2/b", "n"]
    assert paths(compare("p", "=", 1), compare("_commit_version", "=", 3)) == ["p=1/a"]
    assert paths(compare("id", "=", 1)) == paths()


def test_a_filter_on_the_type_of_change_cannot_leave_out_change_files() -> None:
    assert paths(compare("_change_type", "=", "delete")) == ["p=1/a", "_change_data/d"]


def test_partition_values_are_found_by_the_names_that_data_files_use() -> None:
    columns = mapped("id", "long", 1), mapped("p", "integer", 2, "col-2")
    table = TableConfiguration(
        metadata(*columns, partition_by=("p",), mapping="name"),
        PROTOCOL,
    )
    diff = version_diff(
        commit(add("a", partition={"col-2": "1"}), add("b", partition={"col-2": "2"}))
    )

    found = matching_files(feed_files([diff]), compare("p", "=", 2), table, "UTC")

    assert [file.path for file in found] == ["b"]


def test_a_file_with_a_partition_value_of_another_type_is_kept() -> None:
    diff = version_diff(commit(add("a", partition={"p": "one"})))

    found = matching_files(feed_files([diff]), compare("p", "=", 2), TABLE, "UTC")

    assert [file.path for file in found] == ["a"]


def test_files_of_a_snapshot_are_kept() -> None:
    file = ScanFile(path="a", size=1, modification_time=0, partition_values={"p": "1"}, version=1)

    assert matching_files([file], compare("p", "=", 2), TABLE, "UTC") == [file]
