"""What a vacuum takes and what it leaves, told from the log and the listing alone."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from deltalake import DeltaTable as RustTable

from care.folders import DAY_MS, NOW_MS, UNKNOWN_WRITER, Folder
from staging import create_table, metadata
from truckee.care.vacuum.dead_files import InventoryRow
from truckee.care.vacuum.plan import VacuumOptions, VacuumPlan, last_vacuumed_version, plan_vacuum
from truckee.care.vacuum.vacuum import VacuumOutcome, carry_out
from truckee.errors.commands.care import (
    RETENTION_CHECK,
    ConsumerNotFoundError,
    NegativeRetentionError,
    RetentionTooShortError,
    VacuumLiteError,
)
from truckee.errors.protocol import UnsupportedWriterFeaturesError
from truckee.log.commit.transaction import Transaction
from truckee.log.files.history import history, latest_version
from truckee.log.snapshot import load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint
from truckee.protocol.actions import RemoveFile
from truckee.protocol.deletion_vector import on_disk_with_relative_path
from truckee.protocol.paths import commit_path
from truckee.storage.base import Storage
from truckee.storage.local import LocalStorage
from truckee.storage.memory import MemoryStorage
from truckee.storage.tree import DeletionOutcome

UNCHECKED = {RETENTION_CHECK: "false"}


def plan(table: Folder, settings: Mapping[str, str] | None = None, **options: Any) -> VacuumPlan:
    return plan_vacuum(table.storage, VacuumOptions(**options), settings, now_ms=NOW_MS)


def taken(table: Folder, settings: Mapping[str, str] | None = None, **options: Any) -> list[str]:
    return sorted(plan(table, settings, **options).paths)


def rust_taken(table: Folder, hours: int | None = None, *, full: bool = True) -> list[str]:
    """What deltalake would take of the same table."""
    found = RustTable(str(table.path)).vacuum(
        hours, dry_run=True, enforce_retention_duration=False, full=full
    )
    return sorted(found)


@pytest.fixture
def table(tmp_path: Path) -> Folder:
    """Files of every sort: live, removed long ago and lately, never committed, and hidden."""
    made = Folder(tmp_path / "t", partition_by=("_p",))
    made.write("live.parquet", "gone.parquet", "kept.parquet", "orphan.parquet", days=20)
    made.write("being-written.parquet", days=0.5)
    made.write("_change_data/old.parquet", "_p=a b/live.parquet", days=20)
    made.write("_change_data/new.parquet", days=1)
    made.write("_p=x%3Ay/orphan.parquet", "_temporary/0/x", "sub/_x/y", "sub/.hidden", days=20)
    made.write("_delta_log/_sidecars/x.parquet", days=20)
    made.commit(made.add("live.parquet"), made.add("gone.parquet"), days=20)
    made.commit(made.add("kept.parquet"), made.add("_p=a b/live.parquet"), days=19)
    made.commit(made.remove("gone.parquet", days=10), days=10)
    made.commit(made.remove("kept.parquet", days=2), days=2)
    return made


# Invariant 37.
def test_a_file_goes_if_no_version_within_the_retention_needs_it(table: Folder) -> None:
    assert taken(table) == [
        "_change_data/old.parquet",
        "_p=x%3Ay/orphan.parquet",
        "gone.parquet",
        "orphan.parquet",
    ]


def test_a_dry_run_names_what_deltalake_names(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.write("live.parquet", "gone.parquet", "kept.parquet", "orphan.parquet", days=20)
    table.write("sub/orphan.parquet", "sub/a b.parquet", "_hidden/x", days=20)
    table.commit(table.add("live.parquet"), table.add("gone.parquet"), days=20)
    table.commit(table.add("kept.parquet"), table.remove("gone.parquet", days=10), days=10)
    table.commit(table.remove("kept.parquet", days=2), days=2)

    assert taken(table) == rust_taken(table)
    assert taken(table, UNCHECKED, retention_hours=24) == rust_taken(table, 24)
    assert taken(table, retention_hours=24 * 100) == rust_taken(table, 24 * 100) == []


def test_a_longer_retention_protects_what_was_removed_before_the_tables_own(table: Folder) -> None:
    assert "gone.parquet" not in taken(table, retention_hours=24 * 11)


def test_a_vector_file_goes_with_the_last_file_that_names_it(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", **{"delta.enableDeletionVectors": "true"})
    shared, old = (
        on_disk_with_relative_path(UUID(int=n), prefix=p, size_in_bytes=9, cardinality=1, offset=1)
        for n, p in ((1, ""), (2, "ab"))
    )
    table.write("a", "b", shared.file_path, old.file_path, "deletion_vector_x.bin", days=20)
    table.commit(table.add("a", deletion_vector=old), table.add("b"), days=20)
    table.commit(
        table.remove("a", days=15, deletion_vector=old),
        table.add("a", deletion_vector=shared),
        table.remove("b", days=15),
        table.add("b", deletion_vector=shared),
        days=15,
    )

    assert taken(table) == [old.file_path, "deletion_vector_x.bin"]

    table.commit(table.remove("a", days=9, deletion_vector=shared), days=9)

    assert taken(table) == ["a", old.file_path, "deletion_vector_x.bin"]


def test_a_file_that_is_listed_under_its_absolute_path_is_protected(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    link = tmp_path / "link"
    link.symlink_to(table.path)
    table.write("a", "b c", "d", "e", days=20)
    table.commit(
        table.add(f"{table.path}/a"),
        table.add(f"{link}/b c"),
        table.add("./x/../d"),
        table.add("../other/e"),
        days=20,
    )

    assert taken(table) == ["e"]
    linked = plan_vacuum(LocalStorage(str(link)), VacuumOptions(), now_ms=NOW_MS)
    assert linked.paths == ("e",)


def test_folders_go_only_if_nothing_at_all_is_below_them(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    for name in ("empty/deep", "hidden/.x", "linked"):
        (table.path / name).mkdir(parents=True)
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_bytes(b"")
    (table.path / "linked" / "link").symlink_to(tmp_path / "outside")
    table.write("young/x", days=1)
    table.write("old/x", days=20)

    assert taken(table) == ["empty", "empty/deep", "old/x"]

    carry_out(plan(table))

    assert table.left() == {
        "hidden",
        "hidden/.x",
        "linked",
        "linked/link",
        "young",
        "young/x",
        "old",
    }
    assert (tmp_path / "outside" / "file").exists()


# Invariant 38.
def test_a_vacuum_deletes_what_its_dry_run_named_and_leaves_the_log_alone(table: Folder) -> None:
    before = table.left()
    log = sorted(path.name for path in (table.path / "_delta_log").rglob("*"))
    found = plan(table)

    assert table.left() == before
    assert sorted(path.name for path in (table.path / "_delta_log").rglob("*")) == log

    outcome = carry_out(found)

    assert before - table.left() == set(found.paths)
    assert (outcome.files, outcome.failures) == (4, ())
    assert taken(table) == ["_p=x%3Ay"]


@pytest.mark.parametrize("logging", ["true", "false"])
def test_a_file_that_was_restored_after_the_plan_was_made_stays(
    table: Folder, logging: str
) -> None:
    found = plan(table)
    table.commit(table.add("gone.parquet"), days=0)

    outcome = carry_out(found, {"spark.databricks.delta.vacuum.logging.enabled": logging})

    assert "gone.parquet" in found.paths
    assert (table.path / "gone.parquet").exists()
    assert (outcome.files, outcome.failures) == (3, ())


def test_the_commits_around_a_vacuum_say_what_delta_spark_says(table: Folder) -> None:
    carry_out(plan(table, retention_hours=24 * 8))

    end, start, *_ = history(table.storage)
    assert (start.operation, end.operation) == ("VACUUM START", "VACUUM END")
    assert start.operation_parameters == {
        "retentionCheckEnabled": "true",
        "defaultRetentionMillis": "604800000",
        "specifiedRetentionMillis": "691200000",
    }
    assert start.operation_metrics == {"numFilesToDelete": "4", "sizeOfDataToDelete": "40"}
    assert end.operation_parameters == {"status": "COMPLETED"}
    assert (end.operation_metrics or {})["numDeletedFiles"] == "4"
    assert (start.is_blind_append, start.isolation_level) == (True, "SnapshotIsolation")


def test_a_vacuum_commits_nothing_where_logging_is_off(table: Folder) -> None:
    version = latest_version(table.storage)

    carry_out(plan(table), {"spark.databricks.delta.vacuum.logging.enabled": "false"})

    assert latest_version(table.storage) == version


def test_a_vacuum_says_which_versions_and_changes_it_ends(table: Folder) -> None:
    assert plan(table).breaks == "after this, versions before 3 cannot be read"


def test_a_later_vacuum_knows_what_earlier_ones_deleted(table: Folder) -> None:
    carry_out(plan(table))

    again = plan(table)

    assert (again.after.table, again.breaks) == (3, None)


def test_the_feed_ends_one_version_after_the_table(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", **{"delta.enableChangeDataFeed": "true"})
    table.write("a", "b", "_change_data/c", days=20)
    table.commit(table.add("a"), table.add("b"), days=20)
    table.commit(table.remove("a", days=10), days=10)

    assert plan(table).breaks == (
        "after this, versions before 2 and the feed before 3 cannot be read"
    )

    table.commit(table.remove("b", days=9), table.cdc("_change_data/c"), days=9)
    table.commit(days=1)

    assert plan(table).breaks == (
        "after this, versions before 3 and the feed before 4 cannot be read"
    )


def test_files_that_belong_to_no_version_break_nothing(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.write("orphan", days=20)

    found = plan(table)

    assert (found.paths, found.breaks) == (("orphan",), None)


def test_a_version_that_somebody_reads_keeps_its_files(table: Folder) -> None:
    assert "gone.parquet" not in taken(table, protect=(2,))
    assert "gone.parquet" not in taken(table, protect=(3,))
    assert "gone.parquet" in taken(table, protect=(4,))


def test_a_stream_keeps_what_it_has_not_read_yet(table: Folder, tmp_path: Path) -> None:
    checkpoint = tmp_path / "checkpoint"
    (checkpoint / "offsets").mkdir(parents=True)
    for batch, version in ((8, 1), (9, 3), (10, 4)):
        offset = {"reservoirId": "11111111-2222-3333-4444-555555555555"}
        line = json.dumps({**offset, "reservoirVersion": version, "sourceVersion": 1})
        (checkpoint / "offsets" / str(batch)).write_text(f"v1\n{{}}\n{line}")

    assert "gone.parquet" not in taken(table, protect=(str(checkpoint),))

    (checkpoint / "offsets" / "11").write_text((checkpoint / "offsets" / "10").read_text())

    assert "gone.parquet" in taken(table, protect=(str(checkpoint),))


def test_a_consumer_that_cannot_be_found_stops_the_vacuum(table: Folder, tmp_path: Path) -> None:
    for consumer in (str(tmp_path / "nowhere"), 99, -1, True):
        with pytest.raises(ConsumerNotFoundError):
            plan(table, protect=(consumer,))


@pytest.mark.parametrize(
    ("loaded", "hint"),
    [
        ("pyspark", "set spark.databricks.delta.retentionDurationCheck.enabled to false"),
        ("nothing", "call truckee vacuum with --no-retention-check"),
    ],
)
def test_a_retention_below_the_tables_own_needs_the_switch(
    table: Folder, loaded: str, hint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "pyspark", raising=False)
    monkeypatch.setitem(sys.modules, loaded, sys)

    with pytest.raises(RetentionTooShortError) as raised:
        plan(table, retention_hours=1)

    assert raised.value.sentence() == (
        "a retention of 1 hours is shorter than the 168 hours for which the table keeps deleted "
        "files; running readers and writers, and time travel, may need them\n"
        f"hint: retain at least 168 hours, or, if nobody uses the table, {hint}"
    )
    assert "kept.parquet" in taken(table, UNCHECKED, retention_hours=0.4)
    assert "kept.parquet" not in taken(table, retention_hours=168)


def test_a_retention_is_a_number_of_hours_from_zero_on(table: Folder) -> None:
    with pytest.raises(NegativeRetentionError):
        plan(table, UNCHECKED, retention_hours=-1)
    for wrong in ("7", True, float("nan")):
        with pytest.raises(Exception, match="must be a number of hours"):
            plan(table, retention_hours=wrong)


def test_the_tables_own_retention_is_a_property(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t", **{"delta.deletedFileRetentionDuration": "interval 1 day"})
    table.write("orphan", days=2)

    assert taken(table) == ["orphan"]


def test_a_table_that_asks_for_more_than_we_know_is_left_alone(table: Folder) -> None:
    table.commit(UNKNOWN_WRITER, days=1)

    with pytest.raises(UnsupportedWriterFeaturesError):
        plan(table)


def test_lite_takes_what_the_log_removed_and_no_orphans(table: Folder) -> None:
    assert taken(table, mode="LITE") == ["gone.parquet"]

    outcome = carry_out(plan(table, mode="lite"))

    assert outcome.files == 1
    assert last_vacuumed_version(table.storage) == 3
    assert taken(table, mode="LITE") == []


def test_lite_comes_back_for_what_a_reader_needed(table: Folder) -> None:
    carry_out(plan(table, mode="LITE", protect=(2,)))

    assert (table.path / "gone.parquet").exists()
    assert taken(table, mode="LITE") == ["gone.parquet"]


def test_lite_comes_back_for_what_an_inventory_did_not_show(table: Folder) -> None:
    row = InventoryRow(f"{table.path}/orphan.parquet", 10, False, 0)

    assert carry_out(plan(table, inventory=[row])).files == 1
    assert taken(table, mode="LITE") == ["gone.parquet"]


def test_lite_comes_back_for_what_could_not_be_deleted(table: Folder) -> None:
    def fail(_storage: Storage, paths: Sequence[str]) -> Iterable[DeletionOutcome]:
        yield DeletionOutcome(0, tuple((path, "the store is busy") for path in paths))

    outcome = carry_out(plan(table, mode="LITE"), delete=fail)

    assert outcome.failures == (("gone.parquet", "the store is busy"),)
    assert taken(table, mode="LITE") == ["gone.parquet"]


def test_lite_keeps_a_file_that_was_restored(table: Folder) -> None:
    table.commit(table.add("gone.parquet"), days=9)

    assert taken(table, mode="LITE") == []


def test_lite_decodes_the_paths_of_the_log(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.write("p=a%20b/x y.parquet", days=20)
    table.commit(table.add("p=a%20b/x y.parquet"), days=20)
    table.commit(table.remove("p=a%20b/x y.parquet", days=10), days=10)

    carry_out(plan(table, mode="LITE"))

    assert table.left() == {"p=a%20b"}


def test_lite_does_not_delete_through_a_link_or_outside(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "x").write_bytes(b"")
    (table.path / "link").symlink_to(outside)
    names = ("link/x", "../outside/x", f"{outside}/x", "_delta_log/00000000000000000000.json")
    table.commit(*(table.add(name) for name in names), days=20)
    table.commit(*(table.remove(name, days=10) for name in names), days=10)

    found = plan(table, mode="LITE")
    outcome = carry_out(found)

    assert found.paths == ()
    assert outcome == VacuumOutcome(files=0, folders=0)
    assert (outside / "x").exists()
    assert (table.path / "_delta_log" / "00000000000000000000.json").exists()


# Invariant 37.
@pytest.mark.parametrize("source", ["LITE", "inventory"])
def test_no_log_and_no_inventory_makes_a_vacuum_delete_what_is_not_the_tables_own(
    tmp_path: Path, source: str
) -> None:
    table = Folder(tmp_path / "t", partition_by=("_p",))
    other = Folder(tmp_path / "t" / "sub" / "other")
    other.write("live", "deep/live", days=20)
    other.commit(other.add("live"), other.add("deep/live"), days=20)
    own = ("gone", "sub/gone", "_p=1/gone", "_change_data/gone")
    hidden = (".x", "_private/x", "sub/_x/y", "sub/.x")
    others = ("sub/other/live", "sub/other/deep/live", f"sub/other/{commit_path(1)}")
    table.write(*own, *hidden, "target", days=20)
    (table.path / "link").symlink_to(table.path / "target")
    (table.path / "linked").symlink_to(table.path / "sub")
    names = (*own, *hidden, *others, "link", "linked/gone2", "sub/x/../other/live")
    table.write("sub/gone2", days=20)
    table.commit(*(table.add(name) for name in (*names, "target", "sub/gone2")), days=20)
    table.commit(*(table.remove(name, days=10) for name in names), days=10)
    rows = [InventoryRow(f"{table.path}/{name}", 10, False, 0) for name in names]
    before = {str(path) for path in tmp_path.rglob("*") if path.name not in ("gone", "_delta_log")}

    found = plan(table, mode="LITE") if source == "LITE" else plan(table, inventory=rows)
    outcome = carry_out(found)

    assert sorted(found.paths) == sorted(own)
    assert (outcome.files, outcome.failures) == (4, ())
    assert before <= {str(path) for path in tmp_path.rglob("*")}


def test_lite_leaves_other_tables_alone_in_a_store_without_folders() -> None:
    storage = MemoryStorage()
    create_table(storage, metadata())
    for name in ("gone", "sub/gone", "sub/other/live", "sub/other/_delta_log/0.json"):
        storage.write(name, b"x")
    removes = ("gone", "sub/gone", "sub/other/live", "sub/other/_delta_log/0.json")
    transaction = Transaction(storage, load_snapshot(storage))
    transaction.stage(*(RemoveFile(path=name, deletion_timestamp=1) for name in removes))
    transaction.commit("DELETE")

    found = plan_vacuum(storage, VacuumOptions(mode="LITE"), now_ms=NOW_MS + 100 * DAY_MS)

    assert sorted(found.paths) == ["gone", "sub/gone"]


def test_a_table_that_appears_below_the_root_after_the_plan_was_made_stays(
    tmp_path: Path,
) -> None:
    table = Folder(tmp_path / "t")
    table.write("sub/orphan", days=20)
    found = plan(table)
    Folder(tmp_path / "t" / "sub")

    outcome = carry_out(found)

    assert found.paths == ("sub/orphan",)
    assert outcome.failures == (("sub/orphan", "it belongs to the table at sub"),)
    assert (table.path / "sub" / "orphan").exists()


def test_lite_needs_a_log_that_reaches_back(table: Folder) -> None:
    (table.path / "_delta_log" / "_last_vacuum_info").write_text("{}")
    write_checkpoint(load_snapshot(table.storage, 2))
    for version in (0, 1):
        (table.path / "_delta_log" / f"{version:020d}.json").unlink()

    with pytest.raises(VacuumLiteError):
        plan(table, mode="LITE")

    carry_out(plan(table))

    assert last_vacuumed_version(table.storage) == 3
    assert taken(table, mode="LITE") == []


def test_an_inventory_stands_in_for_the_listing(table: Folder) -> None:
    root = f"file:{table.path}"
    old = NOW_MS - 20 * 24 * 3600 * 1000
    rows = [
        InventoryRow(f"{root}/orphan.parquet", 10, False, old),
        InventoryRow(f"{root}/live.parquet", 10, False, old),
        InventoryRow(f"{root}/_delta_log/00000000000000000000.json", 10, False, old),
        InventoryRow(f"{root}/sub/_x/y", 10, False, old),
        InventoryRow(f"{root}/being-written.parquet", 10, False, NOW_MS),
        InventoryRow(f"{root}x/other.parquet", 10, False, old),
        InventoryRow("s3://bucket/orphan.parquet", 10, False, old),
        InventoryRow(f"{root}/_p=x%3Ay", 0, True, old),
    ]

    assert taken(table, inventory=rows) == ["_p=x%3Ay", "orphan.parquet"]

    outcome = carry_out(plan(table, inventory=rows))

    assert (outcome.files, outcome.folders, len(outcome.failures)) == (1, 0, 1)
    assert (table.path / "_p=x%3Ay" / "orphan.parquet").exists()


def test_a_vacuum_by_deltalake_leaves_us_a_table_and_the_other_way_round(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.write("live.parquet", "gone.parquet", "orphan.parquet", days=20)
    table.commit(table.add("live.parquet"), table.add("gone.parquet"), days=20)
    table.commit(table.remove("gone.parquet", days=10), days=10)

    RustTable(str(table.path)).vacuum(None, dry_run=False, full=True)

    assert table.left() == {"live.parquet"}
    assert taken(table) == []

    table.write("orphan.parquet", days=20)
    carry_out(plan(table))

    # deltalake names what the log says was removed, whether it is still there or not.
    assert [name for name in rust_taken(table) if (table.path / name).exists()] == []
    assert table.left() == {"live.parquet"}


def test_a_longer_retention_holds_after_a_checkpoint_without_the_tombstones(table: Folder) -> None:
    write_checkpoint(load_snapshot(table.storage))
    for version in range(4):
        table.age(commit_path(version), (30, 20, 19, 10)[version])
    assert not [t for t in load_snapshot(table.storage).tombstones() if t.path == "gone.parquet"]

    assert "gone.parquet" not in taken(table, retention_hours=24 * 11)
    assert "gone.parquet" in taken(table, retention_hours=24 * 9)


def test_tables_below_the_root_are_left_alone(tmp_path: Path) -> None:
    table = Folder(tmp_path / "t")
    table.write("orphan.parquet", "sub/orphan.parquet", days=20)
    other = Folder(tmp_path / "t" / "sub" / "other")
    other.write("live.parquet", "deep/live.parquet", days=20)
    other.commit(other.add("live.parquet"), other.add("deep/live.parquet"), days=20)
    rows = [
        InventoryRow(str(path), 10, path.is_dir(), 0)
        for path in sorted(table.path.rglob("*"), reverse=True)
    ]

    assert taken(table) == ["orphan.parquet", "sub/orphan.parquet"]
    assert taken(table, inventory=rows) == ["orphan.parquet", "sub/orphan.parquet"]


def test_tables_below_the_root_are_left_alone_in_a_store_without_folders() -> None:
    storage = MemoryStorage()
    create_table(storage, metadata())
    for name in ("orphan", "sub/orphan", "sub/other/live", "sub/other/_delta_log/0.json"):
        storage.write(name, b"x")

    found = plan_vacuum(storage, VacuumOptions(), now_ms=NOW_MS + 100 * DAY_MS)

    assert sorted(found.paths) == ["orphan", "sub/orphan"]
