"""Every image of some rows, version by version, without a JVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import truckee
from diff_tables import Table, WatchedStorage
from staging import metadata
from truckee.arrow.compare.rows import history_rows
from truckee.changes.diff.history_request import requested_timelines
from truckee.errors import (
    HistoryFileNotFoundError,
    TooManyRowsError,
    UnsupportedConditionError,
    VersionNotFoundError,
)


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """Row 2 is updated by a vector, moved by a rewrite, deleted, and restored."""
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    made.history.info(operation="WRITE", user_name="ana")
    made.add("a", {"id": [1, 2, 3], "name": ["a", "b", "c"]})
    made.add("far", {"id": [90, 91], "name": ["x", "y"]}).then()
    made.history.info(operation="UPDATE", user_name="rui").delete("a", rows=[1])
    made.add("b", {"id": [2], "name": ["B"]}).then()
    made.history.info(operation="OPTIMIZE").remove("a", data_change=False)
    made.history.remove("b", data_change=False)
    made.add("c", {"id": [1, 2, 3], "name": ["a", "B", "c"]}, data_change=False).then()
    made.history.info(operation="DELETE").delete("c", rows=[1])
    made.then()
    made.history.info(operation="RESTORE").delete("c", rows=[])
    return made.then()


def told(table: Table, condition: str, **options: Any) -> list[tuple[Any, ...]]:
    found = truckee.open(str(table.root)).row_history(condition, **options).to_arrow()
    return [tuple(row.values()) for row in found.drop_columns("_commit_timestamp").to_pylist()]


def test_every_image_is_told_with_its_version_and_what_changed(table: Table) -> None:
    assert told(table, "id = 2") == [
        (2, "b", "insert", 0, "WRITE", "ana", None),
        (2, "b", "update_preimage", 1, "UPDATE", "rui", ["name"]),
        (2, "B", "update_postimage", 1, "UPDATE", "rui", ["name"]),
        (2, "B", "delete", 3, "DELETE", None, None),
        (2, "B", "insert", 4, "RESTORE", None, None),
    ]


def test_a_row_that_only_moved_has_no_event(table: Table) -> None:
    assert [row[2:4] for row in told(table, "id = 3")] == [("insert", 0)]


def test_images_are_paired_by_keys_only_if_something_identifies_them(table: Table) -> None:
    free = [row[2] for row in told(table, "name IN ('b', 'B')") if row[3] == 1]
    keyed = [row[2] for row in told(table, "name IN ('b', 'B')", keys=["id"]) if row[3] == 1]

    assert free == ["delete", "insert"]
    assert keyed == ["update_preimage", "update_postimage"]


def test_the_history_since_a_version_starts_with_what_was_there(table: Table) -> None:
    assert [(row[1], *row[2:4]) for row in told(table, "id = 2", start=2)] == [
        ("B", "exists", 2),
        ("B", "delete", 3),
        ("B", "insert", 4),
    ]


# Invariant 60.
def test_files_that_cannot_hold_the_row_are_not_opened_and_others_once(table: Table) -> None:
    storage = WatchedStorage(str(table.root))

    history_rows(requested_timelines(storage, None), "id = 2").to_arrow()

    assert sorted(storage.opened) == ["a", "b", "c"]


def test_a_row_that_never_was_has_no_history(table: Table) -> None:
    assert told(table, "id = 50") == []


def test_a_file_that_was_vacuumed_is_named_where_it_may_have_held_the_row(table: Table) -> None:
    (table.root / "a").unlink()

    with pytest.raises(HistoryFileNotFoundError) as raised:
        told(table, "id = 2")

    assert str(raised.value) == (
        "[DELTA_ROW_HISTORY_FILE_NOT_FOUND] 1 file is gone that may have contained such rows "
        f"of {table.root} since version 0; the first is 'a'\n"
        "hint: ask for the history since version 2"
    )
    assert [row[2] for row in told(table, "id = 2", start=2)] == ["exists", "delete", "insert"]
    assert [row[2] for row in told(table, "id = 90")] == ["insert"]


def test_bad_input_is_told_before_anything_is_read(table: Table) -> None:
    with pytest.raises(UnsupportedConditionError):
        told(table, "length(name) = 1")
    with pytest.raises(VersionNotFoundError):
        told(table, "id = 2", start=9)


def test_too_many_rows_are_refused(table: Table, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("truckee.changes.diff.history_request.MOST_ROWS", 2)

    with pytest.raises(TooManyRowsError) as raised:
        told(table, "id < 50")

    assert raised.value.count > 2
