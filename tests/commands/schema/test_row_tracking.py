"""Row tracking switched on for tables that have rows: each step, and what others do meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from msgspec.structs import replace

from staging import VECTORS_ON, add, append, create_table, metadata, plan_changes, remove, vector
from streaming.streams import batches, feed, stream
from truckee.commands.ddl.alter_properties import set_properties
from truckee.commands.schema.row_tracking import backfill_row_ids
from truckee.errors.commands.alter import RowTrackingSuspendedError
from truckee.errors.commit import RowIdsWithoutStatisticsError
from truckee.errors.storage import StorageError
from truckee.log.commit.transaction import Transaction
from truckee.log.files.commits import read_commit
from truckee.log.files.history import history
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.options.feed import feed_options
from truckee.protocol.actions import AddFile
from truckee.storage import LocalStorage, MemoryStorage
from writing import rust_rows

ON = {"delta.enableRowTracking": "true"}
MARKED = add("a", rows=3, vector=vector("v"))
MARK = '{"rowIdHighWaterMark":%d}'


def table_of(*files: AddFile, properties: dict[str, str] | None = None) -> MemoryStorage:
    storage = MemoryStorage()
    create_table(storage, metadata(properties=properties or {}))
    append(storage, *files)
    return storage


def ids(snapshot: Snapshot) -> dict[str, tuple[int | None, int | None]]:
    return {f.path: (f.base_row_id, f.default_row_commit_version) for f in snapshot.files()}


def operations(storage: MemoryStorage) -> list[str | None]:
    return [entry.operation for entry in history(storage)][::-1]


def test_rows_get_ids_before_the_property_says_that_they_have_them() -> None:
    storage = table_of(add("a", rows=3), add("b", rows=2), properties={"k": "v"})

    version = set_properties(storage, ON)

    assert operations(storage)[2:] == [
        "UPGRADE PROTOCOL",
        "ROW TRACKING BACKFILL",
        "SET TBLPROPERTIES",
    ]
    after = load_snapshot(storage)
    assert (version, after.version) == (4, 4)
    assert ids(after) == {"a": (0, 3), "b": (3, 3)}
    assert after.domain_metadata["delta.rowTracking"].configuration == MARK % 4
    assert {"rowTracking", "domainMetadata"} <= after.configuration.features
    assert after.properties.enable_row_tracking
    assert after.configuration.row_id_columns is not None
    assert after.metadata.configuration["k"] == "v"
    assert after.totals.files == 2


def test_commits_of_a_backfill_change_no_data_and_add_what_was_there() -> None:
    files = (add("a", rows=3), add("b", rows=2, vector=vector("v")), add("c", rows=1))
    storage = table_of(*files, properties=VECTORS_ON)
    before = load_snapshot(storage)

    backfill_row_ids(before, files_per_commit=2)

    first, second = (read_commit(storage, version) for version in (3, 4))
    for commit, size, batch in ((first, 2, "0"), (second, 1, "1")):
        assert commit.commit_info is not None
        assert commit.commit_info.operation == "ROW TRACKING BACKFILL"
        assert commit.commit_info.operation_parameters == {"batchId": batch}
        assert (len(commit.adds), commit.removes) == (size, ())
        assert not any(file.data_change for file in commit.adds)
    plain = {
        file.path: replace(file, base_row_id=None, default_row_commit_version=None)
        for file in load_snapshot(storage).files()
    }
    assert plain == {file.path: replace(file, data_change=False) for file in before.files()}


def test_neither_streams_nor_the_feed_show_a_backfill() -> None:
    storage = table_of(add("a", rows=3), properties={"delta.enableChangeDataFeed": "true"})
    rows, changes = (of(storage, startingVersion=1) for of in (stream, feed))

    set_properties(storage, ON)
    append(storage, add("b"))

    assert [path for batch in batches(rows) for path in batch.paths] == ["a", "b"]
    assert [path for batch in batches(changes) for path in batch.paths] == ["a", "b"]
    assert changes_from(storage, 0) == [("a", 1), ("b", 5)]
    assert changes_from(storage, 2) == [("b", 5)]


def changes_from(storage: MemoryStorage, version: int) -> list[tuple[str, int]]:
    plan = plan_changes(storage, feed_options({"startingVersion": str(version)}))
    return [(file.path, file.version) for file in plan.files]


def test_deltalake_reads_a_table_whose_rows_got_ids(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    create_table(storage, metadata())
    for name, numbers in (("a", [1, 2]), ("b", [3])):
        pq.write_table(pa.table({"id": numbers}), tmp_path / name)
        size = (tmp_path / name).stat().st_size
        append(storage, add(name, rows=len(numbers), size=size))

    set_properties(storage, ON)

    assert ids(load_snapshot(storage)) == {"a": (0, 4), "b": (2, 4)}
    assert sorted(row["id"] for row in rust_rows(tmp_path)) == [1, 2, 3]


def test_files_that_have_ids_keep_them() -> None:
    storage = table_of(add("a", rows=3))
    set_properties(storage, {"delta.feature.rowTracking": "supported"})
    append(storage, add("b", rows=2))

    set_properties(storage, ON)

    after = load_snapshot(storage)
    assert ids(after) == {"b": (0, 3), "a": (2, 4)}
    assert operations(storage)[-2:] == ["ROW TRACKING BACKFILL", "SET TBLPROPERTIES"]


def test_a_table_whose_rows_have_ids_needs_no_backfill() -> None:
    storage = table_of()
    set_properties(storage, {"delta.feature.rowTracking": "supported"})
    append(storage, add("a", rows=3))

    assert set_properties(storage, ON) == load_snapshot(storage).version == 3
    assert operations(storage)[-1] == "SET TBLPROPERTIES"


class Meddling(MemoryStorage):
    """Lets another writer in before the next commit; the writer sees the storage itself."""

    meddle: Callable[[], object] | None = None

    def put_if_absent(self, path: str, data: bytes) -> None:
        if self.meddle is not None and path.endswith(".json"):
            meddle, self.meddle = self.meddle, None
            meddle()
        super().put_if_absent(path, data)


def meddled(*files: AddFile, properties: dict[str, str] | None = None) -> Meddling:
    storage = Meddling()
    create_table(storage, metadata(properties=properties or {}))
    append(storage, *files)
    set_properties(storage, {"delta.feature.rowTracking": "supported"})
    return storage


def test_a_backfill_that_was_stopped_is_continued() -> None:
    storage = meddled(add("a", rows=3), add("b", rows=2), add("c", rows=1))

    def let_one_pass() -> None:
        storage.meddle = stop

    def stop() -> None:
        raise StorageError(action="write", path="x", reason="the power failed")

    storage.meddle = let_one_pass
    with pytest.raises(StorageError):
        backfill_row_ids(load_snapshot(storage), files_per_commit=1)
    half = load_snapshot(storage)
    set_properties(storage, ON)

    assert not half.properties.enable_row_tracking
    assert ids(half) == {"a": (0, 3), "b": (None, None), "c": (None, None)}
    assert ids(load_snapshot(storage)) == {"a": (0, 3), "b": (3, 4), "c": (5, 4)}


def test_rows_that_are_appended_meanwhile_get_ids_once() -> None:
    storage = meddled(add("a", rows=3))
    storage.meddle = lambda: append(storage, add("b", rows=2))

    set_properties(storage, ON)

    assert ids(load_snapshot(storage)) == {"b": (0, 3), "a": (2, 4)}


def test_a_file_that_is_removed_meanwhile_does_not_come_back() -> None:
    gone = add("a", rows=3)
    storage = meddled(gone, add("b", rows=2))

    def delete() -> None:
        transaction = Transaction(storage, load_snapshot(storage))
        transaction.stage(remove(gone))
        transaction.commit("DELETE")

    storage.meddle = delete
    set_properties(storage, ON)

    assert ids(load_snapshot(storage)) == {"b": (0, 4)}


def test_a_file_that_is_marked_meanwhile_stays_marked() -> None:
    file = add("a", rows=3)
    storage = meddled(file, properties=VECTORS_ON)

    def mark() -> None:
        transaction = Transaction(storage, load_snapshot(storage))
        transaction.stage(remove(file), MARKED)
        transaction.commit("DELETE")

    storage.meddle = mark
    set_properties(storage, ON)

    (found,) = load_snapshot(storage).files()
    assert (found.base_row_id, found.deletion_vector) == (0, vector("v"))


def test_two_who_switch_it_on_at_once_give_each_row_one_id() -> None:
    storage = meddled(add("a", rows=3), add("b", rows=2))
    before: dict[str, Any] = {}

    def other() -> None:
        set_properties(storage, ON)
        before.update(ids(load_snapshot(storage)))

    storage.meddle = other
    set_properties(storage, ON)

    assert ids(load_snapshot(storage)) == before == {"a": (0, 3), "b": (3, 3)}


def test_a_file_that_is_marked_keeps_the_ids_that_it_got_meanwhile() -> None:
    file = add("a", rows=3)
    storage = table_of(file, add("b", rows=1), properties=VECTORS_ON)
    late = Transaction(storage, load_snapshot(storage))
    late.read_files([file])
    late.stage(remove(file), MARKED)
    set_properties(storage, ON)
    before = ids(load_snapshot(storage))

    late.commit("DELETE")

    after = load_snapshot(storage)
    assert ids(after) == before
    assert {f.path: f.deletion_vector is not None for f in after.files()} == {"a": True, "b": False}


def test_nothing_happens_if_the_number_of_rows_is_unknown() -> None:
    storage = table_of(add("a", rows=3), replace(add("b"), stats=None))

    with pytest.raises(RowIdsWithoutStatisticsError):
        set_properties(storage, ON)

    assert load_snapshot(storage).version == 1


@pytest.mark.parametrize("first", [ON, {"delta.rowTrackingSuspended": "true"}])
def test_row_tracking_is_not_both_on_and_suspended(first: dict[str, str]) -> None:
    storage = table_of(add("a", rows=3))
    set_properties(storage, first)
    version = load_snapshot(storage).version

    with pytest.raises(RowTrackingSuspendedError) as caught:
        set_properties(storage, {**ON, "delta.rowTrackingSuspended": "true"})

    assert caught.value.sentence() == (
        "the properties delta.enableRowTracking and delta.rowTrackingSuspended cannot both be "
        "true: one needs ids for all rows, and the other keeps new rows from getting any\n"
        "hint: set one of them to false"
    )
    assert load_snapshot(storage).version == version
