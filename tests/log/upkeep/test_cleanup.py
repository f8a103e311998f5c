"""What goes from a log when its retention is over, and what stays for the versions left."""

from __future__ import annotations

import os
from pathlib import Path
from uuid import UUID, uuid4

import pytest

from staging import VECTORS_ON, add, append, create_table, metadata, paths
from truckee.errors.log import CorruptLogFileError
from truckee.errors.storage import StorageError
from truckee.log.snapshot import Snapshot, load_snapshot
from truckee.log.upkeep.checkpoint_writer import write_checkpoint, write_v2_checkpoint
from truckee.log.upkeep.cleanup import clean_log, clean_staged_files
from truckee.protocol.deletion_vector import (
    DeletionVectorDescriptor,
    on_disk_with_relative_path,
)
from truckee.storage import LocalStorage

DAY_MS = 24 * 3600 * 1000
MIDNIGHT_MS = 20_000 * DAY_MS
RETENTION_DAYS = 30


def age(table: Path, days: dict[int, float], *, default: float = 0.0) -> None:
    """Set the times of a log's files to so many days before a certain midnight, by version."""
    for file in sorted((table / "_delta_log").rglob("*.*")):
        version = int(file.name[:20]) if file.name[:20].isdigit() else -1
        seconds = (MIDNIGHT_MS - days.get(version, default) * DAY_MS) / 1000
        os.utime(file, (seconds, seconds))


def names(table: Path) -> list[str]:
    """Return the log's files as `3.json`, without their leading zeros and uuids."""
    found = (f.name for f in (table / "_delta_log").iterdir() if f.name[:1].isdigit())
    return sorted(
        (f"{int(n[:20])}.{n[21:]}" for n in found), key=lambda n: (int(n.split(".")[0]), n)
    )


def versions(table: Path) -> list[int]:
    return [int(n.split(".")[0]) for n in names(table) if n.endswith(".json") and n.count(".") == 1]


def table_with(
    tmp_path: Path, last: int, *, checkpoints: tuple[int, ...], **properties: str
) -> Snapshot:
    """Return the last version of a table with one file a version and checkpoints at some."""
    storage = LocalStorage(str(tmp_path))
    settings = {f"delta.{name}": value for name, value in properties.items()}
    create_table(storage, metadata(properties={"delta.checkpointInterval": "1000", **settings}))
    for version in range(1, last + 1):
        append(storage, add(f"f{version}"))
        if version in checkpoints:
            write_checkpoint(load_snapshot(storage))
    return load_snapshot(storage)


def clean(snapshot: Snapshot, *, hours_after_midnight: float = 1) -> int:
    now_ms = int(MIDNIGHT_MS + RETENTION_DAYS * DAY_MS + hours_after_midnight * 3600 * 1000)
    return clean_log(snapshot, now_ms=now_ms)


def test_versions_that_are_retained_keep_the_checkpoint_they_are_read_from(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 9, checkpoints=(2, 5, 9))
    age(tmp_path, dict.fromkeys(range(8), 1.0), default=-1.0)

    clean(snapshot)

    assert versions(tmp_path) == [5, 6, 7, 8, 9]
    assert [n for n in names(tmp_path) if "parquet" in n] == [
        "5.checkpoint.parquet",
        "9.checkpoint.parquet",
    ]
    assert next(n for n in names(tmp_path) if n.endswith("crc")) == "5.crc"
    for version in range(5, 10):
        found = paths(load_snapshot(snapshot.storage, version))
        assert found == [f"f{v}" for v in range(1, version + 1)]


def test_checkpoint_right_after_the_expired_versions_is_far_enough_back(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 6, checkpoints=(2, 5))
    age(tmp_path, dict.fromkeys(range(5), 1.0), default=-1.0)

    clean(snapshot)

    assert versions(tmp_path) == [5, 6]


def test_idle_table_keeps_its_last_checkpoint(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    age(tmp_path, {}, default=400.0)

    deleted = clean(snapshot)

    assert deleted == 6
    assert versions(tmp_path) == [3, 4]
    assert paths(load_snapshot(snapshot.storage)) == ["f1", "f2", "f3", "f4"]


@pytest.mark.parametrize("checkpoints", [(), (5,)], ids=["none", "too new"])
def test_nothing_goes_without_a_checkpoint_to_read_the_rest_from(
    tmp_path: Path, checkpoints: tuple[int, ...]
) -> None:
    snapshot = table_with(tmp_path, 6, checkpoints=checkpoints)
    age(tmp_path, dict.fromkeys(range(3), 1.0), default=-1.0)

    assert clean(snapshot) == 0
    assert versions(tmp_path) == [0, 1, 2, 3, 4, 5, 6]


def test_cutoff_is_a_midnight(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    age(tmp_path, dict.fromkeys(range(4), -0.25), default=-2.0)

    assert clean(snapshot, hours_after_midnight=23) == 0
    assert clean(snapshot, hours_after_midnight=25) == 6


def test_commit_that_looks_older_than_the_one_before_is_not(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    age(tmp_path, {0: 5.0, 1: -1.0, 2: 5.0, 3: 5.0, 4: 5.0})

    assert clean(snapshot) == 0


def test_retention_is_the_tables_own(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,), logRetentionDuration="interval 60 days")
    age(tmp_path, {}, default=10.0)

    assert clean(snapshot) == 0


@pytest.mark.parametrize(("protected", "deleted"), [("2", 6), ("3", 6), ("4", 0)])
def test_protected_history_goes_in_one_piece_or_not_at_all(
    tmp_path: Path, protected: str, deleted: int
) -> None:
    snapshot = table_with(
        tmp_path,
        4,
        checkpoints=(3,),
        requireCheckpointProtectionBeforeVersion=protected,
        **{"feature.checkpointProtection": "supported"},
    )
    age(tmp_path, {}, default=400.0)

    assert clean(snapshot) == deleted


def test_nothing_goes_if_the_checkpoint_is_broken(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    (tmp_path / "_delta_log" / f"{3:020d}.checkpoint.parquet").write_bytes(b"PAR1 not really PAR1")
    age(tmp_path, {}, default=400.0)

    with pytest.raises(CorruptLogFileError):
        clean(snapshot)

    assert versions(tmp_path) == [0, 1, 2, 3, 4]


def test_compacted_commits_go_with_the_last_version_that_they_cover(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 6, checkpoints=(3,))
    log = tmp_path / "_delta_log"
    for start, end in ((0, 2), (2, 4)):
        (log / f"{start:020d}.{end:020d}.compacted.json").write_bytes(b"")
    age(tmp_path, dict.fromkeys(range(4), 1.0), default=-1.0)

    clean(snapshot)

    assert [n for n in names(tmp_path) if "compacted" in n] == [f"2.{4:020d}.compacted.json"]


# Sidecars.

V2 = {"checkpointPolicy": "v2"}


def sidecars(table: Path) -> set[str]:
    return {file.name for file in (table / "_delta_log" / "_sidecars").iterdir()}


def test_sidecars_go_with_the_checkpoints_that_name_them(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 2, checkpoints=(1, 2), **V2)
    old = sidecars(tmp_path)
    write_v2_checkpoint(load_snapshot(snapshot.storage, 2))
    second_of_two = sidecars(tmp_path) - old
    orphans = (f"{uuid4()}.parquet", f"{1:020d}.checkpoint.{1:010d}.{2:010d}.{uuid4()}.parquet")
    for orphan in orphans:
        (tmp_path / "_delta_log" / "_sidecars" / orphan).write_bytes(b"")
    age(tmp_path, {}, default=400.0)

    clean(snapshot)

    left = sidecars(tmp_path)
    assert second_of_two <= left
    assert left.isdisjoint(orphans)
    assert len(left) == 2
    assert paths(load_snapshot(snapshot.storage)) == ["f1", "f2"]


def test_sidecar_of_a_checkpoint_that_is_being_written_stays(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 2, checkpoints=(2,), **V2)
    age(tmp_path, {}, default=400.0)
    fresh = tmp_path / "_delta_log" / "_sidecars" / f"{uuid4()}.parquet"
    fresh.write_bytes(b"")
    os.utime(fresh, (MIDNIGHT_MS / 1000 + 1, MIDNIGHT_MS / 1000 + 1))

    clean(snapshot)

    assert fresh.name in sidecars(tmp_path)


def test_nothing_goes_if_a_sidecar_of_the_checkpoint_is_missing(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 2, checkpoints=(2,), **V2)
    for file in (tmp_path / "_delta_log" / "_sidecars").iterdir():
        file.unlink()
    age(tmp_path, {}, default=400.0)

    assert clean(snapshot) == 0


# What is not the log's to delete.

NAME = "a0a083e8-7026-4e79-81be-64bd76c43a11.parquet"
STRANGERS = ("notes.txt", "photo.parquet", "x.json", ".bashrc", f"{NAME}.bak")


@pytest.mark.parametrize("policy", ["v2", "classic"])
def test_clean_up_deletes_no_file_that_delta_does_not_name(tmp_path: Path, policy: str) -> None:
    """Invariant 23."""
    snapshot = table_with(tmp_path, 4, checkpoints=(3,), checkpointPolicy=policy)
    log = tmp_path / "_delta_log"
    places = [tmp_path, log, log / "_sidecars", log / "_staged_commits", log / "_commits"]
    for place in places:
        place.mkdir(exist_ok=True)
        for name in STRANGERS:
            (place / name).write_text("precious")
    (log / NAME).write_text("precious")
    age(tmp_path, {}, default=400.0)

    clean(snapshot)
    clean_staged_files(snapshot)

    assert versions(tmp_path) == [3, 4]
    assert all((place / name).read_text() == "precious" for place in places for name in STRANGERS)
    assert (log / NAME).read_text() == "precious"


def test_sidecars_of_a_table_without_v2_checkpoints_stay(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 4, checkpoints=(3,))
    stranger = tmp_path / "_delta_log" / "_sidecars" / f"{uuid4()}.parquet"
    stranger.parent.mkdir()
    stranger.write_text("precious")
    age(tmp_path, {}, default=400.0)

    clean(snapshot)

    assert stranger.read_text() == "precious"


@pytest.mark.parametrize("inside", [True, False], ids=["to the table", "to elsewhere"])
def test_clean_up_deletes_nothing_through_a_link(tmp_path: Path, inside: bool) -> None:
    table = tmp_path / "table"
    snapshot = table_with(table, 4, checkpoints=(3,), **V2)
    elsewhere = (table if inside else tmp_path) / "elsewhere"
    (table / "_delta_log" / "_sidecars").rename(elsewhere)
    (table / "_delta_log" / "_sidecars").symlink_to(elsewhere)
    (elsewhere / f"{uuid4()}.parquet").write_text("precious")
    for file in elsewhere.iterdir():
        os.utime(file, (1, 1))
    before = {file.name for file in elsewhere.iterdir()}
    age(table, {}, default=400.0)

    with pytest.raises(StorageError, match="behind a link"):
        clean(snapshot)

    assert {file.name for file in elsewhere.iterdir()} == before


# What killed writers leave.


def test_staged_files_of_killed_writers_go_when_they_are_a_day_old(tmp_path: Path) -> None:
    """Invariant 24."""
    snapshot = table_with(tmp_path, 2, checkpoints=(1,), **V2)
    log = tmp_path / "_delta_log"
    unique = "0123456789abcdef" * 2
    left = [
        log / f".{3:020d}.json.{unique}.tmp",
        log / "_sidecars" / f".{uuid4()}.parquet.{unique}.tmp",
        tmp_path / f".deletion_vector_{uuid4()}.bin.{unique}.tmp",
    ]
    not_ours = [log / ".a.tmp", tmp_path / f"b.{unique}.tmp", tmp_path / f".c.{unique[1:]}.tmp"]
    fresh = log / f".{4:020d}.json.{unique}.tmp"
    for file in (*left, *not_ours, fresh):
        file.write_bytes(b"half")
        os.utime(file, (MIDNIGHT_MS / 1000, MIDNIGHT_MS / 1000))
    os.utime(fresh, (MIDNIGHT_MS / 1000 + 3600, MIDNIGHT_MS / 1000 + 3600))

    deleted = clean_staged_files(snapshot, now_ms=MIDNIGHT_MS + DAY_MS + 60_000)

    assert deleted == 3
    assert not any(file.exists() for file in left)
    assert all(file.exists() for file in (*not_ours, fresh))


def test_staged_files_in_another_table_below_the_root_stay(tmp_path: Path) -> None:
    foreign = vector_at("sub/other"), vector_at("sub/other/_delta_log"), vector_at("own")
    storage = LocalStorage(str(tmp_path))
    table = metadata(properties=VECTORS_ON)
    create_table(storage, table, *(add(f"f{n}", vector=v) for n, v in enumerate(foreign)))
    create_table(LocalStorage(str(tmp_path / "sub" / "other")))
    left = [tmp_path / f"{Path(v.file_path).parent}/.x.{'ab' * 16}.tmp" for v in foreign]
    (tmp_path / "own").mkdir()
    for file in left:
        file.write_bytes(b"half")
        os.utime(file, (MIDNIGHT_MS / 1000, MIDNIGHT_MS / 1000))

    deleted = clean_staged_files(load_snapshot(storage), now_ms=MIDNIGHT_MS + 2 * DAY_MS)

    assert deleted == 1
    assert [file.exists() for file in left] == [True, True, False]


def vector_at(folder: str) -> DeletionVectorDescriptor:
    return on_disk_with_relative_path(
        UUID(int=1), prefix=folder, size_in_bytes=9, cardinality=1, offset=1
    )


# After a commit.


def test_staged_files_are_cleaned_after_a_checkpoint(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 3, checkpoints=(), checkpointInterval="4")
    left = tmp_path / "_delta_log" / f".{9:020d}.json.{'ab' * 16}.tmp"
    left.write_bytes(b"half")
    os.utime(left, (1, 1))

    append(snapshot.storage, add("last"))

    assert not left.exists()


def test_log_is_cleaned_after_a_checkpoint(tmp_path: Path) -> None:
    snapshot = table_with(tmp_path, 3, checkpoints=(2,), checkpointInterval="4")
    age(tmp_path, {}, default=0.0)  # decades ago by now

    append(snapshot.storage, add("last"))

    assert versions(tmp_path) == [4]


def test_log_is_not_cleaned_where_the_table_says_so(tmp_path: Path) -> None:
    snapshot = table_with(
        tmp_path, 3, checkpoints=(2,), checkpointInterval="4", enableExpiredLogCleanup="false"
    )
    age(tmp_path, {}, default=0.0)

    append(snapshot.storage, add("last"))

    assert versions(tmp_path) == [0, 1, 2, 3, 4]
