"""One version of a table, opened and brought up to date."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyarrow.compute as pc
import pytest

from builders import PROTOCOL, history, live_paths, vector
from staging import metadata
from truckee.errors.log import CorruptLogFileError, StateNotRecoverableError
from truckee.errors.protocol import UnsupportedReaderFeaturesError
from truckee.log.checkpoint.schema import FILES
from truckee.log.snapshot import load_snapshot, update_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import Protocol
from truckee.protocol.paths import commit_path
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage


def test_a_snapshot_tells_what_the_table_is() -> None:
    table = metadata("id long", "day date", partitioned_by=("day",), properties={"a.b": "c"})

    snapshot = history().stage(table).add("a", size=3).add("b", size=4).snapshot()

    assert snapshot.version == 0
    assert snapshot.protocol == PROTOCOL
    assert snapshot.metadata == table
    assert snapshot.schema.names == ("id", "day")
    assert snapshot.partition_columns == ("day",)
    assert snapshot.properties.configuration == {"a.b": "c"}
    assert (snapshot.num_files, snapshot.size_in_bytes) == (2, 7)


def test_a_table_of_no_files_has_no_size() -> None:
    snapshot = history().empty(1).snapshot()

    assert (snapshot.num_files, snapshot.size_in_bytes) == (0, 0)
    assert snapshot.files_table().schema == FILES


def test_older_versions_are_as_they_were() -> None:
    table = history().add("a").then().add("b").then().remove("a")

    assert live_paths(table.snapshot(0)) == ["a"]
    assert live_paths(table.snapshot(1)) == ["a", "b"]
    assert live_paths(table.snapshot(2)) == ["b"]


def test_the_newest_protocol_and_metadata_count() -> None:
    older, newer = metadata("a long"), metadata("a long", "b long")

    table = history().stage(older).then().stage(newer)

    assert table.snapshot(0).schema.names == ("a",)
    assert table.snapshot(1).schema.names == ("a", "b")


def test_files_are_rows_first_and_actions_when_wanted() -> None:
    snapshot = history().add("a", size=1).add("b", size=2).add("c", size=3).snapshot()
    table = snapshot.files_table()

    big = snapshot.add_files(table.filter(pc.greater(table.column("size"), 1)))

    assert [file.path for file in big] == ["b", "c"]
    assert all(not file.data_change for file in big)


def test_tombstones_are_what_was_removed_and_not_added_again() -> None:
    snapshot = history().add("a").add("b").then().remove("a").remove("b").then().add("a").snapshot()

    assert [remove.path for remove in snapshot.tombstones()] == ["b"]
    assert not next(snapshot.tombstones()).data_change


def test_a_vector_leaves_a_tombstone_of_the_file_without_it() -> None:
    snapshot = history().add("a").then().delete("a", rows=[1]).snapshot()

    assert [(file.path, file.deletion_vector) for file in snapshot.files()] == [("a", vector(1))]
    assert [(r.path, r.deletion_vector) for r in snapshot.tombstones()] == [("a", None)]


def test_the_last_transaction_of_each_application_counts() -> None:
    snapshot = history().txn("x", 1).txn("y", 5).then().txn("x", 2).snapshot()

    assert {app: txn.version for app, txn in snapshot.set_transactions.items()} == {"x": 2, "y": 5}


def test_transactions_expire_where_the_table_says_so() -> None:
    keep = metadata(properties={"delta.setTransactionRetentionDuration": "interval 1 day"})
    now = 4_000_000_000_000  # far in the future

    table = history().stage(keep).txn("old", 1, 1000).txn("new", 1, now).txn("undated", 1)

    assert set(table.snapshot().set_transactions) == {"new"}


def test_a_removed_domain_is_gone() -> None:
    snapshot = history().domain("x", "1").domain("y", "2").then().domain("x", removed=True)

    assert {d: m.configuration for d, m in snapshot.snapshot().domain_metadata.items()} == {
        "y": "2"
    }


@pytest.mark.parametrize(
    ("lines", "missing"),
    [
        (b'{"metaData":{"id":"x","schemaString":"{}"}}\n', "protocol"),
        (b'{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}\n', "metaData"),
    ],
)
def test_a_log_without_protocol_or_metadata_is_no_state(lines: bytes, missing: str) -> None:
    storage = MemoryStorage()
    storage.write(commit_path(0), lines)

    with pytest.raises(StateNotRecoverableError) as raised:
        load_snapshot(storage)

    assert raised.value.sentence() == (
        f"version 0 of memory://t has no {missing} action in its log\n"
        "hint: files of _delta_log may have been deleted by hand; restore them"
    )
    assert raised.value.code == "DELTA_STATE_RECOVER_ERROR"


def test_a_half_written_commit_is_never_an_empty_one() -> None:
    storage = history().add("a").then().add("b").storage
    storage.write(commit_path(1), b'{"add":{"path":"b","partitionVal')

    with pytest.raises(CorruptLogFileError) as raised:
        load_snapshot(storage)

    assert raised.value.sentence() == (
        "line 1 of _delta_log/00000000000000000001.json of memory://t cannot be read: "
        "Input data was truncated\n"
        "hint: the file may be incomplete; restore it from a copy"
    )


def test_a_feature_that_is_not_known_is_refused_by_name() -> None:
    demanding = Protocol(
        min_reader_version=3,
        min_writer_version=7,
        reader_features=("teleportation",),
        writer_features=("teleportation",),
    )

    with pytest.raises(UnsupportedReaderFeaturesError) as raised:
        history().stage(demanding).snapshot()

    assert raised.value.code == "DELTA_UNSUPPORTED_FEATURES_FOR_READ"
    assert "teleportation" in raised.value.sentence()


def test_an_update_without_news_is_the_same_snapshot() -> None:
    snapshot = history().add("a").snapshot()

    assert update_snapshot(snapshot) is snapshot


@pytest.mark.parametrize("files_known", [True, False])
def test_an_update_reads_only_what_is_new(files_known: bool) -> None:
    table = history().add("a").add("b").txn("x", 1).domain("d").then().add("c")
    snapshot = table.snapshot()
    if files_known:
        snapshot.files_table()
    table.remove("a").delete("b", rows=[1]).then().stage(metadata("z long")).txn("x", 2)
    storage = table.storage
    assert isinstance(storage, MemoryStorage)
    storage.write(commit_path(0), b"no longer readable")

    updated = update_snapshot(snapshot)

    assert updated.version == 3
    assert live_paths(updated) == ["b", "c"]
    assert sorted(remove.path for remove in updated.tombstones()) == ["a", "b"]
    assert updated.schema.names == ("z",)
    assert updated.set_transactions["x"].version == 2
    assert set(updated.domain_metadata) == {"d"}
    assert live_paths(snapshot) == ["a", "b", "c"]


def test_an_update_finds_another_table_in_the_same_place() -> None:
    snapshot = history().add("a").then().add("b").snapshot()
    other = history().add("c").then().add("of another size").then().add("d")
    object.__setattr__(snapshot, "storage", other.storage)

    assert live_paths(update_snapshot(snapshot)) == ["c", "d", "of another size"]


def test_many_updates_move_on_to_a_newer_checkpoint() -> None:
    table = history().add("a")
    snapshot = table.snapshot()
    table.empty(120).add("b")
    write_checkpoint(table.snapshot())

    updated = update_snapshot(snapshot)

    assert updated.segment.checkpoint is not None
    assert live_paths(updated) == ["a", "b"]


def test_an_update_of_a_table_that_was_replaced_starts_anew() -> None:
    table = history().add("a").then().add("b")
    snapshot = table.snapshot()
    storage = table.storage
    storage.delete(commit_path(0))
    storage.delete(commit_path(1))
    history(storage).add("z").then()

    assert live_paths(update_snapshot(snapshot)) == ["z"]


def test_the_time_of_a_snapshot_is_that_of_its_commit(tmp_path: Path) -> None:
    storage = LocalStorage(str(tmp_path))
    history(storage).then().info(in_commit_timestamp=42).then()
    os.utime(tmp_path / commit_path(0), ns=(7_000_000, 7_000_000))

    assert load_snapshot(storage, 0).timestamp_ms == 7
    assert load_snapshot(storage, 1).timestamp_ms == 42


_COUNT = """
import sys
from truckee.log.snapshot import load_snapshot
from truckee.storage import open_storage
print(load_snapshot(open_storage(sys.argv[1])).files_table().num_rows)
print([name for name in ("pandas", "pyspark", "obstore") if name in sys.modules])
"""


def test_a_table_opens_without_what_takes_long_to_load(tmp_path: Path) -> None:
    table = history(LocalStorage(str(tmp_path))).add("a", tags={"x": "y"}).then()
    write_checkpoint(table.snapshot())
    table.delete("a", rows=[1]).add("b").then()

    done = subprocess.run(
        [sys.executable, "-c", _COUNT, str(tmp_path)], capture_output=True, text=True, check=True
    )

    assert done.stdout == "2\n[]\n"


_OPEN = """
import os, sys
from truckee.errors import DeltaError
from truckee.log.snapshot import load_snapshot
from truckee.storage import open_storage
if os.getuid() == 0:
    os.setuid(65534)
try:
    load_snapshot(open_storage(sys.argv[1]))
except DeltaError as error:
    print(error)
"""


def test_a_path_without_permission_says_so(tmp_path: Path) -> None:
    history(LocalStorage(str(tmp_path))).then()
    for folder in tmp_path.parents:
        if folder.is_relative_to("/tmp") and folder != Path("/tmp"):
            folder.chmod(0o755)
    log = tmp_path / "_delta_log"
    log.chmod(0)

    try:
        run = subprocess.run(
            [sys.executable, "-c", _OPEN, str(tmp_path)], capture_output=True, text=True, check=True
        )
    finally:
        log.chmod(0o755)

    assert run.stdout == (
        "[DELTA_STORAGE_PERMISSION_DENIED] "
        f"no permission to read {log}/_last_checkpoint: permission denied\n"
        "hint: check the owner and mode of the path, or the credentials for its store\n"
    )
