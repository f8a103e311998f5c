"""What is wrong with a diff, a net or a history is told alike by both engines."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

import truckee
from builders import PROTOCOL
from diff_tables import Table
from staging import metadata
from truckee import DeltaTable
from truckee.errors import (
    ChangeDataFileNotFoundError,
    DeltaError,
    DiffFileNotFoundError,
    HistoryFileNotFoundError,
    KeysNotUniqueError,
    UnrelatedTablesError,
    VersionNotFoundError,
)
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import Metadata
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage

pytestmark = pytest.mark.spark

Open = Callable[[Path], Any]


@pytest.fixture(params=["arrow", "spark"])
def opened(request: pytest.FixtureRequest, spark: SparkSession) -> Open:
    """How an engine opens a table."""
    if request.param == "arrow":
        return lambda path: truckee.open(str(path))
    return lambda path: DeltaTable.forPath(spark, str(path))


@pytest.fixture
def table(tmp_path: Path) -> Table:
    """A row is deleted by a vector, a file is rewritten, and one is added."""
    made = Table(tmp_path / "t")
    made.history.stage(metadata("id long", "name string"))
    made.add("a", {"id": [1, 2], "name": ["a", "b"]})
    made.add("b", {"id": [3, 3], "name": ["c", "d"]}).then()
    made.history.delete("a", rows=[0]).remove("b")
    made.add("c", {"id": [3, 5], "name": ["c", "D"]}).then()
    return made.add("d", {"id": [4], "name": ["e"]}).then()


def rows(found: Any) -> list[tuple[Any, ...]]:
    """All rows of a result of either engine."""
    if hasattr(found, "to_arrow"):
        return [tuple(row.values()) for row in found.to_arrow().to_pylist()]
    return [tuple(row) for row in found.collect()]


def message(kind: type[DeltaError], read: Callable[[], Any]) -> str:
    with pytest.raises(kind) as raised:
        rows(read())
    return str(raised.value)


def test_keys_that_are_not_unique_are_told_with_an_example(opened: Open, table: Table) -> None:
    at = opened(table.root)

    hint = (
        "hint: name more columns as keys, or none; with row tracking, row ids identify rows by "
        "themselves"
    )
    assert message(KeysNotUniqueError, lambda: at.diff(0, 1, keys=["id"])) == (
        '[DELTA_KEYS_NOT_UNIQUE] id does not identify a row: 2 rows of version 0 have {"id":3}\n'
        + hint
    )
    for mode in ("dropCarryovers", "netChanges"):
        asked = {"changeFeed": "derived", "deduplicationMode": mode, "keys": "id"}
        assert message(
            KeysNotUniqueError, lambda asked=asked: at.changes(1, computeUpdates=True, **asked)
        ) == (
            "[DELTA_KEYS_NOT_UNIQUE] id does not identify a row: 2 rows deleted by one version "
            'have {"id":3,"_commit_version":1}\n' + hint
        )


def test_versions_that_are_gone_are_told_with_the_first_that_is_there(
    opened: Open, table: Table
) -> None:
    write_checkpoint(load_snapshot(LocalStorage(str(table.root)), 1))
    (table.root / commit_path(0)).unlink()
    at = opened(table.root)

    gone = (
        "[DELTA_VERSION_NOT_FOUND] Cannot time travel Delta table to version 0: "
        f"it is not available in {table.root}\n"
        "hint: the log has versions 1 to 2"
    )
    assert message(VersionNotFoundError, lambda: at.diff(0, 2)) == gone
    assert message(VersionNotFoundError, lambda: at.diff(2, 0)) == gone
    assert message(VersionNotFoundError, lambda: at.row_history("id = 3", start=0)) == gone
    assert message(VersionNotFoundError, lambda: at.changes(0, changeFeed="derived")) == gone
    assert rows(at.diff(1, 2)) == [(4, "e", "insert")]
    assert [row[2] for row in rows(at.row_history("id = 2"))] == ["exists"]


def test_files_that_were_vacuumed_are_told_with_the_versions_that_still_work(
    opened: Open, table: Table
) -> None:
    (table.root / "b").unlink()
    at = opened(table.root)

    assert message(DiffFileNotFoundError, lambda: at.diff(0, 2)) == (
        "[DELTA_DIFF_FILE_NOT_FOUND] the diff of versions 0 and 2 of "
        f"{table.root} needs 1 file that is gone; the first is 'b'\n"
        "hint: versions from 1 on can still be compared"
    )
    assert message(HistoryFileNotFoundError, lambda: at.row_history("id = 3")) == (
        "[DELTA_ROW_HISTORY_FILE_NOT_FOUND] 1 file is gone that may have contained such rows of "
        f"{table.root} since version 0; the first is 'b'\n"
        "hint: ask for the history since version 1"
    )
    assert message(ChangeDataFileNotFoundError, lambda: at.changes(0, changeFeed="derived")) == (
        f"[DELTA_CHANGE_DATA_FILE_NOT_FOUND] the file 'b' is gone, but the change feed of "
        f"{table.root} needs it for version 1\nhint: the feed can still be read from version 2 on"
    )
    assert rows(at.diff(1, 2)) == [(4, "e", "insert")]
    assert [row[2] for row in rows(at.row_history("id = 3", start=1))] == ["exists"]
    assert [row[:3] for row in rows(at.changes(2, changeFeed="derived"))] == [(4, "e", "insert")]


def test_a_file_that_the_latest_version_needs_cannot_be_done_without(
    opened: Open, table: Table
) -> None:
    (table.root / "c").unlink()
    at = opened(table.root)

    hint = "hint: the latest version needs it too; restore it from a copy"
    assert message(DiffFileNotFoundError, lambda: at.diff(0, 1)).splitlines()[1] == hint
    assert message(HistoryFileNotFoundError, lambda: at.row_history("id = 3")).splitlines()[1] == (
        hint
    )


def test_tables_that_are_not_related_are_told_with_their_ids(
    opened: Open, table: Table, tmp_path: Path
) -> None:
    stranger = Table(tmp_path / "stranger")
    schema = metadata("id long", "name string").schema_string
    stranger.history.stage(PROTOCOL, Metadata(id="another", schema_string=schema))
    stranger.add("z", {"id": [4], "name": ["E"]}).then()
    one, other = opened(table.root), opened(stranger.root)
    own = load_snapshot(LocalStorage(str(table.root))).metadata.id

    assert message(UnrelatedTablesError, lambda: one.diff(2, 0, other=other)) == (
        f"[DELTA_TABLES_NOT_RELATED] {table.root} (id {own}) and {stranger.root} (id another) "
        "share no data file, so neither is a clone of the other\n"
        "hint: to compare all their rows anyway, give the keys that identify a row"
    )
    assert message(KeysNotUniqueError, lambda: one.diff(0, 0, keys=["id"], other=other)) == (
        f"[DELTA_KEYS_NOT_UNIQUE] id does not identify a row: 2 rows of version 0 of {table.root} "
        'have {"id":3}\n'
        "hint: name more columns as keys, or none; with row tracking, row ids identify rows by "
        "themselves"
    )
