"""The rows that differ between two versions, without a JVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import truckee
from builders import PROTOCOL
from changes.tables import PROTOCOL as MAPPED_PROTOCOL
from changes.tables import mapped
from changes.tables import metadata as mapped_metadata
from diff_tables import Table, WatchedStorage, shown
from staging import metadata
from truckee.arrow.compare.rows import arrow_rows
from truckee.changes.diff.request import requested_diff
from truckee.errors import (
    ArgumentTypeError,
    ColumnNotFoundError,
    DiffFileNotFoundError,
    DiffSchemaError,
    EmptyKeysError,
    KeysNotUniqueError,
    NoKeysError,
    UnrelatedTablesError,
    VersionNotFoundError,
)
from truckee.protocol.actions import Metadata
from truckee.rows.diff import diff_rows


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Two files; a row of one is deleted by a vector, then the other is rewritten."""
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    made.add("a", {"id": [1, 2, 3], "name": ["a", "b", "c"]})
    made.add("b", {"id": [4, 5], "name": ["d", "e"]})
    made.add("shared", {"id": [6], "name": ["f"]}).then()
    made.history.delete("a", rows=[1])
    made.then()
    made.history.remove("b")
    made.add("b2", {"id": [4, 5, 7], "name": ["d", "E", "g"]}).then()
    return made


def diff(table: Table, *arguments: Any, **options: Any) -> list[tuple[Any, ...]]:
    return shown(truckee.open(str(table.root)).diff(*arguments, **options).to_arrow())


def test_rows_that_differ_are_deleted_and_inserted(table: Table) -> None:
    assert diff(table, 0, 2) == [
        (2, "b", "delete"),
        (5, "E", "insert"),
        (5, "e", "delete"),
        (7, "g", "insert"),
    ]


def test_the_other_way_round_is_the_opposite(table: Table) -> None:
    assert diff(table, 2, 0) == [
        (2, "b", "insert"),
        (5, "E", "delete"),
        (5, "e", "insert"),
        (7, "g", "delete"),
    ]


def test_the_latest_version_is_meant_where_none_is_given(table: Table) -> None:
    assert diff(table, 1) == diff(table, 1, 2)


@pytest.mark.parametrize("keys", [["ID"], "ID", "`id`"])
def test_keys_pair_the_images_of_an_update(table: Table, keys: str | list[str]) -> None:
    assert diff(table, 0, 2, keys) == [
        (2, "b", "delete"),
        (5, "E", "update_postimage"),
        (5, "e", "update_preimage"),
        (7, "g", "insert"),
    ]


# Invariant 59.
def test_only_files_that_differ_are_opened(table: Table) -> None:
    storage = WatchedStorage(str(table.root))

    arrow_rows(diff_rows(requested_diff(storage, 0, 2))).to_arrow()
    arrow_rows(diff_rows(requested_diff(storage, 2, 2))).to_arrow()

    assert sorted(set(storage.opened)) == ["a", "b", "b2"]
    assert len(storage.opened) == 3


def test_a_diff_of_a_version_with_itself_reads_nothing(table: Table) -> None:
    plan = requested_diff(WatchedStorage(str(table.root)), 1, 1)

    assert (plan.files, plan.size_in_bytes) == ((), 0)
    assert arrow_rows(diff_rows(plan)).to_arrow().num_rows == 0


def test_columns_and_a_condition(table: Table) -> None:
    found = diff(table, 0, 2, columns=["name"], where="_change_type = 'insert' AND id < 7")

    assert found == [("E",)]


def test_as_many_copies_are_shown_as_there_are_more(tmp_path: Path) -> None:
    made = Table(tmp_path)
    made.history.stage(metadata("id long"))
    made.add("a", {"id": [1, 1, 1, 2]}).then()
    made.history.remove("a")
    made.add("b", {"id": [1, 1, 1, 1, 1]}).then()

    assert diff(made, 0, 1) == [(1, "insert"), (1, "insert"), (2, "delete")]


def test_rows_changed_by_a_commit_that_denies_it_are_seen(tmp_path: Path) -> None:
    made = Table(tmp_path)
    made.history.stage(metadata("id long", properties={"delta.enableChangeDataFeed": "true"}))
    made.add("a", {"id": [1, 2]}).then()
    made.history.remove("a", data_change=False)
    made.add("b", {"id": [1, 3]}, data_change=False).then()

    assert diff(made, 0, 1) == [(2, "delete"), (3, "insert")]


def mapped_to(*fields: Any, version: int = 0, **options: Any) -> Metadata:
    return mapped_metadata(*fields, mapping="name", feed="false", **options)


def test_columns_are_followed_through_renames_drops_and_wider_types(tmp_path: Path) -> None:
    made = Table(tmp_path)
    made.history.stage(
        MAPPED_PROTOCOL,
        mapped_to(
            mapped("id", "integer", 1), mapped("x", "string", 2), mapped("gone", "string", 3)
        ),
    )
    first = {"col-1": pa.array([1, 2], pa.int32()), "col-2": ["a", "b"], "col-3": ["k", "l"]}
    made.history.add("a", size=made.write("a", first), stats='{"numRecords":2}')
    made.then()
    made.history.stage(
        mapped_to(mapped("id", "long", 1), mapped("y", "string", 2), mapped("x", "string", 4))
    )
    made.then()
    made.history.remove("a")
    second = {"col-1": pa.array([1, 2], pa.int64()), "col-2": ["a", "B"], "col-4": [None, "new"]}
    made.history.add("b", size=made.write("b", second), stats='{"numRecords":2}')
    made.then()

    # A rename, a drop and a wider type change no row.
    assert diff(made, 0, 1) == []
    assert diff(made, 0, 2) == [(2, "B", "new", "insert"), (2, "b", None, "delete")]
    assert diff(made, 2, 0, ["id"]) == [
        (2, "B", "new", "update_preimage"),
        (2, "b", None, "update_postimage"),
    ]


def test_partitions_may_change_between_the_two(tmp_path: Path) -> None:
    made = Table(tmp_path)
    made.history.stage(metadata("id long", "day string", partitioned_by=("day",)))
    made.add("a", {"id": [1]}, partition_values={"day": "mon"})
    made.add("b", {"id": [2]}, partition_values={"day": None}).then()
    made.history.remove("a").remove("b")
    made.history.stage(metadata("id long", "day string"))
    made.add("c", {"id": [1, 2], "day": ["mon", "tue"]}).then()

    assert diff(made, 0, 1) == [(2, "tue", "insert"), (2, None, "delete")]


def test_keys_that_are_not_unique(table: Table) -> None:
    table.history.remove("b2")
    table.add("b3", {"id": [4, 4], "name": ["x", "y"]}).then()

    with pytest.raises(KeysNotUniqueError) as raised:
        diff(table, 2, 3, ["id"])

    assert str(raised.value) == (
        '[DELTA_KEYS_NOT_UNIQUE] id does not identify a row: 2 rows of version 3 have {"id":4}\n'
        "hint: name more columns as keys, or none; with row tracking, row ids identify rows by "
        "themselves"
    )


def test_arguments_that_make_no_sense(table: Table) -> None:
    with pytest.raises(NoKeysError):
        diff(table, 0, 1, [])
    with pytest.raises(ColumnNotFoundError):
        diff(table, 0, 1, ["nonsense"])
    with pytest.raises(EmptyKeysError):
        diff(table, 0, 1, "id,")
    with pytest.raises(ArgumentTypeError):
        diff(table, 0, 1, [1])
    with pytest.raises(ArgumentTypeError):
        diff(table, 0, 1, {"id"})
    with pytest.raises(ArgumentTypeError):
        diff(table, 0.5)


def test_a_version_that_is_gone_names_those_that_are_there(table: Table) -> None:
    with pytest.raises(VersionNotFoundError) as raised:
        diff(table, 0, 9)

    assert (raised.value.earliest, raised.value.latest) == (0, 2)


def test_files_that_were_vacuumed_name_the_versions_that_still_work(table: Table) -> None:
    (table.root / "b").unlink()

    with pytest.raises(DiffFileNotFoundError) as raised:
        diff(table, 0, 2)

    assert str(raised.value) == (
        "[DELTA_DIFF_FILE_NOT_FOUND] the diff of versions 0 and 2 of "
        f"{table.root} needs 1 file that is gone; the first is 'b'\n"
        "hint: versions from 2 on can still be compared"
    )
    # Where the file is not needed, nobody misses it.
    assert diff(table, 0, 1) == [(2, "b", "delete")]


def test_versions_that_still_work_do_so_whichever_files_were_vacuumed(tmp_path: Path) -> None:
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    made.add("a", {"id": [1], "name": ["a"]}).then()
    made.history.remove("a")
    made.add("b", {"id": [2], "name": ["b"]}).then()
    made.history.remove("b")
    made.add("c", {"id": [3], "name": ["c"]}).then()
    made.add("d", {"id": [4], "name": ["d"]}).then()
    for name in ("a", "b"):
        (made.root / name).unlink()

    with pytest.raises(DiffFileNotFoundError) as raised:
        diff(made, 0, 3)

    assert (raised.value.count, raised.value.readable_from) == (1, 2)
    assert diff(made, 2, 3) == [(4, "d", "insert")]


def test_a_type_of_another_kind_cannot_be_compared(tmp_path: Path) -> None:
    made = Table(tmp_path)
    made.history.stage(metadata("id long"))
    made.add("a", {"id": [1]}).then()
    made.history.remove("a").stage(metadata("id string"))
    made.history.add("b", size=made.write("b", {"id": ["1"]}), stats='{"numRecords":1}')
    made.then()

    with pytest.raises(DiffSchemaError) as raised:
        diff(made, 0, 1)

    assert (raised.value.type, raised.value.wanted) == ("bigint", "string")


def test_a_clone_is_compared_with_its_source(table: Table, tmp_path: Path) -> None:
    clone = Table(tmp_path / "clone")
    other = metadata("id long", "name string")
    clone.history.stage(PROTOCOL, Metadata(id="a clone", schema_string=other.schema_string))
    for path, size in (("a", 3), ("b", 2), ("shared", 1)):
        whole = str(table.root / path)
        clone.history.add(whole, size=Path(whole).stat().st_size, stats=f'{{"numRecords":{size}}}')
    clone.then()
    clone.history.delete(str(table.root / "b"), rows=[0])
    clone.then()
    source, copy = truckee.open(str(table.root)), truckee.open(str(clone.root))

    assert shown(source.diff(0, 0, other=copy).to_arrow()) == []
    assert shown(source.diff(1, 1, other=copy).to_arrow()) == [
        (2, "b", "insert"),
        (4, "d", "delete"),
    ]


def test_tables_that_share_nothing_are_compared_by_keys_only(table: Table, tmp_path: Path) -> None:
    stranger = Table(tmp_path / "stranger")
    other = metadata("id long", "name string")
    stranger.history.stage(PROTOCOL, Metadata(id="other", schema_string=other.schema_string))
    stranger.add("z", {"id": [1, 2], "name": ["a", "B"]}).then()
    source, copy = truckee.open(str(table.root)), truckee.open(str(stranger.root))

    with pytest.raises(UnrelatedTablesError):
        source.diff(0, 0, other=copy)

    found = shown(source.diff(0, 0, ["id"], other=copy, where="id < 4").to_arrow())
    assert found == [
        (2, "B", "update_postimage"),
        (2, "b", "update_preimage"),
        (3, "c", "delete"),
    ]


def test_a_notebook_shows_the_page(table: Table) -> None:
    html = truckee.open(str(table.root)).diff(0, 2, ["id"])._repr_html_()

    assert html is not None
    assert "<del>e</del>" in html
    assert "<ins>E</ins>" in html
